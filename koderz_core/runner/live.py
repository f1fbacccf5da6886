"""What models are saying right now. It is no event: it is forgotten when the call ends, and no journal holds it."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass, replace

TAIL_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a model has said so far in the call that is under way; only the last part of a long ``text``, hostile."""

    role: str
    model: str
    text: str


class LiveText:
    """The calls under way, by experiment and ordinal. May be used from any thread."""

    def __init__(self) -> None:
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
            self._spoken[experiment][ordinal] = replace(spoken, text=(spoken.text + shown)[-TAIL_CHARACTERS:])

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
