"""``koderz study``: one registered benchmark of a cheap model under supervision against a frontier model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
from click.core import ParameterSource

from koderz_core.cli.benchmark import RunOptions, perform, print_plan, under_last_budget
from koderz_core.cli.bundle import write_file
from koderz_core.cli.conclusion import FinishedRun, conclude
from koderz_core.cli.datasets import download
from koderz_core.cli.models import fetch
from koderz_core.cli.options import Number, OutputPath, Whole, advised, check_writable, data_dir, quiet, workspace
from koderz_core.errors import PlanError, UsageError
from koderz_core.plan.baselines import Proposal
from koderz_core.plan.presets import SONNET
from koderz_core.plan.study import DATASET, FRONTIER, FRONTIER_CALLS, PROBLEMS, frontier_model, study_order
from koderz_core.records import Plan
from koderz_core.report.export_request import ExportOrder
from koderz_core.report.formats import money, plain
from koderz_core.report.headline import answer
from koderz_core.workspace import Workspace
from koderz_core.workspace.datasets import sources_of

CODER = "embedded/qwen2.5-coder-1.5b"
REPORT = "study-{}.html"


@click.command()
@click.option(
    "--frontier",
    is_flag=False,
    flag_value="",
    default="",
    metavar="[MODEL]",
    help=f"Frontier model: the reviewer and the baseline.  [default: {FRONTIER[0]}, or {FRONTIER[1]} if only its "
    "key is set]",
)
@click.option("--coder", default=CODER, show_default=True, metavar="MODEL", help="The cheap model.")
@click.option("--dataset", default=DATASET, show_default=True, help="Dataset, or path of a dataset file.")
@click.option("--problems", default=PROBLEMS, show_default=True, help='Problems to run: "0:20", "sample:60" or "all".')
@click.option(
    "--max-cost",
    metavar="USD",
    type=Number(0, min_open=True),
    default=20.0,
    show_default=True,
    help="Limit on the total cost. The study stops before a call that could exceed it.",
)
@click.option(
    "--margin",
    metavar="POINTS",
    type=Number(0, 100, min_open=True, max_open=True),
    default=10.0,
    show_default=True,
    help="Margin: A matches B if A's success rate is significantly above B's rate minus POINTS percentage points.",
)
@click.option("--concurrency", type=Whole(1, 256), help="Number of experiments to run at the same time.")
@click.option(
    "--plan-only",
    is_flag=True,
    help="Print the plan, its hash and the cost of configuration B (the frontier model alone); call no model.",
)
@click.option("--out", type=OutputPath(), metavar="FILE", help="HTML file of the report.  [default: study-ID.html]")
@quiet
@data_dir
def study(  # noqa: PLR0913, PLR0917 (one argument per option)
    frontier: str,
    coder: str,
    dataset: str,
    problems: str,
    max_cost: float,
    margin: float,
    concurrency: int | None,
    plan_only: bool,
    out: Path | None,
    quiet: bool,
    data_dir: Path | None,
) -> int:
    """Measure whether a cheap model under frontier supervision matches a frontier model.

    Five configurations run on the same problems: the cheap model with reviews by the frontier model (A), the frontier
    model alone (B), the cheap model alone, the cheap model with up to five attempts, and escalation from the cheap
    model to the frontier model. koderz registers the plan before the first call. The primary comparison is between A
    and B. The examples in the problem's text are the gate tests, which decide when a strategy stops; held-out tests
    score the programs.

    The command downloads the dataset and the embedded model if they are missing. The same command resumes a study that
    was stopped, and retries experiments that ended with an error. If the budget was too small, repeat the command with
    a larger --max-cost. A smaller amount applies only if the study was never started or resumed with this amount.
    """
    check_writable(out or Path.cwd() / REPORT)
    with workspace(data_dir) as opened:
        model = opened.models.full_name(frontier) if frontier else _frontier(opened, plan_only=plan_only)
        _require_price(opened, model)
        for source in sources_of(dataset):
            download(opened, source)
        order = study_order(opened.models.full_name(coder), model, problems, max_cost, margin / 100)
        asked = opened.plans.propose(order, dataset, baselines=False)
        mode = RunOptions(concurrency, quiet=quiet, retry_errors=True)
        offer = replace(asked, plan=_under_its_budget(opened, asked.plan, mode))
        if plan_only:
            return _print_plan(opened, offer, concurrency, registered=asked.plan)
        _fetch_weights(opened, opened.models.full_name(coder))
        return _run(opened, offer.plan, mode, out)


def _fetch_weights(opened: Workspace, coder: str) -> None:
    """Download the weights of an embedded coder (by id).

    Before any download, raises ModelError if the model cannot run, and SandboxError if no program can run.
    """
    if coder.startswith("embedded/"):
        opened.models.require_runtime(coder)
        opened.grading.sandbox.self_test()
        fetch(opened, coder)


def _run(opened: Workspace, plan: Plan, mode: RunOptions, out: Path | None) -> int:
    runner = perform(opened, plan, mode)
    code = conclude(opened, FinishedRun.of(runner), None, as_json=False)
    _print_result(opened, runner.benchmark)
    path = out or Path(REPORT.format(runner.benchmark))
    with opened.exports.file(ExportOrder("comparison", "html", (runner.benchmark,))) as made:
        write_file(made, path)
    click.echo(f"\nReport: {plain(str(path))}")
    return code


def _frontier(opened: Workspace, *, plan_only: bool) -> str:
    """The default frontier model. Raises UsageError if it cannot be called, except for a plan."""
    found = frontier_model(opened.models.survey())
    if found is None and not plan_only:
        raise UsageError(
            f"Neither {' nor '.join(FRONTIER)} can be called. Set ANTHROPIC_API_KEY or OPENAI_API_KEY in the "
            "environment or in .env, or name another model with --frontier. Without a key, --plan-only shows the plan."
        )
    return found or SONNET


def _require_price(opened: Workspace, model: str) -> None:
    """Raise PlanError for a model without a known price: neither its cost nor the budget would mean anything."""
    if opened.models.about(model).sample_cost.usd is None:
        raise PlanError(
            f"No price is known for {model}, so its cost can be neither compared nor limited. Choose another model "
            "with --frontier, or state its price in models.toml (docs/models.md)."
        )


def _under_its_budget(opened: Workspace, plan: Plan, mode: RunOptions) -> Plan:
    """The plan with the budget of the recorded study, unless the command states a larger or a new amount.

    So the same command never lowers a budget, and a command without an amount never changes it.
    """
    plan = under_last_budget(opened, plan, mode)
    if not any(row.id == plan.id for row in opened.results.benchmarks()):
        return plan
    recorded, usd = opened.runs.recorded(plan.id).budget, plan.budget.usd
    given = click.get_current_context().get_parameter_source("max_cost") is ParameterSource.COMMANDLINE
    raised = usd is not None and recorded.usd is not None and usd > recorded.usd
    if usd == recorded.usd or (given and (raised or usd not in opened.runs.stated_budgets(plan.id))):
        return plan
    resume = advised(f"koderz resume {plan.id} --max-cost USD")
    click.echo(f"The study keeps its budget of {money(recorded.usd)}. To set another budget: {resume}", err=True)
    return replace(plan, budget=recorded)


def _print_plan(opened: Workspace, offer: Proposal, concurrency: int | None, registered: Plan) -> int:
    print_plan(opened, offer, concurrency, as_json=False, registered=registered, retry_errors=True)
    usd = opened.costs.price(offer.plan, [offer.plan.configurations[1]], opened.datasets.load(offer.plan.dataset.name))
    click.echo(
        f"The configuration with only the frontier model costs {usd}. The other four configurations together call this "
        f"model at most {FRONTIER_CALLS} times per problem. The budget limits the total cost to "
        f"{money(offer.plan.budget.usd)}."
    )
    return 0


def _print_result(opened: Workspace, benchmark: str) -> None:
    """The primary comparison first."""
    click.echo()
    for line in answer(opened.comparisons.compare(opened.comparisons.named([benchmark]))).lines:
        click.echo(plain(line))
