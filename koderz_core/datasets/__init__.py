"""Coding problems by dataset name: published datasets (one module per format), users' own files, entered problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.datasets.apps import load_apps
from koderz_core.datasets.bigcodebench import load_bigcodebench, load_bigcodebench_hard
from koderz_core.datasets.classeval import load_classeval
from koderz_core.datasets.codecontests import load_codecontests
from koderz_core.datasets.exercism import load_exercism, load_exercism_polyglot
from koderz_core.datasets.humaneval import load_humaneval, load_humaneval_plus, load_humaneval_plus_mini
from koderz_core.datasets.humaneval_stdin import load_humaneval_stdin
from koderz_core.datasets.humanevalfix import load_humanevalfix, load_humanevalfix_plus, load_humanevalfix_plus_tests
from koderz_core.datasets.livecodebench import load_livecodebench
from koderz_core.datasets.mbpp import load_mbpp, load_mbpp_plus
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
from koderz_core.datasets.quixbugs import load_quixbugs
from koderz_core.datasets.sources import placed, sources_of
from koderz_core.datasets.tasks import is_task, load_task
from koderz_core.datasets.variants import parted, variant_named, varied
from koderz_core.errors import UnknownNameError
from koderz_core.records import VARIANTS, Dataset, Kind

__all__ = ["DATASETS", "dataset_names", "fetched_by", "load", "variant_named"]


@dataclass(frozen=True, slots=True)
class Published:
    """How a published dataset is loaded, and the kind of its problems (of most of them, if its file has several)."""

    load: Callable[[Settings], Dataset]
    kind: Kind = "function"


DATASETS: Mapping[str, Published] = {
    "humaneval": Published(load_humaneval),
    "humaneval+": Published(load_humaneval_plus),
    "humaneval+mini": Published(load_humaneval_plus_mini),
    "mbpp+": Published(load_mbpp_plus),
    "mbpp": Published(load_mbpp),
    "bigcodebench": Published(load_bigcodebench),
    "bigcodebench-hard": Published(load_bigcodebench_hard),
    "humanevalfix": Published(load_humanevalfix, "repair"),
    "humanevalfix+": Published(load_humanevalfix_plus, "repair"),
    "humanevalfix+tests": Published(load_humanevalfix_plus_tests, "repair"),
    "quixbugs": Published(load_quixbugs, "repair"),
    "exercism": Published(load_exercism, "module"),
    "exercism-polyglot": Published(load_exercism_polyglot, "module"),
    "classeval": Published(load_classeval, "module"),
    "humaneval-stdin": Published(load_humaneval_stdin, "program"),
    "livecodebench": Published(load_livecodebench, "program"),
    "apps": Published(load_apps, "program"),
    "codecontests": Published(load_codecontests, "program"),
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
        return DATASETS[name].load(settings)
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
