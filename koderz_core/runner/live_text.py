"""What models are saying right now. It is no event: it is forgotten when the call ends, and no journal holds it."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

TAIL_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a model has said so far in the call that is under way; only the last part of a long ``text``, hostile.

    ``at``: when it said the last piece, in seconds since 1970; None before the first.
    """

    role: str
    model: str
    text: str
    at: float | None = field(default=None, compare=False)


class LiveText:
    """The calls under way, by experiment and ordinal. May be used from any thread."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """``clock``: seconds since 1970."""
        self._clock = clock
        self._spoken: defaultdict[str, dict[int, Spoken]] = defaultdict(dict)
        self._guard = threading.Lock()  # guards _spoken: models speak in worker threads, screens look from others

    def begin(self, experiment: str, ordinal: int, role: str, model: str) -> None:
        """A call begins; nothing has been said yet."""
        with self._guard:
            self._spoken[experiment][ordinal] = Spoken(role, model, "")

    def hear(self, experiment: str, ordinal: int, piece: str) -> None:
        """The next piece. Lone surrogates, which no screen can show, become question marks."""
        shown = piece.encode("utf-8", "replace").decode()
        with self._guard:
            spoken = self._spoken[experiment][ordinal]
            self._spoken[experiment][ordinal] = replace(
                spoken, text=(spoken.text + shown)[-TAIL_CHARACTERS:], at=self._clock()
            )

    def end(self, experiment: str, ordinal: int) -> None:
        """The call has ended, whichever way."""
        with self._guard:
            del self._spoken[experiment][ordinal]
            if not self._spoken[experiment]:
                del self._spoken[experiment]

    def of(self, experiment: str) -> Spoken | None:
        """What is being said, in the earliest of several calls at the same time; None between two calls."""
        with self._guard:
            return next(iter(self._spoken.get(experiment, {}).values()), None)

    def heard_at(self, experiments: Iterable[str]) -> float | None:
        """When the newest piece came in calls of these experiments that are under way; None without any."""
        with self._guard:
            calls = (one for name in experiments for one in self._spoken.get(name, {}).values())
            return max((call.at for call in calls if call.at is not None), default=None)
