"""``koderz pause``, ``koderz stop`` and ``koderz change``: control a running benchmark in any process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from koderz_core.cli.options import Number, Whole, data_dir, workspace
from koderz_core.errors import UnknownNameError, UsageError
from koderz_core.report.formats import money, plain
from koderz_core.workspace import Workspace
from koderz_core.workspace.runs import MOST_AT_ONCE

Act = Callable[[str, str | None], int]
"""Signals the process that runs a benchmark or a part of it; returns its process id, 0 if that is unknown."""


def _control(choose: Callable[[Workspace], Act]) -> click.Command:
    """The command that calls the chosen act. ``choose`` gives it its name and its help."""

    @click.command(choose.__name__, help=choose.__doc__)
    @click.argument("benchmark")
    @click.option(
        "--only",
        metavar="PART",
        help="Limit the command to one part of the benchmark: a configuration (id or label) or an experiment (id or "
        "start of an id).",
    )
    @data_dir
    def command(benchmark: str, only: str | None, data_dir: Path | None) -> None:
        with workspace(data_dir) as opened:
            narrower = f"To {choose.__name__} only this experiment: koderz {choose.__name__} "
            found = opened.names.benchmark(benchmark, narrower + "{benchmark} --only {experiment}")
            target = None if only is None else _target(opened, found, only)
            pid = choose(opened)(found, target)
            what = found if target is None else f"{target} of {found}"
            _confirm(f"{choose.__name__} {what}", pid, "; calls in progress are completed")

    return command


@_control
def pause(opened: Workspace) -> Act:
    """Pause a running benchmark. BENCHMARK is a name, an id or the start of an id.

    Experiments wait before their next model call or test run; a model call in progress ends first. `koderz resume`
    continues the experiments.
    """
    return opened.runs.pause


@_control
def stop(opened: Workspace) -> Act:
    """Stop a running benchmark. BENCHMARK is a name, an id or the start of an id.

    Experiments end before their next model call or test run and count as cancelled. Finished work is kept. `koderz
    resume` continues the experiments.
    """
    return opened.runs.stop


@click.command()
@click.argument("benchmark")
@click.option("--max-cost", metavar="USD", type=Number(0), help="New limit on the total cost of the benchmark.")
@click.option(
    "--concurrency", type=Whole(1, MOST_AT_ONCE), help="New maximum number of experiments that run at the same time."
)
@data_dir
def change(benchmark: str, max_cost: float | None, concurrency: int | None, data_dir: Path | None) -> None:
    """Change the budget or the concurrency of a running benchmark. BENCHMARK is a name, an id or the start of an id.

    Calls in progress are not interrupted. Calls that would exceed a lower --max-cost are not sent. If you raise
    --max-cost, `koderz resume` also runs the experiments that the old budget had stopped. The new budget and the new
    concurrency apply until `koderz resume` changes them.
    """
    with workspace(data_dir) as opened:
        found = opened.names.benchmark(benchmark, "Give the id of the benchmark: {benchmark}")
        pid = opened.runs.change(found, max_cost, concurrency)
        budget = [] if max_cost is None else [f"a budget of {money(max_cost)}"]
        limit = [] if concurrency is None else [f"a concurrency of {concurrency}"]
        _confirm(f"set {' and '.join(budget + limit)} for {found}", pid)


def _confirm(act: str, pid: int, remark: str = "") -> None:
    runner = f"Process {pid}" if pid else "The process that runs the benchmark"
    click.echo(f"{runner} will {act} within two seconds{remark}.")


def _target(opened: Workspace, benchmark: str, text: str) -> str:
    """The configuration or the experiment that a text means. Raises UnknownNameError, UsageError."""
    rows = opened.results.summaries(benchmark)
    if fitting := [row.configuration for row in rows if text in (row.configuration, row.label)]:
        return fitting[0]
    experiments = [row.id for row in opened.results.experiments(benchmark)]
    found = [id_ for id_ in experiments if id_.startswith(text) or id_.removeprefix("exp_").startswith(text)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UnknownNameError("configuration or experiment", text, [plain(row.label) for row in rows])
    raise UsageError(f"{text!r} matches several experiments: {', '.join(found[:5])}. Give more characters of the id.")
