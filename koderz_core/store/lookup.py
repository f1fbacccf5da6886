"""The benchmark, experiment or problem that a word of the user names, by its name or by the beginning of its id."""

from __future__ import annotations

from duckdb import DuckDBPyConnection

from koderz_core.errors import UnknownNameError, UsageError
from koderz_core.store.index import Index

MOST_SHOWN = 12


def find(index: Index, text: str) -> str:
    """The benchmark or experiment of that id; else the id of the benchmark of that name.

    Else the id that begins so (``bench_`` or ``exp_`` may be left out), else that of the benchmark whose name begins
    so. Raises UnknownNameError without a match, UsageError for several.
    """
    for sql, fits in (
        (_WHOLE, "is the beginning of several ids"),  # first: the id of a benchmark may be the name of another one
        (_NAMED, "is the name of several benchmarks"),
        (_IDS, "is the beginning of several ids"),
        (_NAMES, "is the beginning of several benchmark names"),
    ):
        rows = index.con.execute(sql, {"text": text, "most": MOST_SHOWN + 1}).fetchall() if text else []
        ids = [str(row[0]) for row in rows]
        if text in ids or len(ids) == 1:
            return text if text in ids else ids[0]
        if ids:
            more = ", ..." if len(ids) > MOST_SHOWN else ""
            raise UsageError(
                f"{text!r} {fits}: {', '.join(ids[:MOST_SHOWN])}{more}. Type one of these ids, or a "
                "name that only one benchmark has."
            )
    raise UnknownNameError("benchmark or experiment", text, benchmark_ids(index.con))


def find_problem(index: Index, name: str | None, benchmark: str | None = None) -> str | None:
    """The id of the problem of that name (``3`` is short for ``HumanEval/3``) that has an experiment; None for None.

    ``benchmark``: by id; None: any. Raises UnknownNameError without a match, UsageError for several.
    """
    if name is None:
        return None
    known = [str(row[0]) for row in index.con.execute(_PROBLEMS, {"benchmark": benchmark}).fetchall()]
    fitting = [name] if name in known else [problem for problem in known if problem.rpartition("/")[2] == name]
    if not fitting:
        experiment = f"experiment of {benchmark}" if benchmark else "experiment"
        raise UnknownNameError(f"problem (no {experiment} uses it)", name, known)
    if len(fitting) > 1:
        more = ", ..." if len(fitting) > MOST_SHOWN else ""
        raise UsageError(
            f"{name!r} is short for several problems: {', '.join(fitting[:MOST_SHOWN])}{more}. Type the whole name of "
            "one of these problems."
        )
    return fitting[0]


def renamed_journals(index: Index) -> dict[str, str]:
    """The benchmarks (by id) whose journal files the user renamed, with the names of these files."""
    sql = "select benchmark, file from journals where benchmark <> '' and file <> benchmark || '.jsonl'"
    return {str(benchmark): str(file) for benchmark, file in index.con.execute(sql).fetchall()}


def benchmark_ids(con: DuckDBPyConnection) -> list[str]:
    """The ids of all benchmarks."""
    return [str(row[0]) for row in con.execute("select id from benchmarks").fetchall()]


_PROBLEMS = """
select distinct problem from experiments where benchmark = coalesce($benchmark, benchmark) order by problem
"""
_NAMED = "select id from benchmarks where name = $text order by id limit $most"
# A page asks for a complete id, which is faster than comparing the beginnings of a hundred thousand ids.
_WHOLE = """
select id from benchmarks where id = $text union all select id from experiments where id = $text limit $most
"""
_NAMES = "select id from benchmarks where starts_with(name, $text) order by id limit $most"
_IDS = """
select id from (select id from benchmarks union all select id from experiments)
where starts_with(id, $text) or starts_with(split_part(id, '_', 2), $text) order by id limit $most
"""
