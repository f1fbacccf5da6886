"""Coding problems by dataset name: published datasets (one module per format), users' own files, entered problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.datasets import (
    apps,
    bigcodebench,
    classeval,
    codecontests,
    exercism,
    humaneval,
    humanevalfix,
    livecodebench,
    mbpp,
    quixbugs,
)
from koderz_core.datasets.archives import Files
from koderz_core.datasets.humaneval_stdin import load_humaneval_stdin
from koderz_core.datasets.own_problems import (
    entered_names,
    is_own,
    is_path,
    load_entered,
    load_own,
    load_path,
    own_names,
    refuse_other_paths,
)
from koderz_core.datasets.sources import load_archive, load_published, placed, sources_of
from koderz_core.datasets.tasks import is_task, load_task
from koderz_core.datasets.variants import parted, variant_named, varied
from koderz_core.errors import UnknownNameError
from koderz_core.records import VARIANTS, Dataset, Kind, LeftOut, Problem

__all__ = ["DATASETS", "dataset_names", "fetched_by", "load", "variant_named"]


@dataclass(frozen=True, slots=True)
class Published:
    """How a published dataset is loaded, and the kind of its problems (of most of them, if its file has several).

    ``load`` receives the name of the dataset, and raises DataError naming file, line or item, and field.
    """

    load: Callable[[str, Settings], Dataset]
    kind: Kind = "function"


def _file(
    problem_of: Callable[[bytes], Problem | LeftOut], kind: Kind = "function", *, is_array: bool = False
) -> Published:
    return Published(partial(load_published, problem_of=problem_of, is_array=is_array), kind)


def _archive(problems_of: Callable[[Files], Iterator[Problem]], kind: Kind) -> Published:
    return Published(partial(load_archive, problems_of=problems_of), kind)


DATASETS: Mapping[str, Published] = {
    "humaneval": Published(lambda _name, settings: humaneval.load_humaneval(settings)),
    "humaneval+": _file(humaneval.plus_problem_of),
    "humaneval+mini": Published(humaneval.load_humaneval_plus_mini),
    "mbpp+": _file(mbpp.plus_problem_of),
    "mbpp": _file(mbpp.problem_of),
    "bigcodebench": _file(bigcodebench.problem_of),
    "bigcodebench-hard": _file(bigcodebench.problem_of),
    "humanevalfix": _file(humanevalfix.problem_of, "repair"),
    "humanevalfix+": Published(humanevalfix.load_humanevalfix_plus, "repair"),
    "humanevalfix+tests": Published(humanevalfix.load_humanevalfix_plus_tests, "repair"),
    "quixbugs": _archive(quixbugs.problems_of, "repair"),
    "exercism": _archive(exercism.problems_of, "module"),
    "exercism-polyglot": Published(exercism.load_exercism_polyglot, "module"),
    "classeval": _file(classeval.problem_of, "module", is_array=True),
    "humaneval-stdin": Published(load_humaneval_stdin, "program"),
    "livecodebench": _file(livecodebench.problem_of, "program"),
    "apps": _file(apps.problem_of, "program"),
    "codecontests": _file(codecontests.problem_of, "program"),
}
OWN_FILES = "To use your own file, give its path: --dataset FILE.jsonl"


def load(name: str, settings: Settings) -> Dataset:
    """Every problem of the dataset called ``name``, or of the file at that path, in the order of the file.

    koderz keeps a copy of a file at a path, and the dataset has the name of the copy.
    Raises UnknownNameError for an unknown dataset, DataError if its file is missing or has a fault.
    """
    base, variant = parted(name)
    if variant:
        variant_named(base, variant)
        return varied(load(base, settings), next(known for known in VARIANTS if known == variant))
    if name in DATASETS:
        return DATASETS[name].load(name, settings)
    if is_path(name):
        return load_path(Path(name), settings)
    if is_own(name):
        return load_own(name, settings)
    if is_task(name):
        return load_task(name, settings)
    if name in entered_names(settings):
        return load_entered(name, settings)
    refuse_other_paths(name)
    raise UnknownNameError("dataset", name, dataset_names(settings), OWN_FILES)


def dataset_names(settings: Settings) -> tuple[str, ...]:
    """Every name that ``load`` accepts: the published datasets, copies of files, then entered problems."""
    return (*DATASETS, *own_names(settings), *entered_names(settings))


def fetched_by(name: str, settings: Settings) -> str:
    """The command that downloads a published dataset's files; "" if they are there or the dataset needs none.

    A variant needs the files of its dataset.
    """
    missing = [source for source in sources_of(parted(name)[0]) if placed(source, settings) is None]
    return f"koderz download-data {' '.join(source.dataset for source in missing)}" if missing else ""
