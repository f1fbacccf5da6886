"""Computations in the background whose last result is kept, and large comparisons that are computed this way."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from koderz_core.records.progress import SummaryRow
from koderz_core.store.results import Results
from koderz_core.workspace.comparisons import Comparison, Comparisons

Answer = TypeVar("Answer")
_LOG = logging.getLogger("koderz")
MOST_KEPT = 4
THREAD_NAME = "background"  # of its threads


@dataclass(frozen=True, slots=True)
class Computed(Generic[Answer]):
    """An answer to what was asked ``at`` (seconds since 1970), when the journals stood at ``state``."""

    answer: Answer
    at: float
    state: str


class Background(Generic[Answer]):
    """Safe to use from several threads. Computes one answer at a time, and never keeps a process from ending."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """``clock``: seconds since 1970."""
        self._clock = clock
        self._guard = threading.Lock()  # guards _begun and _ended
        self._turn = threading.Lock()  # held by who computes: side by side all would be slower
        self._begun: dict[Hashable, float] = {}
        self._ended: OrderedDict[Hashable, Computed[Answer] | Exception] = OrderedDict()

    def begin(self, key: Hashable, state: str, compute: Callable[[], Answer]) -> None:
        """Compute it, unless that goes on already; the answer of before stays until then."""
        with self._guard:
            if key in self._begun:
                return
            self._begun[key] = at = self._clock()
        threading.Thread(target=self._run, args=(key, state, at, compute), name=THREAD_NAME, daemon=True).start()

    def since(self, key: Hashable) -> float | None:
        """Since when it has been computed, in seconds since 1970; None if it is not being computed."""
        with self._guard:
            return self._begun.get(key)

    def last(self, key: Hashable) -> Computed[Answer] | None:
        """The newest answer, None without any. Raises what broke its computation, once; then it can be begun again."""
        with self._guard:
            found = self._ended.get(key)
            if isinstance(found, Exception):
                del self._ended[key]
                raise found
            return found

    def _run(self, key: Hashable, state: str, at: float, compute: Callable[[], Answer]) -> None:
        found: Computed[Answer] | Exception
        try:
            with self._turn:
                found = Computed(compute(), at, state)
        except Exception as error:  # noqa: BLE001 (the edge of a thread: who asks next is told)
            _LOG.warning("What was computed in the background broke off: %s", error)
            found = error
        with self._guard:
            del self._begun[key]
            self._ended[key] = found
            self._ended.move_to_end(key)
            while len(self._ended) > MOST_KEPT:
                self._ended.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Awaited:
    """``computed``: the newest comparison, None before the first. ``since`` when one is being computed, else None.

    ``outdated``: the journals have said more since. In seconds since 1970.
    """

    computed: Computed[Comparison] | None
    since: float | None
    outdated: bool


class Awaiting:
    """Answers at once, with what has been computed so far. Every question may raise StoreError."""

    def __init__(self, results: Results, comparisons: Comparisons) -> None:
        self._results = results
        self._comparisons = comparisons
        self._background: Background[Comparison] = Background()

    def comparison(self, rows: Sequence[SummaryRow], baseline: str | None = None) -> Awaited:
        """As ``Comparisons.compare`` with all curves. The first is begun, a later one only by ``anew``.

        So numbers that somebody looks at do not change by themselves. Raises what broke the computation, once.
        """
        key = _key(rows, baseline)
        found = self._background.last(key)
        if found is None:
            self.anew(rows, baseline)
        return Awaited(found, self.since(rows, baseline), found is not None and found.state != self._results.state())

    def since(self, rows: Sequence[SummaryRow], baseline: str | None = None) -> float | None:
        """Since when these have been compared, in seconds since 1970; None if nobody is at it."""
        return self._background.since(_key(rows, baseline))

    def anew(self, rows: Sequence[SummaryRow], baseline: str | None = None) -> None:
        """Begin to compute it from what the journals say now."""
        state = self._results.state()
        key = _key(rows, baseline)
        self._background.begin(key, state, lambda: self._comparisons.compare(rows, baseline, apart=True))


def _key(rows: Sequence[SummaryRow], baseline: str | None) -> tuple[object, ...]:
    return baseline, *((row.benchmark, row.configuration, row.problem_set) for row in rows)
