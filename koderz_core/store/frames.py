"""Data frames for analysis, pages and exports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from duckdb import DuckDBPyConnection

from koderz_core.errors import UnknownNameError
from koderz_core.store.benchmarks import Writers

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The first lines of a table, and how many it has in all."""

    frame: DataFrame
    lines: int


def frame(
    con: DuckDBPyConnection, writers: Writers, name: str, benchmark: str | None = None, limit: int | None = None
) -> DataFrame:
    """``experiments``, ``iterations`` or ``calls`` as a data frame, of one benchmark (by id) or of all.

    The columns are those of the row records of the same name; iterations and calls begin with benchmark, dataset, its
    SHA-256 and licence, configuration, label, strategy, models, problem and repeat, and iterations end with
    ``program``, the text that ``code`` names. ``models`` reads ``coder: a, b; reviewer: c``.
    ``limit``: only so many lines, the first. Raises UnknownNameError.
    """
    sql = f"{_sql(name)} limit $limit"
    found = con.execute(sql, {"benchmark": benchmark, "limit": limit}).df()
    if name == "experiments":
        found["state"] = [writers.state(*one) for one in zip(found["benchmark"], found["state"], strict=True)]
    return found.assign(models=found["models"].map(_said))


def excerpt(con: DuckDBPyConnection, writers: Writers, name: str, benchmark: str | None, limit: int) -> Excerpt:
    """The first ``limit`` lines of what ``frame`` gives. Raises UnknownNameError."""
    counted = con.execute(f"select count(*) from ({_sql(name)})", {"benchmark": benchmark}).fetchone()  # noqa: S608 (ours)
    return Excerpt(frame(con, writers, name, benchmark, limit), int(counted[0]) if counted else 0)


def _sql(name: str) -> str:
    if name not in _FRAMES:
        raise UnknownNameError("table", name, _FRAMES)
    return _FRAMES[name]


def _said(models: str) -> str:
    roles = msgspec.json.decode(models, type=dict[str, list[str]])
    return "; ".join(f"{role}: {', '.join(members)}" for role, members in roles.items())


_ORIGIN = "b.dataset, b.dataset_sha256, b.licence"
_OF = f"e.benchmark, {_ORIGIN}, e.configuration, f.label, f.strategy, f.models, e.problem, e.repeat"
_FROM = """
join experiments e on e.id = x.experiment
join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
join benchmarks b on b.id = e.benchmark
where $benchmark is null or e.benchmark = $benchmark
"""
_FRAMES: Mapping[str, str] = {
    "experiments": f"""
select r.id, r.benchmark, {_ORIGIN}, r.configuration, r.label, f.strategy, f.models,
    r.* exclude (id, benchmark, configuration, label)
from experiment_results r
join configurations f on f.benchmark = r.benchmark and f.id = r.configuration
join benchmarks b on b.id = r.benchmark
where $benchmark is null or r.benchmark = $benchmark
order by r.benchmark, r.label, r.problem, r.repeat
""",  # noqa: S608 (ours)
    "iterations": f"""
select {_OF}, x.*, t.text as program from iterations x left join texts t on t.sha256 = x.code {_FROM}
order by x.experiment, x.iteration
""",  # noqa: S608 (ours)
    "calls": f"select {_OF}, x.* exclude (position) from calls x {_FROM} order by all",  # noqa: S608 (ours)
}
