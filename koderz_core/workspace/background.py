"""Large comparisons, computed in the background with the kept answers of ``store/answers.py``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from koderz_core.records.progress import SummaryRow
from koderz_core.store.answers import Answers, Computed
from koderz_core.store.results import Results
from koderz_core.workspace.comparisons import Comparisons

if TYPE_CHECKING:
    from koderz_core.analysis.comparison import Comparison

MOST_KEPT = 4


@dataclass(frozen=True, slots=True)
class Awaited:
    """``computed``: the newest comparison, None before the first. ``since``: when the one under way began, else None.

    ``outdated``: the journals have grown since ``computed``. Times are seconds since 1970.
    """

    computed: Computed[Comparison] | None
    since: float | None
    outdated: bool


class Awaiting:
    """Returns at once, with what has been computed so far. Every question may raise StoreError."""

    def __init__(self, results: Results, comparing: Comparisons) -> None:
        self._results, self._comparing = results, comparing
        self._answers = Answers(time.time, MOST_KEPT)

    def comparison(self, rows: Sequence[SummaryRow], baseline: str | None = None) -> Awaited:
        """The result of ``Comparisons.compare`` with all curves.

        This starts the first comparison, ``anew`` a later one.

        So numbers on a page do not change while they are read. Raises the error of a failed comparison, once.
        """
        computed: Computed[Comparison] | None = self._answers.newest(_key(rows, baseline))
        if computed is None:
            self.anew(rows, baseline)
        outdated = computed is not None and computed.state != self._results.state()
        return Awaited(computed, self.since(rows, baseline), outdated)

    def since(self, rows: Sequence[SummaryRow], baseline: str | None = None) -> float | None:
        """When the comparison under way began, in seconds since 1970; None if there is none."""
        return self._answers.since(_key(rows, baseline))

    def anew(self, rows: Sequence[SummaryRow], baseline: str | None = None) -> None:
        """Start a comparison of what the journals hold now."""
        state, key = self._results.state(), _key(rows, baseline)
        self._answers.begin(key, state, lambda: self._comparing.compare(rows, baseline, apart=True))


def _key(rows: Sequence[SummaryRow], baseline: str | None) -> tuple[object, ...]:
    return baseline, *((row.benchmark, row.configuration, row.problem_set) for row in rows)
