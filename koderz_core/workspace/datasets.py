"""Datasets and their problems: names, loading and downloading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from koderz_core import datasets
from koderz_core.config import Settings
from koderz_core.datasets import sources
from koderz_core.datasets.own_problems import ENDINGS, Fault, is_path, load_path, read_path
from koderz_core.datasets.selection import in_period, select, way_of, without_date
from koderz_core.datasets.sources import SOURCES, Source
from koderz_core.errors import UnknownNameError, UsageError
from koderz_core.records import Dataset, Problem

__all__ = ["SOURCES", "Datasets", "Fault", "Source", "in_period", "read_path", "select", "way_of", "without_date"]


@dataclass(frozen=True)
class Datasets:
    """Reads the files of datasets each time; nothing is kept."""

    settings: Settings

    def load(self, name: str = "humaneval", mapping: Sequence[str] = ()) -> Dataset:
        """Return the problems of a dataset. Raises UnknownNameError, DataError, UsageError.

        ``mapping``: pairs FIELD=COLUMN for a file of the user. koderz then copies the file in its own format, and the
        dataset has the name of the copy.
        """
        if not mapping:
            return datasets.load(name, self.settings)
        if not is_path(name):
            raise UsageError(f"--map needs a file of problems, but {name} is not the path of one ({ENDINGS}).")
        return load_path(Path(name), self.settings, ",".join(mapping))

    def name_of(self, name: str, mapping: Sequence[str]) -> str:
        """Return the name under which ``load`` returns the same problems without a mapping. Raises as ``load``."""
        return self.load(name, mapping).origin.name if mapping else name

    def problem(self, name: str, dataset: str = "humaneval") -> Problem:
        """Return one problem by its id. Raises UnknownNameError, DataError."""
        problems = {problem.id: problem for problem in self.load(dataset).problems}
        if name not in problems:
            raise UnknownNameError("problem", name, problems)
        return problems[name]

    def names(self) -> tuple[str, ...]:
        """Return the names of all datasets: first the published ones, then the problems that a user has typed."""
        return datasets.dataset_names(self.settings)

    def how_to_get(self, name: str) -> str:
        """Return the command that downloads a published dataset, or where its file is; "" if the file is present."""
        return datasets.fetched_by(name, self.settings)

    def placed(self, source: Source) -> Path | None:
        """Return the file of a published dataset on this machine, None if it is missing."""
        return sources.placed(source, self.settings)

    def fetch(self, source: Source, report: Callable[[int], None]) -> Path:
        """Download a published dataset, unless it is present. ``report`` receives the bytes that are done."""
        return sources.fetch(source, self.settings, report)
