"""``koderz benchmark`` and ``koderz run``: forecast, live run, results and exit code of strategies on problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click

from koderz_core.cli import registration
from koderz_core.cli.analyze import print_details
from koderz_core.cli.conclusion import FinishedRun, conclude, exit_code, print_spending
from koderz_core.cli.options import (
    GroupedCommand,
    Whole,
    advised,
    as_json,
    data_dir,
    fail_under,
    option,
    print_json,
    quiet,
    workspace,
)
from koderz_core.cli.order import about_strategy, order, problems_in, settings
from koderz_core.cli.order_options import order_options, problem_options
from koderz_core.cli.progress import (
    DebugFiles,
    Progress,
    check_timing,
    debug_folder,
    debug_options,
    show_timing,
    timing_options,
)
from koderz_core.cli.signals import interruptible
from koderz_core.errors import Cancelled, PlanError
from koderz_core.plan.baselines import Proposal
from koderz_core.plan.ineffective import ineffective
from koderz_core.plan.selection import choices
from koderz_core.plan.shards import shard_numbers
from koderz_core.records import Plan
from koderz_core.records.plans import SCRIPTED, default_concurrency, scripted
from koderz_core.records.progress import Forecast, Receipt
from koderz_core.report.forecasts import between, kept_budget, receipt
from koderz_core.report.formats import count, duration, isolation, money, numbered, plain
from koderz_core.workspace import Workspace
from koderz_core.workspace.grading import gate_remarks
from koderz_core.workspace.runs import Runner

BUG = 1
ALL = 100.0  # per cent
_PILOT = "To get an estimate, first run five problems with --pilot 5."


def _persistent(_context: click.Context, _option: click.Parameter, persistent: bool) -> None:
    """An option of the original koderz, for its scripts."""
    if not persistent:
        said = "--no-persistent-cortex has no effect: koderz always uses one connection to the memory server."
        click.echo(said, err=True)


@click.command(cls=GroupedCommand)
@problem_options
@fail_under
@option(
    "Problems",
    "--pilot",
    metavar="N",
    type=Whole(1),
    help="Run N random problems, then estimate the cost and time of the rest.",
)
@option(
    "Problems",
    "--shard",
    metavar="N/COUNT",
    advanced=True,
    help="Run only shard N of COUNT; `koderz merge` merges the shards. auto: the Slurm job array sets N and COUNT.",
)
@registration.registration_options
@option("Output", "--plan-only", is_flag=True, help="Print the plan and the estimate; run nothing.")
@timing_options
@option(
    "Output",
    "--persistent-cortex/--no-persistent-cortex",
    default=True,
    hidden=True,
    expose_value=False,
    callback=_persistent,
)
@debug_options
@order_options
@option(
    "Strategy",
    "--baselines/--no-baselines",
    default=True,
    show_default=True,
    help="For supervised: also run the coder and stronger models (strategy direct) as baselines. Earlier results are "
    "reused.",
)
@option(
    "Models and roles",
    "--baseline-model",
    metavar="MODEL",
    advanced=True,
    help="Also run MODEL with the strategy direct, as a baseline. Earlier results are reused.",
)
@quiet
@as_json
@data_dir
def benchmark(as_json: bool, data_dir: Path | None, **options: Any) -> int:
    """Run strategies on a set of problems. The same command resumes a benchmark that was stopped.

    With --name, you can extend a benchmark: repeat the command with more problems, configurations or repeats. `koderz
    resume` then runs the extended benchmark. Without --name, a changed command makes a new benchmark. If you
    changed the budget during the run, repeating the command does not reset it.
    """
    check_timing(options, as_json=as_json)
    with workspace(data_dir, **settings(options)) as opened:
        name = options["preset"]
        preset = None if name is None else opened.plans.preset(name, opened.models.survey())
        wanted = order(options, problems_in(options, preset), options["repeats"], preset)
        wanted = replace(wanted, registration=registration.registration_order(options))
        dataset = opened.datasets.name_of(options["dataset"], options["mapping"], options["variant"])
        shard = options["shard"] and shard_numbers(options["shard"])
        offer = opened.plans.propose(
            wanted, dataset, baselines=options["baselines"], named=options["baseline_model"], reuse=not shard
        )
        offer = _divided(offer, shard, options) if shard else offer
        for line in () if as_json else about_strategy(options):
            click.echo(line, err=True)
        mode = replace(run_options(options, silent=as_json), pilot=options["pilot"], debug_dir=debug_folder(options))
        asked, offer = offer.plan, replace(offer, plan=under_last_budget(opened, offer.plan, mode))
        if options["plan_only"]:
            return _only_plan(opened, offer, asked, mode, as_json=as_json)
        for line in () if as_json else _offered(offer):
            click.echo(line, err=True)
        runner = perform(opened, offer.plan, mode)
        code = conclude(opened, FinishedRun.of(runner), options["fail_under"], as_json=as_json)
        show_timing(opened, runner.benchmark, options)
        if options["pilot"] and not as_json:
            rest = replace(offer, plan=runner.asked)
            print_plan(opened, rest, mode.concurrency, as_json=False, retry_errors=mode.retry_errors)
        return BUG if runner.bugs else code


@click.command(cls=GroupedCommand)
@option("Problems", "--problem-id", required=True, help="Problem to run, for example HumanEval/0.")
@debug_options
@order_options
@quiet
@as_json
@data_dir
def run(problem_id: str, as_json: bool, data_dir: Path | None, **options: Any) -> int:
    """Run one problem. The exit code is 0 if every strategy solves the problem, and 4 if a strategy does not."""
    with workspace(data_dir, **settings(options)) as opened:
        dataset = opened.datasets.name_of(options["dataset"], options["mapping"], options["variant"])
        plan = opened.plans.plan(order(options, problem_id), dataset)
        if len(plan.problems) != 1:
            names = f"{problem_id!r} names {len(plan.problems)} problems"
            raise PlanError(f"{names}, but `koderz run` runs only one problem. Use `koderz benchmark`.")
        mode = replace(run_options(options, silent=as_json), debug_dir=debug_folder(options))
        for line in () if as_json else about_strategy(options, alone=True):
            click.echo(line, err=True)
        runner = perform(opened, under_last_budget(opened, plan, mode), mode)
        details = [opened.results.experiment(experiment.id) for experiment in runner.experiments]
        if as_json:
            print_json(details)
        else:
            for detail in details:
                print_details(detail)
            print_spending(opened, opened.results.summaries(runner.benchmark))
            first = runner.experiments[0].id
            analyze, ui = advised(f"koderz analyze {first} --dump DIR"), advised("koderz ui")
            click.echo(f"\nFor all prompts and answers: {analyze}, or {ui}")
        code = exit_code(opened, FinishedRun.of(runner), ALL)
        return BUG if runner.bugs else code


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run a plan. ``fork``: a copy, from the start; ``pilot``: how many problems, None for all.

    ``silent``: print nothing during the run; ``quiet``: no line per iteration. ``debug_dir``: the folder for the files
    of every experiment that has ended. ``engine``: where the experiments run.
    """

    concurrency: int | None = None
    silent: bool = False
    quiet: bool = False
    retry_errors: bool = False
    fork: bool = False
    pilot: int | None = None
    debug_dir: Path | None = None
    engine: str = "local"


def run_options(options: Mapping[str, Any], *, silent: bool) -> RunOptions:
    """The part of the parsed options that says how to run a plan."""
    return RunOptions(
        options["concurrency"],
        silent,
        options["quiet"],
        options["retry_errors"],
        options["fork"],
        engine=options["engine"],
    )


def perform(opened: Workspace, plan: Plan, mode: RunOptions = RunOptions()) -> Runner:
    """Run a plan to its end with live progress; returns the runner, which also knows the results from before."""
    progress = Progress(silent=mode.silent, quiet=mode.quiet)
    origin = plan.id if mode.fork else None
    plan = opened.runs.fork(plan) if mode.fork else plan
    forecast = opened.costs.forecast_or_none(plan, mode.concurrency, retry_errors=mode.retry_errors)
    debug = DebugFiles(opened.experiments, plan, mode.debug_dir)
    with (
        closing(opened.runs.engines.open(mode.engine, plan, mode.concurrency)) as engine,
        opened.runs.runner(
            plan,
            [progress.watch, debug.watch],
            retry_errors=mode.retry_errors,
            forked_from=origin,
            pilot=mode.pilot,
            engine=engine,
        ) as runner,
        debug,
        interruptible(runner, opened) as heed,  # first: a reader of the announcement may press Ctrl-C at once
    ):
        progress.begin(runner.header)
        if not mode.silent:
            _announce(runner, origin, forecast)
        runner.with_forecast(None if mode.pilot else forecast).start(
            mode.concurrency or engine.concurrency or default_concurrency(runner.asked)
        )
        progress.follow(runner, debug.with_writing(heed))
    if runner.stopping:
        resume = advised(f"koderz resume {runner.benchmark}")
        raise Cancelled(f"{runner.benchmark} was stopped. Finished work is kept. To continue: {resume}")
    if runner.used_up:
        click.echo(runner.used_up, err=True)
    for line in registration.decision_lines(opened, runner):
        click.echo(line, err=True)
    if not mode.silent:
        whole = None if mode.pilot or runner.used_up or runner.decided else forecast
        click.echo(receipt(Receipt(whole, progress.cost_usd, progress.seconds)), err=True)
    return runner


def _divided(offer: Proposal, shard: tuple[int, int], options: Mapping[str, Any]) -> Proposal:
    """The part of a proposal that one shard runs. Raises PlanError for options that shards could read differently."""
    others = " and ".join(f"--{name}" for name in ("pilot", "fork") if options[name])
    if others:
        raise PlanError(f"--shard cannot be combined with {others}. Omit --shard, or omit {others}.")
    if offer.plan.selections:
        raise PlanError(
            "With --shard, name every model instead of `select:POLICY`: a policy uses the results in the data folder, "
            "so it could select different models for different shards."
        )
    return replace(offer, plan=offer.plan.part(*shard))


def under_last_budget(opened: Workspace, plan: Plan, mode: RunOptions) -> Plan:
    """The plan with the budget that it was given during the run, unless it starts as a fork."""
    changed = plan if mode.fork else opened.runs.under_last_budget(plan)
    if changed.budget != plan.budget:
        click.echo(advised(kept_budget(changed)), err=True)
    return changed


def _offered(offer: Proposal) -> Iterator[str]:
    yield from offer.sentences
    if offer.skippable:
        yield "To skip these baselines, add --no-baselines. Without them, the effect of supervision cannot be measured."


def _only_plan(opened: Workspace, offer: Proposal, asked: Plan, mode: RunOptions, *, as_json: bool) -> int:
    """Print what the same command would run without --plan-only. ``asked``: as ``registered`` of ``print_plan``."""
    if mode.fork:
        asked = opened.runs.fork(asked)
        offer = replace(offer, plan=asked)
    opened.costs.check(offer.plan)  # a plan that would be refused needs no estimate
    retry = mode.retry_errors
    return print_plan(opened, offer, mode.concurrency, as_json=as_json, registered=asked, retry_errors=retry)


def print_plan(
    opened: Workspace,
    offer: Proposal,
    concurrency: int | None,
    *,
    as_json: bool,
    registered: Plan | None = None,
    retry_errors: bool = False,
) -> int:
    """Print what remains of a plan, with an estimate. ``registered``: the plan before its budget was changed.

    ``retry_errors``: experiments that ended with an error also remain.
    """
    plan = offer.plan
    forecast = opened.costs.forecast(plan, concurrency, retry_errors=retry_errors)
    can_show = opened.comparisons.can_show(plan)
    if as_json:
        more = {"can_show": can_show, "baselines": offer.sentences}
        print_json({**asdict(forecast), **more, **registration.registration_document(registered or plan)})
        return 0
    click.echo(f"{_size(plan, len(plan.experiments()))}.")
    remarks = opened.runs.remarks(plan)
    for line in (
        plain(can_show),
        *remarks,
        *ineffective(plan),
        *_offered(offer),
        *registration.registration_lines(registered or plan),
        *forecast_lines(forecast),
        *warnings(forecast, plan),
    ):
        click.echo(line)
    if forecast.unknown:
        how = "koderz estimates these values while the benchmark runs." if plan.registration else _PILOT
        click.echo(
            f"Remaining: {numbered(forecast.experiments, 'experiment')}. No estimate of calls, cost and time yet: too "
            f"few similar experiments have finished. {how}"
        )
    return 0


def _announce(runner: Runner, origin: str | None, forecast: Forecast | None) -> None:
    plan, experiments = runner.asked, len(runner.experiments)
    known = experiments - runner.remaining
    already = f", {known} of them already done" if known else ""
    click.echo(f"{_size(plan, experiments)}{already}.", err=True)
    click.echo(f"Isolation: {isolation(runner.header.isolation, runner.header.self_test)}.", err=True)
    estimate = (*forecast_lines(forecast), *warnings(forecast, plan)) if forecast else ()
    registered = registration.registration_lines(runner.plan, runner.recorded)
    for line in (*choices(plan), *ineffective(plan), *registered, *estimate, *_remarks(runner, origin)):
        click.echo(line, err=True)


def _size(plan: Plan, experiments: int) -> str:
    return f"{plan.id}: {numbered(len(plan.problems), 'problem')}, {numbered(experiments, 'experiment')}"


def _remarks(runner: Runner, origin: str | None) -> Iterator[str]:
    plan, before = runner.plan, runner.recorded
    if origin:
        yield f"{plain(plan.name)} is a fork of {origin}. To resume it later: {advised(f'koderz resume {plan.id}')}"
    if before is not None and _added(plan, before):
        yield f"Added to the recorded benchmark: {_added(plan, before)}."
    yield from gate_remarks(plan)
    if runner.left_out:
        omitted = numbered(runner.left_out, "experiment")
        whole = advised(f"koderz resume {plan.id}")
        yield f"This command leaves out {omitted} of the benchmark. To run the whole benchmark: {whole}"
    if runner.kept_errors:
        yield f"Experiments that ended with an error: {runner.kept_errors}. To run them again, add --retry-errors."
    if scripted(plan.models()):
        yield f"{SCRIPTED} The results show nothing about real models."


def _added(plan: Plan, before: Plan) -> str:
    pairs = (
        ("problems", len(plan.problems) - len(before.problems)),
        ("configurations", len(plan.configurations) - len(before.configurations)),
        ("repeats", plan.repeats - before.repeats),
    )
    return ", ".join(f"{number} {what if number > 1 else what[:-1]}" for what, number in pairs if number)


def forecast_lines(forecast: Forecast) -> Iterator[str]:
    """The estimate; no line if it is unknown or nothing remains."""
    if forecast.tells:
        calls = between(forecast.calls, lambda number: count(round(number)))
        yield f"Remaining: {numbered(forecast.experiments, 'experiment')}. Estimated calls: {calls}."
        yield f"Cost: {between(forecast.cost_usd, money)}. Time: {between(forecast.seconds, duration)}."
        past = numbered(forecast.past, "finished experiment")
        harder = "If the remaining experiments have harder problems or slower models"
        yield f"Estimated from {past}. {harder}, the benchmark takes longer than estimated."


def warnings(forecast: Forecast, plan: Plan) -> Iterator[str]:
    """What to know about the cost before the first call."""
    for model in forecast.unpriced:
        yield f"No price is known for {plain(model)}, so koderz can neither report nor limit the cost of this model."
    if forecast.may_exceed(plan.budget.usd):
        usd = money(plan.budget.usd)
        yield f"The total budget of {usd} may not be enough. Money already spent counts against this budget."
