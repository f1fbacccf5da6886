"""The text that models are generating now. It is not journalled, and it is dropped when the call ends."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

TAIL_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class LiveAnswer:
    """The answer of a running call so far: only the end of a long ``text``. The text is untrusted.

    ``at``: when the last piece arrived, in seconds since 1970; None before the first.
    """

    role: str
    model: str
    text: str
    at: float | None = field(default=None, compare=False)


class LiveText:
    """The running calls, by experiment and ordinal. May be used from any thread."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """``clock``: seconds since 1970."""
        self._clock = clock
        self._answers: defaultdict[str, dict[int, LiveAnswer]] = defaultdict(dict)
        self._guard = threading.Lock()  # guards _answers: worker threads write to it, other threads read it

    def begin(self, experiment: str, ordinal: int, role: str, model: str) -> None:
        """Add a call that has no text yet."""
        with self._guard:
            self._answers[experiment][ordinal] = LiveAnswer(role, model, "")

    def append(self, experiment: str, ordinal: int, piece: str) -> None:
        """Add the next piece. Lone surrogates, which cannot be shown, become question marks."""
        shown = piece.encode("utf-8", "replace").decode()
        with self._guard:
            answer = self._answers[experiment][ordinal]
            self._answers[experiment][ordinal] = replace(
                answer, text=(answer.text + shown)[-TAIL_CHARACTERS:], at=self._clock()
            )

    def end(self, experiment: str, ordinal: int) -> None:
        """Drop the text of a call that has ended or failed."""
        with self._guard:
            del self._answers[experiment][ordinal]
            if not self._answers[experiment]:
                del self._answers[experiment]

    def of(self, experiment: str) -> LiveAnswer | None:
        """The answer of the earliest of the running calls; None if no call is running."""
        with self._guard:
            return next(iter(self._answers.get(experiment, {}).values()), None)

    def heard_at(self, experiments: Iterable[str]) -> float | None:
        """When the newest piece arrived in the running calls of these experiments; None if none has arrived."""
        with self._guard:
            answers = (answer for name in experiments for answer in self._answers.get(name, {}).values())
            return max((answer.at for answer in answers if answer.at is not None), default=None)
