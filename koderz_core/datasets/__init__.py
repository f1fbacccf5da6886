"""Coding problems by dataset name: one file per publisher's format."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from koderz_core.config import Settings
from koderz_core.datasets.humaneval import load_humaneval
from koderz_core.errors import UnknownNameError
from koderz_core.records import Dataset

__all__ = ["DATASETS", "load"]

DATASETS: Mapping[str, Callable[[Settings], Dataset]] = {
    "humaneval": load_humaneval,
}


def load(name: str, settings: Settings) -> Dataset:
    """Every problem of the dataset called ``name``, in the publisher's order.

    Raises UnknownNameError if there is no such dataset, DataError if its file cannot be had or is wrong.
    """
    if name not in DATASETS:
        raise UnknownNameError("dataset", name, DATASETS)
    return DATASETS[name](settings)
