"""Data frames for analysis, pages and exports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from duckdb import DuckDBPyConnection

from koderz_core.errors import UnknownNameError

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types


def frame(con: DuckDBPyConnection, name: str, benchmark: str | None = None) -> DataFrame:
    """``experiments``, ``iterations`` or ``calls`` as a data frame, of one benchmark (by id) or of all.

    The columns are those of the row records of the same name; iterations and calls begin with benchmark,
    configuration, label, problem and repeat. Raises UnknownNameError.
    """
    if name not in _FRAMES:
        raise UnknownNameError("table", name, _FRAMES)
    return con.execute(_FRAMES[name], {"benchmark": benchmark}).df()


_OF = "e.benchmark, e.configuration, f.label, e.problem, e.repeat"
_FROM = """
join experiments e on e.id = x.experiment
join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
where $benchmark is null or e.benchmark = $benchmark
"""
_FRAMES: Mapping[str, str] = {
    "experiments": "select * from experiment_results where $benchmark is null or benchmark = $benchmark order by id",
    "iterations": f"select {_OF}, x.* from iterations x {_FROM} order by x.experiment, x.iteration",  # noqa: S608 (ours)
    "calls": f"select {_OF}, x.* exclude (position) from calls x {_FROM} order by all",  # noqa: S608 (ours)
}
