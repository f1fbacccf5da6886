"""Datasets and their problems: names, loading and downloading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from koderz_core import datasets
from koderz_core.config import Settings
from koderz_core.datasets import sources
from koderz_core.datasets.own_problems import ENDINGS, Fault, is_path, load_path, read_path
from koderz_core.datasets.repository_facts import RepositoryFacts, repository_facts
from koderz_core.datasets.selection import in_period, select, way_of, without_date
from koderz_core.datasets.sources import MADE_OF, SOURCES, Source, sources_of
from koderz_core.datasets.variants import BASES
from koderz_core.errors import KoderzError, UnknownNameError, UsageError
from koderz_core.records import VARIANTS, Dataset, DatasetOrigin, Kind, Problem, Variant
from koderz_core.records.trials import id_apart

__all__ = [
    "MADE_OF",
    "SOURCES",
    "Datasets",
    "Fault",
    "RepositoryFacts",
    "Source",
    "in_period",
    "read_path",
    "repository_facts",
    "select",
    "sources_of",
    "way_of",
    "without_date",
]


@dataclass(frozen=True)
class Datasets:
    """Reads datasets from their files at each call, without a cache."""

    settings: Settings

    def load(self, name: str = "humaneval", mapping: Sequence[str] = ()) -> Dataset:
        """Return the problems of a dataset. Raises UnknownNameError, DataError, UsageError.

        ``mapping``: pairs FIELD=COLUMN for a file of the user. koderz then copies the file in its own format, and the
        dataset has the name of the copy.
        """
        if not mapping:
            return datasets.load(name, self.settings)
        if not is_path(name):
            raise UsageError(
                f"--map needs a file of problems, but {name} is not the path of such a file. The name of the file must "
                f"end with {ENDINGS}."
            )
        return load_path(Path(name), self.settings, ",".join(mapping))

    def unchanged(self, origin: DatasetOrigin) -> Dataset | None:
        """Return a recorded dataset; None if it is not on this machine in the same version."""
        try:
            dataset = self.load(origin.name)
        except KoderzError:
            return None
        return dataset if dataset.origin.sha256 == origin.sha256 else None

    def name_of(self, name: str, mapping: Sequence[str], variant: str | None = None) -> str:
        """Return the name under which ``load`` returns these problems without a mapping, or their variant.

        Raises as ``load``, and UsageError for a dataset without variants.
        """
        name = self.load(name, mapping).origin.name if mapping else name
        return name if variant is None else datasets.variant_named(name, variant)

    def problem(self, name: str, dataset: str = "humaneval") -> Problem:
        """Return one problem by its id. Raises UnknownNameError, DataError."""
        problems = {problem.id: problem for problem in self.load(dataset).problems}
        if name not in problems:
            raise UnknownNameError("problem", name, problems)
        return problems[name]

    def names(self) -> tuple[str, ...]:
        """Return the names of all datasets: first the published datasets, then the problems that the user has typed."""
        return datasets.dataset_names(self.settings)

    def kind(self, name: str) -> Kind | None:
        """Return the kind of a published dataset's problems. None for your own problems, which can be of any kind."""
        published = datasets.DATASETS.get(name)
        return published.kind if published else None

    def kinds(self, name: str) -> tuple[Kind, ...]:
        """Return the kinds of a dataset's problems. Your own problems are read. Raises as ``load``."""
        kind = self.kind(name)
        return (kind,) if kind else tuple(dict.fromkeys(problem.public.kind for problem in self.load(name).problems))

    def variants(self, name: str) -> tuple[Variant, ...]:
        """Return the variants of a dataset; none for most datasets."""
        return VARIANTS if name in BASES else ()

    def how_to_get(self, name: str) -> str:
        """Return how to get a published dataset, or that of a variant: a command. Empty if the file is present."""
        return datasets.fetched_by(name, self.settings)

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return how to get those of these datasets whose files are missing."""
        return sorted(filter(None, map(self.how_to_get, set(names))))

    def placed(self, source: Source) -> Path | None:
        """Return the path of a published dataset on this machine, None if the file is missing."""
        return sources.placed(source, self.settings)

    def fetch(self, source: Source, report: Callable[[int], None]) -> Path:
        """Download a published dataset if it is missing. ``report`` receives the number of bytes received so far."""
        return sources.fetch(source, self.settings, report)


def facts_of(
    datasets: Datasets, origins: Iterable[DatasetOrigin], by: str
) -> tuple[Mapping[str, tuple[str, ...]], tuple[str, ...]]:
    """The difficulty, topic, tags, kind or year of problems, by id, and why those of a dataset are unknown.

    Ids of several datasets are those of ``id_apart``.
    """
    values: dict[str, tuple[str, ...]] = {}
    notes: list[str] = []
    distinct = tuple(dict.fromkeys(origins))
    several = len({origin.sha256 for origin in distinct}) > 1
    for origin in distinct:
        try:
            dataset = datasets.load(origin.name)
        except KoderzError:
            notes.append(
                f"The dataset {origin.said} is not on this machine, so the difficulty, topic, tags, kind and year of "
                "its problems are unknown."
            )
            continue
        if dataset.origin.sha256 != origin.sha256:
            notes.append(
                f"This machine has a different version of the dataset {origin.said} than the benchmark used, so the "
                "difficulty, topic, tags, kind and year of its problems are unknown."
            )
            continue
        for problem in dataset.problems:
            values[id_apart(origin.sha256, problem.id) if several else problem.id] = _facts(problem, by)
    return values, tuple(notes)


def _facts(problem: Problem, by: str) -> tuple[str, ...]:
    facts = problem.facts
    known = {
        "difficulty": facts.difficulty,
        "topic": facts.topic,
        "kind": problem.public.kind,
        "year": facts.date[:4],
    }
    return tuple(facts.tags) if by == "tag" else tuple(filter(None, (known[by],)))
