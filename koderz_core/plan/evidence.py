"""What planning knows of the past: a few questions to the store, handed in as functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from koderz_core.records import Plan
from koderz_core.records.forecasts import Past
from koderz_core.records.plans import Measurement
from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import ExperimentRow
from koderz_core.records.trials import Measured


@dataclass(frozen=True, slots=True)
class Evidence:
    """Results of earlier benchmarks. Each function raises StoreError if the store cannot be read.

    ``measurements``: of each model in a role of a strategy, without some problems; arguments: strategy, role, ids of
    problems. ``baselines``: every model that was asked directly, the newest first. ``experiments`` and ``summaries``:
    of a benchmark, by id. ``past``: what finished experiments of some strategies cost and took. ``plan``: what the
    journal of a benchmark (by id) holds; raises JournalError.
    """

    measurements: Callable[[str, str, Collection[str]], Sequence[Measurement]]
    baselines: Callable[[], Sequence[Measured]]
    experiments: Callable[[str], Sequence[ExperimentRow]]
    summaries: Callable[[str], Sequence[SummaryRow]]
    past: Callable[[Collection[str]], Sequence[Past]]
    plan: Callable[[str], Plan]
