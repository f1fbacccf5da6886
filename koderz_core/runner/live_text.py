"""The text that models are generating now. It is not journalled, and it is dropped when the call ends."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
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
    """The running calls by experiment, in the order in which they began. May be used from any thread."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """``clock``: seconds since 1970."""
        self._clock = clock
        self._answers: defaultdict[str, dict[object, LiveAnswer]] = defaultdict(dict)  # by experiment and call
        self._guard = threading.Lock()  # guards _answers: worker threads write to it, other threads read it

    @contextmanager
    def showing(self, experiment: str, role: str, model: str) -> Iterator[Callable[[str], None]]:
        """Show a call while it runs; give each piece of its answer to the yielded function.

        If a call runs twice at the same time, because its first worker was lost, the end of one run does not affect the
        other.
        """
        call, answer = object(), LiveAnswer(role, model, "")
        with self._guard:
            self._answers[experiment][call] = answer

        def append(piece: str) -> None:
            nonlocal answer
            if not piece:  # it only asks whether the call should go on
                return
            shown = piece.encode("utf-8", "replace").decode()  # lone surrogates, which cannot be shown, become "?"
            answer = replace(answer, text=(answer.text + shown)[-TAIL_CHARACTERS:], at=self._clock())
            with self._guard:
                self._answers[experiment][call] = answer

        try:
            yield append
        finally:
            with self._guard:
                del self._answers[experiment][call]
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
