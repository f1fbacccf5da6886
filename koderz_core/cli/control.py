"""``koderz pause``, ``koderz stop`` and ``koderz change``: a benchmark that runs, here or in whatever process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from koderz_core.cli.numbers import Number, Whole
from koderz_core.cli.options import Command, data_dir, workspace
from koderz_core.errors import UnknownNameError, UsageError
from koderz_core.export.formats import money, plain
from koderz_core.runner.control import MOST_AT_ONCE
from koderz_core.workspace import Workspace
from koderz_core.workspace.names import benchmark_named


def _only(command: Command) -> Command:
    text = "Only this part: a configuration (id or label) or an experiment (id or its beginning)."
    return click.option("--only", metavar="PART", help=text)(command)


@click.command()
@click.argument("benchmark")
@_only
@data_dir
def pause(benchmark: str, only: str | None, data_dir: Path | None) -> None:
    """Let the running BENCHMARK (its name, its id, or how that begins) wait before its next steps.

    A call to a model that is under way ends first. `koderz resume` goes on with it.
    """
    _control(benchmark, only, data_dir, lambda opened: opened.pause, "pauses")


@click.command()
@click.argument("benchmark")
@_only
@data_dir
def stop(benchmark: str, only: str | None, data_dir: Path | None) -> None:
    """Stop the running BENCHMARK (its name, its id, or how that begins); what it has finished is kept.

    Its experiments end at their next step and count as cancelled. `koderz resume` takes them up again.
    """
    _control(benchmark, only, data_dir, lambda opened: opened.stop, "stops")


@click.command()
@click.argument("benchmark")
@click.option("--max-cost", type=Number(0), help="Most US dollars it may cost in all.")
@click.option("--concurrency", type=Whole(1, MOST_AT_ONCE), help="Experiments at once.")
@data_dir
def change(benchmark: str, max_cost: float | None, concurrency: int | None, data_dir: Path | None) -> None:
    """Give the running BENCHMARK (its name, its id, or how that begins) another budget or more or fewer places.

    Nothing is lost: a call that is under way ends first. A lower --max-cost sends no call that it does not hold; a
    higher one lets `koderz resume` take up what has stopped for the budget already. The budget and the
    number of experiments at once stay with the benchmark, until `koderz resume` is given others.
    """
    with workspace(data_dir) as opened:
        found = benchmark_named(opened.results, benchmark)
        pid = opened.allowing.change(found, max_cost, concurrency)
        dollars = [] if max_cost is None else [f"may cost {money(max_cost)} in all"]
        places = [] if concurrency is None else [f"has {concurrency} experiments at once"]
        _told(f"{found} {' and '.join(dollars + places)}", pid)


Act = Callable[[str, str | None], int]


def _control(prefix: str, only: str | None, data_dir: Path | None, act: Callable[[Workspace], Act], does: str) -> None:
    with workspace(data_dir) as opened:
        benchmark = benchmark_named(opened.results, prefix, "Name that, and the experiment with --only.")
        target = None if only is None else _target(opened, benchmark, only)
        pid = act(opened)(benchmark, target)
        what = benchmark if target is None else f"{target} of {benchmark}"
        _told(f"{what} {does}", pid)


def _told(what: str, pid: int) -> None:
    who = f"process {pid}, which runs it, has" if pid else "somebody runs it (process unknown) and has"
    click.echo(f"{what} within two seconds: {who} been told.")


def _target(opened: Workspace, benchmark: str, text: str) -> str:
    """The configuration or the experiment that a text means. Raises UnknownNameError, UsageError."""
    rows = opened.results.summaries(benchmark)
    if fitting := [row.configuration for row in rows if text in (row.configuration, row.label)]:
        return fitting[0]
    experiments = [row.id for row in opened.results.experiments(benchmark)]
    found = [one for one in experiments if one.startswith(text) or one.removeprefix("exp_").startswith(text)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UnknownNameError("configuration or experiment", text, [plain(row.label) for row in rows])
    raise UsageError(f"{text!r} fits several experiments: {', '.join(found[:5])}. Give more of the id.")
