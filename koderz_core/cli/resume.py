"""``koderz resume``: go on with a recorded benchmark, whatever command it was begun by."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from koderz_core.cli.benchmark import BUG, Ended, conclude, manner, perform
from koderz_core.cli.numbers import Number
from koderz_core.cli.options import as_json, data_dir, quiet, workspace
from koderz_core.cli.ordering import settings, taking_up_options, with_budget
from koderz_core.plan.command_line import strategy_named
from koderz_core.records.rows import BenchmarkRow
from koderz_core.workspace import Workspace
from koderz_core.workspace.names import benchmark_named

WHOLE = "Resume all of it: koderz resume {benchmark}"


@click.command()
@click.argument("benchmark")
@click.option("--fail-under", type=Number(0, 100), help="Exit with 4 if a configuration solves less (%).")
@click.option(
    "--strategy",
    metavar="FILE.py:NAME",
    help="Where the file of its strategy is, if it is not where it was, or another machine began this; it is executed.",
)
@taking_up_options
@quiet
@as_json
@data_dir
def resume(benchmark: str, strategy: str | None, as_json: bool, data_dir: Path | None, **options: Any) -> int:
    """Go on with BENCHMARK (its name, its id, or how that begins) as it was planned; no answer is asked for again.

    It takes up what was cancelled, interrupted or never begun. What ended as error keeps that result unless you
    --retry-errors. A benchmark that another process has paused goes on there. Its budget is the one that it was last
    given, by `koderz change` or on the Live page too; --max-cost gives it another one. The number of experiments at
    once stays as it was last allowed, unless you give --concurrency.
    """
    if strategy is not None:
        strategy_named(strategy)  # read now, it is known when the benchmark goes on
    with workspace(data_dir, **settings(options)) as opened:
        row = opened.results.benchmark(benchmark_named(opened.results, benchmark, WHOLE))
        how = manner(options, silent=as_json)
        if not how.fork and row.under_way and _waits(opened, row.id):
            opened.go_on(row.id)
            click.echo(f"{row.id} goes on where it was paused (PID {row.holder or 'unknown'}).", err=True)
            return 0
        if not how.fork and _is_finished(row, retry_errors=how.retry_errors):
            click.echo(f"{row.id} is finished: nothing is left to do.{_hint(row)}", err=True)
            ended = Ended(row.id, opened.recorded(row.id).experiments())
            return conclude(opened, ended, options["fail_under"], as_json=as_json)
        how = replace(how, concurrency=how.concurrency or opened.allowing.concurrency(row.id))
        runner = perform(opened, with_budget(opened.recorded(row.id), options), how)
        code = conclude(opened, Ended.of(runner), options["fail_under"], as_json=as_json)
        return BUG if runner.bugs else code


def _is_finished(row: BenchmarkRow, *, retry_errors: bool) -> bool:
    """Whether nothing is left to do, so that neither dataset nor models are needed."""
    ended = row.solved + row.unsolved + (0 if retry_errors else row.errors)
    return row.holder is None and ended == row.planned


def _hint(row: BenchmarkRow) -> str:
    return f" Ended as error: {row.errors}. --retry-errors runs them again." if row.errors else ""


def _waits(opened: Workspace, benchmark: str) -> bool:
    """Whether somebody has paused it, or a part of it."""
    return any(one.state == "paused" for one in opened.results.progress(benchmark).experiments)
