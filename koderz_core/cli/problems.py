"""``koderz list-problems``: the problems of a dataset, and checks of a user's own file and of canonical solutions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from koderz_core.cli.numbers import Whole
from koderz_core.cli.options import as_json, data_dir, print_json, workspace
from koderz_core.cli.tables import console, terminal_table
from koderz_core.datasets.evalplus import arguments_of
from koderz_core.datasets.own_problems import Fault, read_path
from koderz_core.datasets.selection import select
from koderz_core.datasets.sources import lacking
from koderz_core.errors import DataError, KoderzError, UsageError
from koderz_core.grading.grader import Grader, Sample
from koderz_core.records import Dataset, Extracted, Problem
from koderz_core.report.formats import plain
from koderz_core.sandbox.tiers import count_tests
from koderz_core.workspace import Workspace

FAULTY, FAILED = DataError.exit_code, 4


@click.command(name="list-problems")
@click.option("--dataset", help="Name of a dataset, or path of a dataset file.  [default: humaneval]")
@click.option(
    "--file", type=click.Path(path_type=Path), help="Check this file, and report the line and field of every error."
)
@click.option(
    "--humaneval-path",
    type=click.Path(path_type=Path),
    help="HumanEval file, instead of the one that comes with koderz.",
)
@click.option(
    "--problems", default="all", show_default=True, help='Show only these: "0:20", "HumanEval/3,7" or "sample:20".'
)
@click.option("--problem-id", help="Show this problem in full.")
@click.option("--check", is_flag=True, help="Run the canonical solutions on their tests.")
@click.option("--limit", default=20, show_default=True, type=Whole(0), help="Maximum number of lines; 0: all.")
@as_json
@data_dir
def list_problems(
    dataset: str | None, file: Path | None, humaneval_path: Path | None, data_dir: Path | None, **options: Any
) -> int:
    """List the problems of a dataset, show one, or check a dataset file.

    Exits with 3 if --file finds errors, and with 4 if a solution fails with --check.
    """
    if file and (dataset or humaneval_path):
        raise UsageError("--file replaces --dataset and --humaneval-path. Omit them.")
    with workspace(data_dir, humaneval_path=humaneval_path) as opened:
        if file:
            reading = read_path(file)
            for fault in reading.faults:
                click.echo(plain(fault.describe(file.name), 500).replace("\n", " "))
            if reading.faults:
                return FAULTY
        loaded = reading.dataset(file.name) if file else opened.dataset(dataset or "humaneval")
        problems = select(loaded, options["problem_id"] or options["problems"])
        if options["check"]:
            places = dict(zip((one.id for one in reading.problems), reading.lines, strict=True)) if file else {}
            return _check(opened, loaded, problems, places, as_json=options["as_json"])
        _show(loaded, problems, options)
        return 0


def _show(loaded: Dataset, problems: Sequence[Problem], options: dict[str, Any]) -> None:
    shown = problems[: options["limit"] or None]
    if options["as_json"]:
        print_json({"dataset": loaded.origin, "problems": [_described(problem) for problem in shown]})
    elif options["problem_id"]:
        click.echo(plain("\n\n".join(problem.public.prompt.rstrip() for problem in shown)))
    else:
        click.echo(_origin(loaded, len(problems)))
        console().print(_table([_described(problem) for problem in shown]))
        if len(shown) < len(problems):
            click.echo(f"… and {len(problems) - len(shown)} more (--limit 0 shows all)")


def _origin(loaded: Dataset, problems: int) -> str:
    origin = loaded.origin
    return f"{plain(origin.name)}: {problems} problems, licence {plain(origin.licence)}, SHA-256 {origin.sha256[:12]}"


def _described(problem: Problem) -> dict[str, Any]:
    """``plus_tests`` None: it has none. ``lacks``: missing libraries that its grading needs."""
    tests = {
        "tests": count_tests(problem.tests.source),
        "plus_tests": len(arguments_of(problem.plus)) if problem.plus else None,
        "lacks": lacking(problem),
    }
    return {**asdict(problem.public), **tests}


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    table = terminal_table()
    names = ["problem", "entry point", "tests", "plus tests", *(["lacks"] if any(row["lacks"] for row in rows) else [])]
    for name in names:
        table.add_column(name, justify="right" if name.endswith("tests") else "left")
    for row in rows:
        plus = "" if row["plus_tests"] is None else str(row["plus_tests"])
        cells = [plain(row["id"]), plain(row["entry_point"]), str(row["tests"]), plus, plain(", ".join(row["lacks"]))]
        table.add_row(*cells[: len(names)])
    return table


def _check(
    opened: Workspace, loaded: Dataset, problems: Sequence[Problem], places: Mapping[str, int], *, as_json: bool
) -> int:
    """``places``: the line of each problem in a dataset file."""
    found = list(checked(opened, problems))
    failed = [one for one in found if one.passed is False]
    if as_json:
        print_json({"dataset": loaded.origin, "checked": found})
        return FAILED if failed else 0
    click.echo(_origin(loaded, len(problems)))
    for one in failed:
        click.echo(_failed(one, loaded.origin.name, places))
    without = sum(one.passed is None for one in found)
    passed = len(found) - len(failed) - without
    click.echo(f"{passed} of {len(found) - without} solutions pass their tests; {without} problems have no solution.")
    return FAILED if failed else 0


def _failed(one: Checked, file: str, places: Mapping[str, int]) -> str:
    if one.problem not in places:
        return f"  {plain(one.problem)}: {plain(one.message, 200)}"
    what = f"of {one.problem}, fails its tests: {one.message}"
    fault = Fault(places[one.problem], "canonical_solution", what[:300], "fix the solution or the tests")
    return plain(fault.describe(file), 500).replace("\n", " ")


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of a problem's own solution; ``passed`` None: it has none. ``message`` may be hostile."""

    problem: str
    passed: bool | None
    message: str = ""


def checked(opened: Workspace, problems: Sequence[Problem]) -> Iterator[Checked]:
    """Each problem's solution on its base and plus tests, in order."""
    workers = os.cpu_count() or 1
    with opened.judging.grader(workers) as grader, ThreadPoolExecutor(workers) as pool:
        yield from pool.map(lambda problem: _checked(grader, problem), problems)


def _checked(grader: Grader, problem: Problem) -> Checked:
    if not problem.canonical_solution:
        return Checked(problem.id, None)
    program = Extracted(problem.canonical_solution, "solution")
    try:
        tests = dict(grader.tests([problem], "plus" if problem.plus else "base"))
        (graded,) = grader.grade([Sample(1, problem, program, {})], tests)
    except KoderzError as error:  # of this problem; the others are checked too
        return Checked(problem.id, False, str(error))
    verdict = graded.verdict
    return Checked(problem.id, verdict is not None and verdict.passed, verdict.message if verdict else graded.trouble)
