"""``koderz benchmark`` and ``koderz run``: strategies on problems, live, with an honest exit code."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from koderz_core.cli.analyze import print_details
from koderz_core.cli.options import as_json, data_dir, print_json, report_faults, workspace
from koderz_core.cli.ordering import order, order_options, settings
from koderz_core.cli.progress import Progress
from koderz_core.cli.tables import print_summaries
from koderz_core.errors import PlanError
from koderz_core.records import Plan
from koderz_core.records.summaries import SummaryRow
from koderz_core.runner.runner import Runner
from koderz_core.runner.running import default_concurrency
from koderz_core.workspace import Workspace


class Percent(click.FloatRange):
    """Click lets nan through, which no rate is ever under."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # Any: click's
        number = super().convert(value, param, ctx)
        return self.fail("nan is no percentage.", param, ctx) if math.isnan(number) else number


UNSOLVED, INFRASTRUCTURE, BUG = 4, 3, 1


@click.command()
@click.option("--problems", help='"0:20", "HumanEval/3,7", "sample:20" or "all".  [default: 0:10]')
@click.option("--start", type=click.IntRange(0), default=0, help="First problem, if --problems is not given.")
@click.option("--end", type=click.IntRange(1), default=10, help="Behind the last one, if --problems is not given.")
@click.option("--repeats", type=click.IntRange(1), default=1, show_default=True, help="Of every experiment.")
@click.option("--fail-under", type=Percent(0, 100), help="Exit with 4 if a configuration solves less (%).")
@order_options
@as_json
@data_dir
def benchmark(problems: str | None, as_json: bool, data_dir: Path | None, **options: Any) -> int:
    """Run one or more strategies on a set of problems. The same command again goes on where it stopped."""
    chosen = f"{options['start']}:{options['end']}" if problems is None else problems
    with workspace(data_dir, **settings(options)) as opened:
        plan = opened.plan(order(options, chosen, options["repeats"]), options["dataset"])
        runner = perform(opened, plan, options["concurrency"], quiet=as_json)
        rows = opened.results.summaries(plan.id)
        if as_json:
            print_json(rows)
        else:
            print_summaries(rows)
            click.echo(f"\nLook closer: koderz analyze {plan.id}")
        return _exit_code(opened, runner, rows, options["fail_under"])


@click.command()
@click.option("--problem-id", required=True, help="For example HumanEval/0.")
@order_options
@as_json
@data_dir
def run(problem_id: str, as_json: bool, data_dir: Path | None, **options: Any) -> int:
    """Run one problem; exits with 0 if every strategy solved it and with 4 if one did not."""
    with workspace(data_dir, **settings(options)) as opened:
        plan = opened.plan(order(options, problem_id), options["dataset"])
        if len(plan.problems) != 1:
            raise PlanError(f"{problem_id!r} names {len(plan.problems)} problems. For several: koderz benchmark.")
        runner = perform(opened, plan, options["concurrency"], quiet=as_json)
        details = [opened.results.experiment(experiment.id) for experiment in plan.experiments()]
        rows = opened.results.summaries(plan.id)
        if as_json:
            print_json(details)
        else:
            for one in details:
                print_details(one)
        return _exit_code(opened, runner, rows, fail_under=100.0)


def perform(opened: Workspace, plan: Plan, concurrency: int | None = None, *, quiet: bool = False) -> Runner:
    """Run a plan to its end, with a live line."""
    progress = Progress(quiet=quiet)
    with opened.runner(plan, [progress.watch]) as runner:
        if not quiet:
            _announce(plan, runner)
        runner.start(concurrency or default_concurrency(plan))
        progress.follow(runner)
    return runner


def _announce(plan: Plan, runner: Runner) -> None:
    experiments = len(plan.experiments())
    known = experiments - runner.remaining
    already = f", {known} of them done before" if known else ""
    click.echo(f"{plan.id}: {len(plan.problems)} problems, {experiments} experiments{already}.", err=True)
    if any(name.startswith("scripted/") for name in plan.models()):
        click.echo(
            "SCRIPTED: these answers come from a script, not from a model. They show nothing about models.", err=True
        )


def _exit_code(opened: Workspace, runner: Runner, rows: list[SummaryRow], fail_under: float | None) -> int:
    unread = report_faults(opened)
    if runner.bugs:
        return BUG
    if not rows or any(row.errors for row in rows):
        return unread or INFRASTRUCTURE
    if fail_under is not None and any(row.solved * 100 < fail_under * (row.solved + row.unsolved) for row in rows):
        return UNSOLVED
    return 0
