"""Kept answers: threads that ask the same at the same time share one, and it serves until it is out of date."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

Answer = TypeVar("Answer")
MOST_KEPT = 48  # answers: 500 experiments take some 300 kB, those of a watched benchmark are shared with ``Followed``
KEPT_SECONDS = 5.0  # for answers that go by their age: they may be large


@dataclass(frozen=True, slots=True)
class Moment:
    """Every journal with its size in bytes and when it was last written (they only grow), and who writes which."""

    journals: tuple[tuple[str, int, int], ...]
    writers: frozenset[tuple[str, int]]


def journals(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """The name, the size in bytes and the time of the last write (in ns) of every journal, by name."""
    found = []
    for path in folder.glob("*.jsonl"):
        try:
            known = path.stat()
        except OSError:  # taken away meanwhile
            found.append((path.name, -1, -1))
        else:
            found.append((path.name, known.st_size, known.st_mtime_ns))
    return tuple(sorted(found))


def state(folder: Path, faults: Sequence[str]) -> str:
    """A digest of how long all journals are, and of what of them cannot be read."""
    return sha256(repr(([journal[:2] for journal in journals(folder)], faults)).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Kept:
    """An answer, there or still being computed, asked for ``at`` (seconds since 1970). ``moment`` None: it ages."""

    at: float
    moment: Moment | None
    answer: Future[Any] = field(default_factory=Future)  # Any: the question says of which type

    def is_needed(self, now: float) -> bool:
        return self.moment is not None or not self.answer.done() or 0 <= now - self.at <= KEPT_SECONDS


class Answers:
    """Safe to use from several threads. An answer goes by the state of the journals (``at``) or by its age (``of``)."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """``clock``: seconds since 1970."""
        self._clock = clock
        self._guard = threading.Lock()  # guards all below
        self._kept: dict[Hashable, _Kept] = {}  # the oldest first
        self._anew = 0.0

    def at(self, question: Hashable, moment: Moment, ask: Callable[[], Answer]) -> Answer:
        """What ``ask`` answers, or has answered at the same ``moment``, which was taken before the journals were read.

        Raises what ``ask`` does, also to those who waited for it; whoever asks later asks anew.
        """

        def fits(kept: _Kept, _now: float) -> bool:
            return kept.moment == moment and not (kept.answer.done() and kept.answer.exception())

        return self._answer(question, moment, ask, fits)

    def of(self, question: Hashable, since: float, ask: Callable[[], Answer], age_seconds: float) -> Answer:
        """What ``ask`` answers, or has answered somebody who asked no earlier than ``since`` (seconds since 1970).

        ``age_seconds``: how long ago that may have been asked if nobody is waiting for it any more. Raises what ``ask``
        does, to all who waited for it.
        """

        def fits(kept: _Kept, now: float) -> bool:
            in_time = max(since, self._anew) <= kept.at <= now  # later: the clock was set back
            return in_time and (not kept.answer.done() or now - kept.at <= age_seconds)

        return self._answer(question, None, ask, fits)

    def drop(self, question: Hashable) -> None:
        """Keep no answer to this question; those who wait for one get it."""
        with self._guard:
            self._kept.pop(question, None)

    def forget(self) -> None:
        """Answers by age that were asked for before now serve nobody any more: somebody has done something."""
        with self._guard:
            self._anew = self._clock()

    def tell(self, question: Hashable, at: float, answer: object) -> None:
        """What is known besides since ``at``, for those who ask next; nothing if somebody has asked later than that."""
        with self._guard:
            if (last := self._kept.get(question)) is None or last.at < at:
                self._put(question, at, None).answer.set_result(answer)

    def _answer(
        self,
        question: Hashable,
        moment: Moment | None,
        ask: Callable[[], Answer],
        fits: Callable[[_Kept, float], bool],
    ) -> Answer:
        with self._guard:
            now, found = self._clock(), self._kept.get(question)
            kept = found if found and fits(found, now) else self._put(question, now, moment)
        if kept is not found:
            try:
                kept.answer.set_result(ask())
            except BaseException as error:
                kept.answer.set_exception(error)
                raise
        answer: Answer = kept.answer.result()
        return answer

    def _put(self, question: Hashable, at: float, moment: Moment | None) -> _Kept:
        self._kept.pop(question, None)
        needed = [(asked, kept) for asked, kept in self._kept.items() if kept.is_needed(at)]
        self._kept = dict([*needed[1 - MOST_KEPT :], (question, new := _Kept(at, moment))])
        return new
