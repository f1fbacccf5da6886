"""Coding problems by dataset name: one file per publisher's format, and the problems that somebody typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from koderz_core.config import Settings
from koderz_core.datasets.humaneval import load_humaneval
from koderz_core.datasets.humaneval_plus import load_humaneval_plus
from koderz_core.datasets.mbpp import load_mbpp_plus
from koderz_core.datasets.typed import load_typed, typed_names
from koderz_core.errors import UnknownNameError
from koderz_core.records import Dataset

__all__ = ["DATASETS", "dataset_names", "load"]

DATASETS: Mapping[str, Callable[[Settings], Dataset]] = {
    "humaneval": load_humaneval,
    "humaneval+": load_humaneval_plus,
    "mbpp+": load_mbpp_plus,
}


def load(name: str, settings: Settings) -> Dataset:
    """Every problem of the dataset called ``name``, in the publisher's order.

    Raises UnknownNameError if there is no such dataset, DataError if its file cannot be had or is wrong.
    """
    if name in DATASETS:
        return DATASETS[name](settings)
    if name in typed_names(settings):
        return load_typed(name, settings)
    raise UnknownNameError("dataset", name, dataset_names(settings))


def dataset_names(settings: Settings) -> tuple[str, ...]:
    """Every name that ``load`` knows: the published datasets, then the problems that somebody typed."""
    return (*DATASETS, *typed_names(settings))
