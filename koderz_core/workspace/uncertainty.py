"""Where the uncertainty of a comparison comes from, and what it allows to say at equal cost and of choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from koderz_core.analysis.equal_cost import COSTS, EqualCost, equal_cost
from koderz_core.analysis.headroom import Headroom, headroom
from koderz_core.analysis.incidence import Axis
from koderz_core.analysis.noise import Noise, Uncertainty, uncertainty
from koderz_core.grading.gates import ALL_TESTS
from koderz_core.grading.testsets import Outside, TestPolicy, split
from koderz_core.records import Dataset
from koderz_core.records.progress import SummaryRow
from koderz_core.records.trials import Trial
from koderz_core.workspace.comparisons import Comparisons, Key
from koderz_core.workspace.datasets import Datasets
from koderz_core.workspace.registrations import untested_pairs

__all__ = ["COSTS", "EqualCost", "Headroom", "Noise", "Uncertainties", "Uncertainty"]


@dataclass(frozen=True)
class Uncertainties:
    """Computes uncertainties from the current content of the store. Every method may raise StoreError."""

    comparisons: Comparisons
    datasets: Datasets

    def noise(self, rows: Sequence[SummaryRow], baseline: Key | None) -> Uncertainty:
        """Return how much of the uncertainty is due to the choice of problems and how much to single draws.

        ``baseline``: the configuration that the others are compared with, None without pairs.
        """
        trials = self.comparisons.trials_of_each(rows, tries=False)
        return uncertainty(trials, baseline, self._problems_to_run(rows, trials))

    def equal_cost(self, rows: Sequence[SummaryRow], baseline: Key | None, axis: Axis) -> EqualCost:
        """Return the share that each configuration solves within equal amounts per problem, with simultaneous bands."""
        trials = self.comparisons.trials_of_each(rows)
        energy: list[str] = []
        if axis == "joules":
            sources = self.comparisons.results.energy_sources(sorted({benchmark for benchmark, _ in trials}))
            energy = sorted({source for key in trials for source in sources.get(key, ())})
        untested = {frozenset(pair) for pair in untested_pairs(self.comparisons.results, rows)}
        return equal_cost(trials, axis, baseline, energy, untested=untested)

    def headroom(self, rows: Sequence[SummaryRow]) -> Headroom:
        """Return what a choice of one configuration per problem could gain over the best single configuration."""
        trials = self.comparisons.trials_of_each(rows, tries=False)
        dataset = self._dataset(rows)
        lengths = {problem.id: len(problem.public.prompt) for problem in dataset.problems} if dataset else {}
        return headroom(trials, lengths)

    def _problems_to_run(self, rows: Sequence[SummaryRow], trials: Mapping[Key, Sequence[Trial]]) -> int | None:
        """The number of problems of the dataset that may have tests for the gates of these configurations.

        A plan also leaves out problems whose examples are wrong, which is known only of the planned problems.
        """
        dataset = self._dataset(rows)
        if dataset is None:
            return None
        run = set.intersection(*({trial.problem for trial in of} for of in trials.values()))
        plans = {row.benchmark: self.comparisons.results.plan(row.benchmark) for row in rows}
        varied = any(problem.variant for problem in dataset.problems)  # then plans leave out problems with any gate
        outside = {name for row in rows if varied or row.gate != ALL_TESTS for name in plans[row.benchmark].outside}
        gates = {TestPolicy(row.gate, plans[row.benchmark].seed) for row in rows if row.gate != ALL_TESTS}
        others = (problem for problem in dataset.problems if problem.id not in run | outside)
        return len(run) + sum(not any(isinstance(split(it, gate), Outside) for gate in gates) for it in others)

    def _dataset(self, rows: Sequence[SummaryRow]) -> Dataset | None:
        """None if there are several datasets, or if the dataset is not on this machine in the same version."""
        origins = {row.origin for row in rows}
        return self.datasets.unchanged(origins.pop()) if len(origins) == 1 else None
