"""Comparisons of so many experiments that nobody is to sit before an empty page until they are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from koderz_core.records.summaries import SummaryRow
from koderz_core.store.results import Results
from koderz_core.workspace.background import Background, Computed
from koderz_core.workspace.comparing import Comparing

if TYPE_CHECKING:
    from koderz_core.analysis.comparison import Comparison


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

    def __init__(self, results: Results, comparing: Comparing) -> None:
        self._results = results
        self._comparing = comparing
        self._background: Background[Comparison] = Background()

    def comparison(self, rows: Sequence[SummaryRow], baseline: str | None = None) -> Awaited:
        """As ``Comparing.compare`` with all curves. The first is begun, a later one only by ``anew``.

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
        self._background.begin(key, state, lambda: self._comparing.compare(rows, baseline, apart=True))


def _key(rows: Sequence[SummaryRow], baseline: str | None) -> tuple[object, ...]:
    return baseline, *((row.benchmark, row.configuration, row.problem_set) for row in rows)
