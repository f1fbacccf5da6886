"""Data frames for analysis, pages and exports."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Literal

import duckdb
from duckdb import DuckDBPyConnection

from koderz_core.errors import UnknownNameError
from koderz_core.records.annotations import Annotation
from koderz_core.records.rows import Excerpt, Provenance
from koderz_core.store.index import SAW_BASE_TESTS, SEARCHED, Writers, records
from koderz_core.store.schema import KEYS

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types


FormName = Literal["csv", "parquet", "json"]
ExchangeName = Literal["samples", "swebench", "eval-arena"]
MOST_MEMORY = "1GB"  # with more data DuckDB sorts on the disk
_OPTIONS: Mapping[FormName, str] = {
    "csv": "format csv, header true",
    "parquet": "format parquet, compression zstd",
    "json": "format json",
}
# owasp.org/www-community/attacks/CSV_Injection
_DEFUSED = "if(regexp_matches({0}, '^[=+\\-@\\t\\r]'), '''' || {0}, {0}) as {0}"


@dataclass(frozen=True, slots=True)
class Form:
    """``json``: one line per row. ``for_spreadsheets``: an apostrophe before texts that look like formulas."""

    name: FormName
    for_spreadsheets: bool = False


def copy(con: DuckDBPyConnection, select: str, values: Mapping[str, object], form: Form, file: BinaryIO) -> None:
    """Write the rows of ``select`` into ``file``, text in UTF-8, and seek to its beginning.

    In CSV, null is an empty cell and an empty text is a quoted one. ``file`` must have a file descriptor.
    """
    con.execute(f"set memory_limit = '{MOST_MEMORY}'; set threads = 1")  # each thread would need that much
    shown = ", ".join(_columns(con, select, values, form))
    # Into the open file, which may have no name, so that no file is left behind if this fails.
    target = f"'/dev/fd/{file.fileno()}' ({_OPTIONS[form.name]}, use_tmp_file false)"
    con.execute(f"copy (select {shown} from ({select})) to {target}", values)  # noqa: S608 (ours, names are quoted)
    file.seek(0)


def copy_rows(rows: DataFrame, types: Mapping[str, str], form: Form, file: BinaryIO) -> None:
    """As ``copy``, for rows in memory; ``types``: the SQL type of each column, in order."""
    with duckdb.connect() as con:
        con.register("rows", rows)
        columns = ", ".join(f"cast({quoted(name)} as {kind}) as {quoted(name)}" for name, kind in types.items())
        copy(con, f"select {columns} from rows", {}, form, file)  # noqa: S608 (ours, names are quoted)


def quoted(name: str) -> str:
    """Any name, quoted for SQL."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _columns(con: DuckDBPyConnection, select: str, values: Mapping[str, object], form: Form) -> list[str]:
    described = con.execute(f"select * from ({select}) limit 0", values).description or ()  # noqa: S608 (as above)
    return [_column(quoted(name), str(kind), form) for name, kind, *_ in described]


def _column(name: str, kind: str, form: Form) -> str:
    if kind == "JSON" and form.name != "json":  # as text
        return f"cast({name} as varchar) as {name}"
    return _DEFUSED.format(name) if kind == "VARCHAR" and form.for_spreadsheets else name


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the tables: one table by name, for these benchmarks (by id; None: all), these columns (empty: all).

    The columns are those of the row records of the same name; iterations and calls begin with benchmark, dataset, its
    SHA-256 and licence, configuration, label, strategy, models, problem and repeat, and iterations end with
    ``program``, the text that ``code`` names. Labels are annotations and end with those columns. ``models`` reads
    ``coder: a, b; reviewer: c``.
    """

    table: str
    benchmarks: Collection[str] | None = None
    columns: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of an open index. Every method raises UnknownNameError for an unknown table.

    ``annotations``: reads those of all benchmarks, which are not in the index.
    """

    con: DuckDBPyConnection
    writers: Writers
    annotations: Callable[[], Sequence[Annotation]] = tuple

    def frame(self, part: Part, limit: int | None = None) -> DataFrame:
        """``experiments``, ``iterations``, ``calls`` or ``labels``; ``limit``: only the first lines."""
        parameters = self._parameters(part) | ({} if limit is None else {"limit": limit})
        return self.con.execute(_select(part, limited=limit is not None), parameters).df()

    def excerpt(self, part: Part, limit: int) -> Excerpt:
        """The first ``limit`` lines of ``frame``, and the number of all lines."""
        first = self.frame(part, limit)
        values = {"benchmarks": _ids(part)} | self._annotated(part)
        counted = self.con.execute(_COUNTS[part.table], values).fetchone()
        return Excerpt(first, int(counted[0]) if counted else 0)

    def copy(self, part: Part, form: Form, file: BinaryIO) -> None:
        """Write the lines of ``frame`` into a file, of any size, and seek to its beginning."""
        copy(self.con, _select(part, limited=False), self._parameters(part), form, file)

    def provenance(self, benchmarks: Collection[str]) -> list[Provenance]:
        """The provenance of these benchmarks (by id), the oldest first."""
        return records(self.con, Provenance, _PROVENANCE, {"benchmarks": list(benchmarks)})

    def _parameters(self, part: Part) -> dict[str, object]:
        """The parameters of the query. ``left``: benchmarks with running experiments and without a process."""
        values = {"benchmarks": _ids(part)} | self._annotated(part)
        if part.table == "experiments":
            running = self.con.execute("select distinct benchmark from experiments where state = 'running'").fetchall()
            values["left"] = [row[0] for row in running if self.writers.state(row[0], "running") != "running"]
        return values

    def _annotated(self, part: Part) -> dict[str, object]:
        """The columns of all annotations, as parameters."""
        if part.table != "labels":
            return {}
        rows = self.annotations()
        columns = ("experiment", "kind", "text", "at")
        return {column: [getattr(row, column) for row in rows] for column in columns}


def _select(part: Part, *, limited: bool) -> str:
    if part.table not in FRAMES:
        raise UnknownNameError("table", part.table, FRAMES)
    columns = ", ".join(map(quoted, part.columns)) or "*"
    lines = _ANNOTATIONS if part.table == "labels" else part.table
    if limited and part.table in KEYS and part.table != "experiments":
        lines = _FIRST.format(table=part.table, key=", ".join(f"y.{column}" for column in KEYS[part.table]))
    limit = " limit $limit" if limited else ""
    return f"select {columns} from ({FRAMES[part.table].format(lines=lines)}){limit}"  # noqa: S608 (ours, quoted)


def _ids(part: Part) -> list[str] | None:
    return None if part.benchmarks is None else list(part.benchmarks)


# An expression, not a subquery, which would join every line once more.
_MODELS = """array_to_string(list_transform(map_entries(f.models::map(varchar, varchar[])),
    lambda entry: entry.key || ': ' || array_to_string(entry.value, ', ')), '; ')"""
_ORIGIN = "b.dataset, b.dataset_sha256, b.licence"
_OF = f"e.benchmark, {_ORIGIN}, e.configuration, f.label, f.strategy, {_MODELS} as models, e.problem, e.repeat"
# The model of an imported configuration, else its label; with the benchmark if several benchmarks have the same name.
_SOLVER = """if(f.strategy = 'imported', f.models ->> '$.coder[0]', f.label)"""
_SOLVERS = f"""(select f.*, {_SOLVER} || if(min(f.benchmark) over same = max(f.benchmark) over same, '',
    ' (' || f.benchmark || ')') as solver from configurations f
    where $benchmarks::varchar[] is null or list_contains($benchmarks::varchar[], f.benchmark)
    window same as (partition by {_SOLVER}))"""  # noqa: S608 (ours)
_WANTED = "($benchmarks::varchar[] is null or list_contains($benchmarks::varchar[], {}))"
_ANNOTATIONS = """
(select unnest($experiment::varchar[]) as experiment, unnest($kind::varchar[]) as kind,
    unnest($text::varchar[]) as text, unnest($at::double[]) as "at")
"""
_FROM = f"""
join experiments e on e.id = x.experiment
join configurations f on f.benchmark = e.benchmark and f.id = e.configuration
join benchmarks b on b.id = e.benchmark
where {_WANTED.format("e.benchmark")}
"""
_PROGRAMS = f"""
select r.problem as {{problem}}, coalesce(t.text, '') as {{program}}, f.solver as {{model}}
from results r join {_SOLVERS} f on f.benchmark = r.benchmark and f.id = r.configuration
left join texts t on t.sha256 = r.code
where {_WANTED.format("r.benchmark")} and r.outcome in ('solved', 'unsolved') and r.score_kind <> 'reported'
order by r.benchmark, r.label, r.problem, r.repeat
"""  # noqa: S608 (ours)
FRAMES: Mapping[str, str] = {
    "experiments": f"""
select r.id, r.benchmark, {_ORIGIN}, r.configuration, r.label, f.strategy, {_MODELS} as models,
    r.* exclude (id, benchmark, configuration, label, cached)
    replace (if(r.state = 'running' and list_contains($left::varchar[], r.benchmark), 'interrupted', r.state) as state),
    {SAW_BASE_TESTS} as saw_base_tests, {SEARCHED} as searched, r.cached
from experiment_results r
join configurations f on f.benchmark = r.benchmark and f.id = r.configuration
join benchmarks b on b.id = r.benchmark
where {_WANTED.format("r.benchmark")}
order by r.benchmark, r.label, r.problem, r.repeat
""",  # noqa: S608 (ours)
    "iterations": f"""
select {_OF}, x.*, t.text as program from {{lines}} x left join texts t on t.sha256 = x.code {_FROM}
order by x.experiment, x.iteration
""",  # noqa: S608 (ours)
    "calls": f"""
select {_OF}, x.* exclude (position) from {{lines}} x {_FROM} order by x.experiment, x.ordinal, x.attempt
""",  # noqa: S608 (ours)
    "labels": f"""
select x.*, {_OF} from {{lines}} x {_FROM} order by e.benchmark, f.label, e.problem, e.repeat, x.kind, x.at, x.text
""",  # noqa: S608 (ours)
    "samples": _PROGRAMS.format(problem="task_id", program="solution", model="model"),
    "swebench": _PROGRAMS.format(problem="instance_id", program="model_patch", model="model_name_or_path"),
    "eval-arena": f"""
select b.dataset as benchmark_id, f.solver as model, r.problem as example_id,
    avg((r.outcome = 'solved')::integer) as pass1, count(*) filter (where r.outcome = 'solved') as correct,
    count(*) as count
from results r join {_SOLVERS} f on f.benchmark = r.benchmark and f.id = r.configuration
join benchmarks b on b.id = r.benchmark
where {_WANTED.format("r.benchmark")} and r.outcome in ('solved', 'unsolved')
group by r.benchmark, b.dataset, f.solver, r.problem order by r.benchmark, model, r.problem
""",  # noqa: S608 (ours)
}
"""``lines``: the table, or its first lines, which are selected before the joins. Other tools read the last three: the
program of each result that koderz scored, "" for none; and the share of solved repeats by configuration and problem."""
_FIRST = f"""
(select y.* from {{table}} y semi join experiments e on e.id = y.experiment and {_WANTED.format("e.benchmark")}
order by {{key}} limit $limit)
"""  # noqa: S608 (ours)
_COUNTS: Mapping[str, str] = {
    "experiments": f"select count(*) from experiments e where {_WANTED.format('e.benchmark')}",  # noqa: S608 (ours)
    **{
        table: f"""
select count(*) from {lines} x semi join experiments e on e.id = x.experiment and {_WANTED.format("e.benchmark")}
"""  # noqa: S608 (ours)
        for table, lines in {"iterations": "iterations", "calls": "calls", "labels": _ANNOTATIONS}.items()
    },
}
"""The number of lines of each, without any join of lines."""
_PROVENANCE = """
select b.id as benchmark, b.name, b.dataset, b.dataset_sha256, b.licence, b.problems, b.repeats, b.koderz_version,
    b.price_version, b.isolation, b.self_test, b.opened_at, b.imported,
    (select count(*) from configurations c where c.benchmark = b.id) as configurations,
    (select count(*) from experiments e where e.benchmark = b.id) as planned,
    (select count(*) from experiments e where e.benchmark = b.id and e.outcome in ('solved', 'unsolved')) as ended,
    exists (select 1 from configurations c where c.benchmark = b.id and is_scripted(c.models)) as scripted,
    j."offset" as journal_bytes
from benchmarks b left join journals j on j.file = b.id || '.jsonl' and j.benchmark = b.id
where list_contains($benchmarks::varchar[], b.id) order by b.opened_at, b.id
"""
