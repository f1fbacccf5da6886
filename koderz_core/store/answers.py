"""Kept answers: an answer serves until journals change, or for a short time.

Threads that ask the same question at the same time share one computation. A slow answer can be computed in the
background: its previous answer stays available until then.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, TypeVar

Answer = TypeVar("Answer")
MOST_KEPT = (
    48  # answers: 500 experiments take some 300 kB, those of a watched benchmark are shared with ``ExperimentCache``
)
KEPT_SECONDS = 5.0  # for answers that serve by their age: they may be large
THREAD_NAME = "background"  # of threads that compute in the background
_LOG = logging.getLogger("koderz")


@dataclass(frozen=True, slots=True)
class Moment:
    """The journals, each with its size in bytes and the time of its last write, and the writers of journals.

    Journals only grow, so two equal moments have equal answers.
    """

    journals: tuple[tuple[str, int, int], ...]
    writers: frozenset[tuple[str, int]]


def journals(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """The name, the size in bytes and the time of the last write (in ns) of every journal, by name."""
    states = []
    for path in folder.glob("*.jsonl"):
        try:
            status = path.stat()
        except OSError:  # deleted meanwhile
            states.append((path.name, -1, -1))
        else:
            states.append((path.name, status.st_size, status.st_mtime_ns))
    return tuple(sorted(states))


def state(folder: Path, faults: Sequence[str]) -> str:
    """A digest of the sizes of all journals and of the faults in reading them."""
    return sha256(repr(([journal[:2] for journal in journals(folder)], faults)).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Computed(Generic[Answer]):
    """An answer that was asked for ``at`` (seconds since 1970), when the journals were in this ``state``."""

    answer: Answer
    at: float
    state: Hashable


@dataclass(frozen=True, slots=True)
class _Slot:
    """An answer, ready or not. ``state`` None: it serves by its age. ``before``: the ready one that it replaces."""

    at: float
    state: Hashable
    before: _Slot | None = None
    answer: Future[Any] = field(default_factory=Future)  # Any: the question says of which type

    @property
    def failed(self) -> bool:
        return self.answer.done() and self.answer.exception() is not None

    def compute(self, ask: Callable[[], object]) -> None:
        """Set the answer. Raises what ``ask`` raises, as does every later reading of the answer."""
        try:
            self.answer.set_result(ask())
        except BaseException as error:
            self.answer.set_exception(error)
            raise


class Answers:
    """Safe to use from several threads. ``at`` and ``of`` wait for an answer, ``begin`` computes in the background."""

    def __init__(self, clock: Callable[[], float], most: int = MOST_KEPT) -> None:
        """``clock``: seconds since 1970. ``most``: how many answers to keep."""
        self._clock, self._most = clock, most
        self._guard = threading.Lock()  # guards all below
        self._slots: dict[Hashable, _Slot] = {}  # the oldest first
        self._forgotten_at = 0.0
        self._turn = threading.Lock()  # held during a background computation: two at a time would both be slower

    def at(self, question: Hashable, state: Hashable, ask: Callable[[], Answer]) -> Answer:
        """The answer for this ``state`` of the journals, which was determined before they were read.

        Raises what ``ask`` raises, also in threads that waited for it; a later question is computed again.
        """
        return self._answer(question, state, ask, lambda slot, _now: slot.state == state and not slot.failed)

    def of(self, question: Hashable, since: float, ask: Callable[[], Answer], age_seconds: float) -> Answer:
        """An answer that was asked for at ``since`` (seconds since 1970) or later.

        ``age_seconds``: how old a ready answer may be. Raises what ``ask`` raises, also in threads that waited for it.
        """

        def serves(slot: _Slot, now: float) -> bool:
            in_time = max(since, self._forgotten_at) <= slot.at <= now  # later: the clock was set back
            return in_time and (not slot.answer.done() or now - slot.at <= age_seconds)

        return self._answer(question, None, ask, serves)

    def begin(self, question: Hashable, state: Hashable, ask: Callable[[], object]) -> None:
        """Compute an answer in the background, unless that is happening already."""
        with self._guard:
            last = self._slots.get(question)
            if last and not last.answer.done():
                return
            before = replace(last, before=None) if last and not last.failed else None
            slot = self._put(question, _Slot(self._clock(), state, before))
        threading.Thread(target=self._compute, args=(slot, ask), name=THREAD_NAME, daemon=True).start()

    def since(self, question: Hashable) -> float | None:
        """When the computation under way began, in seconds since 1970; None if there is none."""
        with self._guard:
            slot = self._slots.get(question)
            return slot.at if slot and not slot.answer.done() else None

    def newest(self, question: Hashable) -> Computed[Any] | None:  # Any: as in ``_Slot``
        """The newest answer that is ready. Raises the exception of a failed computation, once."""
        with self._guard:
            slot = self._slots.get(question)
            ready = slot.before if slot and not slot.answer.done() else slot
            if ready and ready.failed:
                del self._slots[question]
        return Computed(ready.answer.result(), ready.at, ready.state) if ready else None

    def drop(self, question: Hashable) -> None:
        """Keep no answer to this question; threads that wait for one still get it."""
        with self._guard:
            self._slots.pop(question, None)

    def forget(self) -> None:
        """Let no answer by age serve any longer, because the user has changed something."""
        with self._guard:
            self._forgotten_at = self._clock()

    def tell(self, question: Hashable, at: float, answer: object) -> None:
        """Keep an answer that is known from elsewhere since ``at``, unless a newer one was asked for."""
        with self._guard:
            if (last := self._slots.get(question)) is None or last.at < at:
                self._put(question, _Slot(at, None)).answer.set_result(answer)

    def _answer(
        self,
        question: Hashable,
        state: Hashable,
        ask: Callable[[], Answer],
        serves: Callable[[_Slot, float], bool],
    ) -> Answer:
        with self._guard:
            now, last = self._clock(), self._slots.get(question)
            slot = last if last and serves(last, now) else self._put(question, _Slot(now, state))
        if slot is not last:
            slot.compute(ask)
        answer: Answer = slot.answer.result()
        return answer

    def _compute(self, slot: _Slot, ask: Callable[[], object]) -> None:
        try:
            with self._turn:
                slot.compute(ask)
        except Exception as error:  # noqa: BLE001 (the edge of a thread: ``newest`` raises it)
            _LOG.warning(
                "A background computation for the dashboard failed. The page that needs the result also shows "
                "this error: %s",
                error,
            )

    def _put(self, question: Hashable, new: _Slot) -> _Slot:
        """Keep a new answer, and remove ready ones that are too old or too many."""
        self._slots.pop(question, None)
        ready = {name: slot for name, slot in self._slots.items() if slot.answer.done()}
        aged = {name: new.at - slot.at for name, slot in ready.items() if slot.state is None}
        old = [name for name, seconds in aged.items() if not 0 <= seconds <= KEPT_SECONDS]
        surplus = max(0, len(self._slots) - len(old) + 1 - self._most)
        for name in (*old, *[name for name in ready if name not in old][:surplus]):
            del self._slots[name]
        self._slots[question] = new
        return new
