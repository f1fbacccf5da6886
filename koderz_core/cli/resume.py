"""``koderz resume``: continue a recorded benchmark, whichever command started it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from koderz_core.cli.benchmark import BUG, perform, run_options
from koderz_core.cli.conclusion import FinishedRun, conclude
from koderz_core.cli.options import GroupedCommand, as_json, data_dir, fail_under, option, print_json, quiet, workspace
from koderz_core.cli.order import settings, with_budget
from koderz_core.cli.order_options import taking_up_options
from koderz_core.errors import PlanError, UsageError
from koderz_core.plan.command_line import strategy_named
from koderz_core.records import Plan
from koderz_core.records.rows import BenchmarkRow
from koderz_core.report.registration import decided
from koderz_core.workspace import Workspace

_OF_PAUSED = frozenset({"benchmark", "max_cost", "concurrency", "quiet", "as_json", "data_dir"})
"""The parameters of `koderz resume`, by their names after parsing, that also take effect if another process has paused
the benchmark.
"""
WHOLE = "To resume the whole benchmark: koderz resume {benchmark}"


@click.command(cls=GroupedCommand)
@click.argument("benchmark")
@fail_under
@option(
    "Strategy",
    "--strategy",
    metavar="FILE.py:NAME",
    help="Load the benchmark's strategy from this file and class. Needed only if the file has moved. koderz executes "
    "the file.",
)
@taking_up_options
@quiet
@as_json
@data_dir
def resume(benchmark: str, strategy: str | None, as_json: bool, data_dir: Path | None, **options: Any) -> int:
    """Resume a benchmark. BENCHMARK is a name, an id or the start of an id.

    The command runs experiments that were cancelled, interrupted or not started. Recorded answers are reused and cost
    nothing. Experiments that ended with an error are not run again unless you add --retry-errors. If the benchmark is
    paused in another process, it continues in that process. Budget and concurrency keep the values that were last set,
    for example by `koderz change` or on the Live page. To change them, add --max-cost or --concurrency.
    """
    named = None if strategy is None else strategy_named(strategy)  # the benchmark finds a loaded strategy
    with workspace(data_dir, **settings(options)) as opened:
        row = opened.results.benchmark(opened.names.benchmark(benchmark, WHOLE))
        mode = run_options(options, silent=as_json)
        if not mode.fork and row.under_way and _waits(opened, row.id):
            return _unpause(opened, row, options, as_json=as_json)
        if not mode.fork and row.decision and row.holder is None:
            click.echo(decided(row.decision, row.decided_by or 0, row.problems), err=True)
            ended = FinishedRun(row.id, opened.runs.recorded(row.id).experiments(), decided=True)
            return conclude(opened, ended, options["fail_under"], as_json=as_json)
        if not mode.fork and _is_finished(row, retry_errors=mode.retry_errors):
            click.echo(f"{row.id} is finished. Nothing is left to run.{_hint(row)}", err=True)
            ended = FinishedRun(row.id, opened.runs.recorded(row.id).experiments())
            return conclude(opened, ended, options["fail_under"], as_json=as_json)
        mode = replace(mode, concurrency=mode.concurrency or opened.runs.last_concurrency(row.id))
        recorded = opened.runs.recorded(row.id)
        if named is not None:
            _check_strategy(recorded, named)
        runner = perform(opened, with_budget(recorded, options), mode)
        code = conclude(opened, FinishedRun.of(runner), options["fail_under"], as_json=as_json)
        return BUG if runner.bugs else code


def _check_strategy(plan: Plan, name: str) -> None:
    """Raise PlanError if a benchmark does not use a strategy, such as one in a changed file: it would be ignored."""
    used = dict.fromkeys(configuration.strategy for configuration in plan.configurations)
    if name not in used:
        raise PlanError(
            f"{plan.id} does not use the strategy {name}. Its strategies: {', '.join(used)}. The characters after @ "
            "are the beginning of the SHA-256 of a strategy's file. Give the path of the unchanged file, or omit "
            "--strategy."
        )


def _unpause(opened: Workspace, row: BenchmarkRow, options: Mapping[str, Any], *, as_json: bool) -> int:
    """Continue a benchmark in the process that paused it. Raises UsageError for options that this process ignores."""
    process = f"PID {row.holder or 'unknown'}"
    context = click.get_current_context()
    others = {option.name: option.opts[0] for option in context.command.params if option.name not in _OF_PAUSED}
    source = context.get_parameter_source
    if ignored := [flag for name, flag in others.items() if source(name or "") is ParameterSource.COMMANDLINE]:
        raise UsageError(
            f"{row.id} is paused in another process ({process}), which continues with the options with which it was "
            f"started. Omit {', '.join(ignored)}, or first stop the benchmark: koderz stop {row.id}"
        )
    if options["max_cost"] is not None or options["concurrency"] is not None:
        opened.runs.change(row.id, options["max_cost"], options["concurrency"])
    opened.runs.unpause(row.id)
    click.echo(f"Resumed {row.id} in the process that had paused it ({process}).", err=True)
    if as_json:
        print_json(opened.results.summaries(row.id))
    return 0


def _is_finished(row: BenchmarkRow, *, retry_errors: bool) -> bool:
    """Whether nothing is left to do, so that neither dataset nor models are needed."""
    ended = row.solved + row.unsolved + (0 if retry_errors else row.errors)
    return row.holder is None and ended == row.planned


def _hint(row: BenchmarkRow) -> str:
    return f" Experiments with an error: {row.errors}. To run them again, add --retry-errors." if row.errors else ""


def _waits(opened: Workspace, benchmark: str) -> bool:
    """Whether it, or a part of it, is paused."""
    return any(experiment.state == "paused" for experiment in opened.results.progress(benchmark).experiments)
