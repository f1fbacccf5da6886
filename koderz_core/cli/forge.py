"""``koderz forge``: repository tasks from packages and folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from koderz_core.cli.options import (
    OutputPath,
    Whole,
    advised,
    as_json,
    check_tasks_file,
    data_dir,
    print_json,
    workers,
    workspace,
)
from koderz_core.cli.tables import console, progress_bar, terminal_table
from koderz_core.errors import Cancelled
from koderz_core.report.formats import duration, numbered, plain
from koderz_core.workspace.forging import STANDARD, TASKS, Forged, ForgeOrder

STOPPED = "koderz was interrupted. The results so far are kept. Run the same command again to continue."
MOST_REASONS = 8


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--tasks", type=Whole(1, 10_000), help=f"Number of tasks.  [default: 50 per source; {STANDARD}: {TASKS}]")
@click.option("--seed", default=0, show_default=True, help="Random seed for the faults.")
@click.option("--name", default="", help="Name of the dataset file.  [default: name of the first source]")
@click.option("--output", type=OutputPath(), help="File to write (.jsonl).  [default: a file in the data folder]")
@click.option("--force", is_flag=True, help="Overwrite the file of --output if it exists.")
@click.option(
    "--index",
    multiple=True,
    metavar="URL",
    help="Package index to download from. Repeatable.  [default: the indexes that pip uses]",
)
@click.option(
    "--least-failing",
    default=2,
    show_default=True,
    type=Whole(1, 1000),
    help="Minimum number of failing tests per task.",
)
@click.option(
    "--instructions-by",
    "model",
    default="",
    metavar="MODEL",
    help="Model that writes the texts of the tasks.  [default: koderz uses a template]",
)
@workers
@as_json
@data_dir
def forge(sources: tuple[str, ...], data_dir: Path | None, **options: Any) -> None:
    """Make repository tasks from pure-Python packages with tests.

    A SOURCE is NAME==VERSION, a folder or a source distribution (.tar.gz). SOURCE can also be the word standard, for a
    fixed set of five packages. For NAME==VERSION and standard, koderz downloads the source distributions from your
    package index. The code of a package runs only in the sandbox. koderz puts a fault into a function, and makes a task
    from the fault if some tests of the package then fail but most still pass. Every run with the same sources, versions
    and seed makes the same tasks.

    An interrupted command continues where it stopped. A task includes the tests of its package and has the licence of
    the package.
    """
    output: Path | None = options["output"]
    if output:
        check_tasks_file(output, force=options["force"])
    order = ForgeOrder(
        sources=sources,
        tasks=options["tasks"],
        seed=options["seed"],
        least_failing=options["least_failing"],
        name=options["name"],
        output=output,
        indexes=options["index"],
        model=options["model"],
        workers=options["workers"],
    )
    with workspace(data_dir) as opened:
        try:
            forged = opened.forging.forge(order, progress_bar)
        except KeyboardInterrupt:
            raise Cancelled(STOPPED) from None
    if options["as_json"]:
        print_json(forged)
    else:
        _print(forged)


def _print(forged: Forged) -> None:
    from_outside = "tests checked from outside the test process"
    table = terminal_table("source", "licence", "tests", from_outside, "seconds", "faults tried", "tasks")
    for source in forged.sources:
        counts = (source.tests, source.protected, round(source.seconds, 1), source.tried, source.tasks)
        table.add_row(plain(source.name), plain(source.licence), *map(str, counts))
    console().print(table)
    for source in forged.sources:
        _print_reasons(source.name, "Faults that koderz did not use", source.reasons)
        replaced = "Task texts that the model wrote and koderz replaced with the template"
        _print_reasons(source.name, replaced, source.by_template)
    seconds = sum(source.seconds * source.tasks for source in forged.sources)
    click.echo(f"{numbered(forged.tasks, 'task')} in {plain(str(forged.file))}.")
    click.echo(f"Running the tests of all tasks once, without a patch, takes about {duration(seconds)}.")
    click.echo(f"To use the tasks: {advised(f'--dataset {plain(forged.dataset)}')}")


def _print_reasons(name: str, what: str, reasons: dict[str, int]) -> None:
    most = sorted(reasons.items(), key=lambda pair: -pair[1])[:MOST_REASONS]
    if most:
        listed = "; ".join(f"{reason}: {number}" for reason, number in most)
        click.echo(plain(f"{what}, {name}: {sum(reasons.values())} ({listed}).", 1000))
