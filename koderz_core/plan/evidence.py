"""Earlier results that planning needs: queries to the store, passed in as functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from koderz_core.records import Configuration, Plan, PublicProblem
from koderz_core.records.plans import Measurement
from koderz_core.records.progress import Past, SummaryRow
from koderz_core.records.rows import ExperimentRow
from koderz_core.records.selectors import Selector
from koderz_core.records.trials import Measured


@dataclass(frozen=True, slots=True)
class Evidence:
    """Results of earlier benchmarks. Each function raises StoreError if the store cannot be read.

    ``measurements``: results of each model in a role of a strategy, except on some problems; arguments: strategy, role,
    ids of the excluded problems. ``baselines``: every measured direct configuration, the newest first.
    ``experiments`` and ``summaries``: of a benchmark, by id. ``past``: cost and duration of finished experiments of
    some strategies. ``known_spending``: the cost in dollars of the priced calls of a benchmark, by id. ``plan``: the
    plan in the journal of a benchmark, by id; raises JournalError. ``selector``: a fitted selector by name.
    ``check_selector``: raises PlanError if the selector of a configuration cannot choose for it, or was fitted to one
    of the problems.
    """

    measurements: Callable[[str, str, Collection[str]], Sequence[Measurement]]
    baselines: Callable[[], Sequence[Measured]]
    experiments: Callable[[str], Sequence[ExperimentRow]]
    summaries: Callable[[str], Sequence[SummaryRow]]
    past: Callable[[Collection[str]], Sequence[Past]]
    known_spending: Callable[[str], float]
    plan: Callable[[str], Plan]
    selector: Callable[[str], Selector]
    check_selector: Callable[[Configuration, Sequence[PublicProblem]], None]
