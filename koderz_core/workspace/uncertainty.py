"""Where the uncertainty of a comparison comes from, and what further experiments would change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from koderz_core.analysis.noise import Noise, Uncertainty, uncertainty
from koderz_core.errors import KoderzError
from koderz_core.records.progress import SummaryRow
from koderz_core.workspace.comparisons import Comparisons, Key
from koderz_core.workspace.datasets import Datasets

__all__ = ["Noise", "Uncertainties", "Uncertainty"]


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
        return uncertainty(trials, baseline, self._problems_of_dataset(rows))

    def _problems_of_dataset(self, rows: Sequence[SummaryRow]) -> int | None:
        """None if there are several datasets, or if the dataset is not on this machine in the same version."""
        origins = {row.origin for row in rows}
        if len(origins) != 1:
            return None
        origin = origins.pop()
        try:
            dataset = self.datasets.load(origin.name)
        except KoderzError:
            return None
        return len(dataset.problems) if dataset.origin.sha256 == origin.sha256 else None
