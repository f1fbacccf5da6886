"""``koderz list-problems`` and ``koderz download-data``: problems of datasets, checks of files, and downloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn
from rich.table import Table

from koderz_core.cli.options import HUMANEVAL_FILE, Whole, as_json, data_dir, mapping, print_json, workspace
from koderz_core.cli.strengthen import print_scores
from koderz_core.cli.tables import console, terminal_table
from koderz_core.errors import DataError, UnknownNameError, UsageError
from koderz_core.records import OF_DATASETS, Dataset, Kind, Problem
from koderz_core.report.formats import numbered, plain
from koderz_core.workspace import Workspace
from koderz_core.workspace.datasets import (
    MADE_OF,
    SOURCES,
    Fault,
    RepositoryFacts,
    Source,
    in_period,
    read_path,
    repository_facts,
    select,
    sources_of,
    without_date,
)
from koderz_core.workspace.grading import CheckedSolution, grading_needs

FAULTY, FAILED = DataError.exit_code, 4


@click.command(name="list-problems")
@click.option("--dataset", help="Name of a dataset, or path of a dataset file.  [default: humaneval]")
@click.option(
    "--file",
    type=click.Path(path_type=Path),
    help="Check this dataset file, and report the line and field of every error.",
)
@mapping
@click.option(
    "--humaneval-path",
    type=click.Path(path_type=Path),
    help=HUMANEVAL_FILE,
)
@click.option(
    "--problems",
    default="all",
    show_default=True,
    help='Problems to show: "0:20", "HumanEval/3,7", "sample:20" or "gradable".',
)
@click.option("--since", metavar="DATE", help="Show only problems dated on or after this day, such as 2024-05-31.")
@click.option("--until", metavar="DATE", help="Show only problems dated on or before this day.")
@click.option("--kind", type=click.Choice(OF_DATASETS), help="Show only problems of this kind.")
@click.option("--tag", help="Show only problems with this tag.")
@click.option("--problem-id", help="Show this problem in full.")
@click.option("--full", is_flag=True, help="Show the whole text of each problem instead of a table.")
@click.option("--check", is_flag=True, help="Run the canonical solutions of the problems on their tests.")
@click.option("--mutation-score", is_flag=True, help="Show the share of faulty solutions that the tests detect (slow).")
@click.option(
    "--limit", default=20, show_default=True, type=Whole(0), help="Maximum number of problems to list; 0 lists all."
)
@as_json
@data_dir
def list_problems(
    dataset: str | None, file: Path | None, humaneval_path: Path | None, data_dir: Path | None, **options: Any
) -> int:
    """List the problems of a dataset, show one problem, check a dataset file, or compute mutation scores.

    --mutation-score runs up to 30 mutants of each canonical solution. A mutant is a copy with one fault. The mutation
    score of a problem is the share of mutants that its tests detect. koderz keeps the scores, and the page Problems of
    the dashboard lists the problems with weak tests.

    Exits with code 3 if the dataset file contains errors, and with code 4 if a canonical solution fails its tests.
    """
    if file and (dataset or humaneval_path):
        raise UsageError("--file replaces --dataset and --humaneval-path, so omit these two options.")
    with workspace(data_dir, humaneval_path=humaneval_path) as opened:
        if file:
            reading = read_path(file, ",".join(options["mapping"]), opened.settings)
            for fault in reading.faults:
                click.echo(plain(fault.describe(file.name), 500).replace("\n", " "), err=options["as_json"])
            if reading.faults:
                return FAULTY
        loaded = (
            reading.dataset(file.name) if file else opened.datasets.load(dataset or "humaneval", options["mapping"])
        )
        chosen = options["problem_id"] or in_period(options["problems"], options["since"], options["until"])
        problems = _of_kind(select(loaded, chosen), options["kind"], options["tag"])
        if options["check"]:
            places = dict(zip((problem.id for problem in reading.problems), reading.lines, strict=True)) if file else {}
            return _check(opened, loaded, problems, places, as_json=options["as_json"])
        if options["mutation_score"]:
            print_scores(opened, loaded, problems, options)
            return 0
        _print_problems(loaded, problems, options)
        if not (options["as_json"] or options["problem_id"]):
            _print_others(loaded, without_date(loaded, chosen))
        return 0


def _of_kind(problems: Sequence[Problem], kind: Kind | None, tag: str | None) -> Sequence[Problem]:
    """The problems of this kind and with this tag. Raises UsageError if there are none."""
    tags = {known for problem in problems for known in problem.facts.tags}
    if tag is not None and tag not in tags:
        raise UnknownNameError("tag", tag, tags)
    found = [problem for problem in problems if tag is None or tag in problem.facts.tags]
    found = [problem for problem in found if kind in (None, problem.public.kind)]
    if not found:
        kinds = ", ".join(sorted({problem.public.kind for problem in problems}))
        raise UsageError(f"None of these problems has the kind {kind}{' and this tag' if tag else ''}. Kinds: {kinds}.")
    return found


def _print_problems(loaded: Dataset, problems: Sequence[Problem], options: dict[str, Any]) -> None:
    shown = problems[: options["limit"] or None]
    if options["as_json"]:
        listed = [_described(problem) for problem in shown]
        found = {"dataset": loaded.origin, "problems": listed, "left_out": loaded.left_out}
        print_json(found, more=len(shown) < len(problems))
    elif options["problem_id"]:
        click.echo(plain("\n\n".join(problem.public.prompt.rstrip() for problem in shown)))
    else:
        click.echo(_origin(loaded, len(problems)))
        if options["full"]:
            for problem in shown:
                click.echo(f"\n{plain(problem.id)}\n\n{plain(problem.public.prompt.rstrip())}")
        else:
            console().print(_table([_described(problem) for problem in shown]))
        if len(shown) < len(problems):
            click.echo(f"… and {numbered(len(problems) - len(shown), 'more problem')} (--limit 0 shows all)")


def _print_others(loaded: Dataset, undated: int) -> None:
    """The problems that are not listed because they have no date or cannot be graded."""
    if undated:
        click.echo(f"Number of problems left out because they have no date: {undated}.")
    reasons: dict[str, list[str]] = {}
    for problem in loaded.left_out:
        reasons.setdefault(problem.reason, []).append(problem.id)
    for reason, names in reasons.items():
        click.echo(plain(f"Problems left out, each because {reason}: {len(names)} ({', '.join(names)}).", 2000))


def _origin(loaded: Dataset, problems: int) -> str:
    origin = loaded.origin
    size, licence = numbered(problems, "problem"), plain(origin.licence)
    return f"{plain(origin.name)}: {size}, licence {licence}, SHA-256 {origin.sha256[:12]}"


def _described(problem: Problem) -> dict[str, Any]:
    """All facts of a problem. Of the files of a repository, only those that may change: there may be thousands."""
    public = asdict(replace(problem.public, files={}))
    del public["files"]
    repository = {"repository": repository_facts(problem)} if problem.repository else {}
    return {**public, **asdict(problem.facts), **grading_needs(problem), **repository}


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    of_repositories = all("repository" in row for row in rows)
    return _table_of_repositories(rows) if of_repositories else _table_of_programs(rows)


def _table_of_repositories(rows: Sequence[dict[str, Any]]) -> Table:
    """The columns of tasks of the kind ``repo``."""
    table = terminal_table("problem", "kind", "package", "licence")
    for name in ("failing tests", "passing tests", "changed lines", "lines of changed function"):
        table.add_column(name, justify="right")
    for row in rows:
        facts: RepositoryFacts = row["repository"]
        length = "" if facts.function_lines is None else str(facts.function_lines)
        numbers = map(str, (facts.failing, facts.passing, facts.changed_lines))
        table.add_row(plain(row["id"]), row["kind"], plain(facts.package), plain(facts.licence), *numbers, length)
    return table


def _table_of_programs(rows: Sequence[dict[str, Any]]) -> Table:
    """Columns of facts and missing libraries are shown if a problem has some."""
    table = terminal_table()
    facts = {name: [row[name] for row in rows] for name in ("kind", "difficulty", "date")}
    shown = [name for name, values in facts.items() if any(value not in ("", "function") for value in values)]
    lacks = {"missing libraries": "lacks", "obstacle": "obstacle"}
    lacking = [name for name, field in lacks.items() if any(row[field] for row in rows)]
    names = ["problem", *shown, "entry point", "tests", "plus tests", *lacking]
    for name in names:
        table.add_column(name, justify="right" if name.endswith("tests") else "left")
    for row in rows:
        plus = "" if row["plus_tests"] is None else str(row["plus_tests"])
        cells = {
            "problem": plain(row["id"]),
            **{name: plain(row[name]) for name in shown},
            "entry point": plain(row["entry_point"]),
            "tests": str(row["tests"]),
            "plus tests": plus,
            "missing libraries": plain(", ".join(row["lacks"])),
            "obstacle": plain(row["obstacle"], 200),
        }
        table.add_row(*(cells[name] for name in names))
    return table


def _check(
    opened: Workspace, loaded: Dataset, problems: Sequence[Problem], places: Mapping[str, int], *, as_json: bool
) -> int:
    """``places``: the line of each problem in a dataset file."""
    checked = list(opened.grading.check_solutions(problems))
    failed = [solution for solution in checked if solution.passed is False]
    if as_json:
        print_json({"dataset": loaded.origin, "checked": checked})
        return FAILED if failed else 0
    click.echo(_origin(loaded, len(problems)))
    for solution in failed:
        click.echo(_failed(solution, loaded.origin.name, places))
    without = sum(solution.passed is None for solution in checked)
    passed = len(checked) - len(failed) - without
    click.echo(
        f"Solutions that pass their tests: {passed} of {len(checked) - without}. "
        f"Problems without a solution: {without}."
    )
    return FAILED if failed else 0


def _failed(solution: CheckedSolution, file: str, places: Mapping[str, int]) -> str:
    if solution.problem not in places:
        return f"  {plain(solution.problem)}: {plain(solution.message, 200)}"
    what = f"the canonical solution of {solution.problem} fails the tests: {solution.message}"
    fault = Fault(places[solution.problem], "canonical_solution", what[:300], "fix the solution or the tests")
    return plain(fault.describe(file), 500).replace("\n", " ")


@click.command(name="download-data")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--list",
    "listed",
    is_flag=True,
    help="List the files of the datasets with their URLs, and show which files are present. Download nothing.",
)
@as_json
@data_dir
def download_data(names: tuple[str, ...], *, listed: bool, as_json: bool, data_dir: Path | None) -> None:
    """Download published datasets: by default, every dataset whose SHA-256 koderz knows.

    An interrupted download continues where it stopped. HumanEval comes with koderz. Your own files in the folder of
    datasets are not changed.
    """
    for name in names:
        if not sources_of(name):
            raise UnknownNameError("dataset to download", name, [*SOURCES, *MADE_OF])
    wanted = {source.dataset for name in names for source in sources_of(name)}
    sources = [
        source for source in SOURCES.values() if (source.dataset in wanted if names else listed or source.sha256)
    ]
    with workspace(data_dir) as opened:
        if listed:
            _print_sources(opened, sources, as_json=as_json)
            return
        paths = {source.dataset: download(opened, source) for source in sources}
    if as_json:
        print_json(paths)
        return
    for name, path in paths.items():
        click.echo(f"Ready: {name} (licence {SOURCES[name].licence}) in {plain(str(path))}")


def download(opened: Workspace, source: Source) -> Path:
    """Download one file with a progress bar, unless it is present already."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(source.dataset, total=source.size_bytes)
        return opened.datasets.fetch(source, lambda done: bar.update(task, completed=done))


def _print_sources(opened: Workspace, sources: Sequence[Source], *, as_json: bool) -> None:
    if as_json:
        print_json([{"source": source, "here": opened.datasets.placed(source)} for source in sources])
        return
    table = terminal_table("dataset", "version", "licence", "bytes", "file", "SHA-256")
    for source in sources:
        here = opened.datasets.placed(source)
        size = f"{'about ' * bool(source.members)}{source.size_bytes:,}" if source.size_bytes else "?"
        known = source.sha256[:12] or "unknown: download the file yourself"
        table.add_row(
            source.dataset, source.version, source.licence, size, plain(here.name) if here else "not present", known
        )
    console().print(table)
    for source in sources:
        click.echo(f"{source.dataset}: {source.url} {source.sha256}".rstrip())
    click.echo(f"Folder of the files: {plain(str(opened.settings.published_dir))}. HumanEval comes with koderz.")
