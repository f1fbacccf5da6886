"""Datasets and their problems: names, loading and downloading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from koderz_core import datasets
from koderz_core.config import Settings
from koderz_core.datasets import sources
from koderz_core.datasets.own_problems import Fault, read_path
from koderz_core.datasets.selection import select, way_of
from koderz_core.datasets.sources import MADE_OF, SOURCES, Source, sources_of
from koderz_core.errors import UnknownNameError
from koderz_core.records import Dataset, Problem

__all__ = ["MADE_OF", "SOURCES", "Datasets", "Fault", "Source", "read_path", "select", "sources_of", "way_of"]


@dataclass(frozen=True)
class Datasets:
    """Reads datasets from their files at each call, without a cache."""

    settings: Settings

    def load(self, name: str = "humaneval") -> Dataset:
        """Return the problems of a dataset. Raises UnknownNameError, DataError."""
        return datasets.load(name, self.settings)

    def problem(self, name: str, dataset: str = "humaneval") -> Problem:
        """Return one problem by its id. Raises UnknownNameError, DataError."""
        problems = {problem.id: problem for problem in self.load(dataset).problems}
        if name not in problems:
            raise UnknownNameError("problem", name, problems)
        return problems[name]

    def names(self) -> tuple[str, ...]:
        """Return the names of all datasets: first the published datasets, then the problems that the user has typed."""
        return datasets.dataset_names(self.settings)

    def how_to_get(self, name: str) -> str:
        """Return how to get a published dataset: a command, or the source of its file. Empty if the file is present."""
        return datasets.fetched_by(name, self.settings)

    def placed(self, source: Source) -> Path | None:
        """Return the path of a published dataset on this machine, None if the file is missing."""
        return sources.placed(source, self.settings)

    def fetch(self, source: Source, report: Callable[[int], None]) -> Path:
        """Download a published dataset if it is missing. ``report`` receives the number of bytes received so far."""
        return sources.fetch(source, self.settings, report)
