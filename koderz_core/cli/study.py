"""``koderz study``: one registered benchmark of a cheap model under supervision against a frontier model."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from koderz_core.cli.benchmark import RunOptions, perform, print_plan, under_last_budget
from koderz_core.cli.conclusion import FinishedRun, conclude
from koderz_core.cli.datasets import download
from koderz_core.cli.models import fetch
from koderz_core.cli.options import Number, OutputPath, Whole, data_dir, quiet, workspace
from koderz_core.errors import DataError, UsageError
from koderz_core.files import replacement
from koderz_core.plan.baselines import Proposal
from koderz_core.plan.presets import SONNET
from koderz_core.plan.study import DATASET, FRONTIER_CALLS, PROBLEMS, frontier_model, study_order
from koderz_core.report.export_request import ExportOrder
from koderz_core.report.formats import money, plain
from koderz_core.report.headline import answer
from koderz_core.workspace import Workspace
from koderz_core.workspace.datasets import sources_of

CODER = "embedded/qwen2.5-coder-1.5b"


@click.command()
@click.option(
    "--frontier",
    is_flag=False,
    flag_value="",
    default="",
    metavar="[MODEL]",
    help=f"Frontier model: the reviewer and the baseline.  [default: {SONNET}, else a frontier model with a key]",
)
@click.option("--coder", default=CODER, show_default=True, metavar="MODEL", help="The cheap model.")
@click.option("--dataset", default=DATASET, show_default=True, help="Dataset, or path of a dataset file.")
@click.option("--problems", default=PROBLEMS, show_default=True, help='"0:20", "sample:60" or "all".')
@click.option(
    "--max-cost",
    metavar="USD",
    type=Number(0, min_open=True),
    default=20.0,
    show_default=True,
    help="Limit on the total cost. The study stops before a call that could exceed it; it can be resumed.",
)
@click.option(
    "--margin",
    metavar="POINTS",
    type=Number(0, 100, min_open=True, max_open=True),
    default=10.0,
    show_default=True,
    help="How many percentage points fewer problems still count as a match.",
)
@click.option("--concurrency", type=Whole(1, 256), help="Number of experiments to run at the same time.")
@click.option("--plan-only", is_flag=True, help="Print the plan, the hash and the highest cost; run nothing.")
@click.option("--out", type=OutputPath(), metavar="FILE", help="The report as HTML.  [default: study-ID.html]")
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
    """Measure whether a cheap model under frontier supervision matches a frontier model. The plan is registered.

    Five configurations run on the same problems: the cheap model with reviews by the frontier model (A), the frontier
    model alone (B), the cheap model alone, the cheap model with five tries, and escalation from the cheap model to the
    frontier model. The primary comparison is A with B. All loops see only the examples in the problem's text; held-out
    tests decide.

    The command downloads the dataset and the embedded model if they are missing. The same command resumes a study that
    was stopped. If the budget was too small, use `koderz resume` with a larger --max-cost.
    """
    with workspace(data_dir) as opened:
        if not plan_only:
            _prepare(opened, dataset, coder)
        order = study_order(coder, frontier or _frontier(opened, plan_only=plan_only), problems, max_cost, margin / 100)
        offer = opened.plans.propose(order, dataset, baselines=False)
        if plan_only:
            opened.costs.check(offer.plan)
            return print_plan(opened, offer, concurrency, as_json=False) or _print_price(opened, offer)
        mode = RunOptions(concurrency, quiet=quiet)
        runner = perform(opened, under_last_budget(opened, offer.plan, mode), mode)
        code = conclude(opened, FinishedRun.of(runner), None, as_json=False)
        path = out or Path(f"study-{runner.benchmark}.html")
        _write_report(opened, runner.benchmark, path)
        click.echo(f"Report: {plain(str(path))}\n")
        _print_result(opened, runner.benchmark)
        return code


def _prepare(opened: Workspace, dataset: str, coder: str) -> None:
    """Download what is missing."""
    for source in sources_of(dataset):
        download(opened, source)
    if opened.models.full_name(coder).startswith("embedded/"):
        fetch(opened, coder)


def _frontier(opened: Workspace, *, plan_only: bool) -> str:
    """The frontier model that can be called. Raises UsageError without one, except for a plan."""
    found = frontier_model(opened.models.survey())
    if found is None and not plan_only:
        raise UsageError(
            "No frontier model can be called, because no key is set. Set ANTHROPIC_API_KEY or OPENAI_API_KEY in the "
            "environment or in .env, or name a model with --frontier. To see the plan without a key, add --plan-only."
        )
    return found or SONNET


def _print_price(opened: Workspace, offer: Proposal) -> int:
    usd = opened.costs.price(offer.plan, [offer.plan.configurations[1]], opened.datasets.load(offer.plan.dataset.name))
    click.echo(
        f"The frontier model alone costs {usd}. In the other configurations, it is called at most {FRONTIER_CALLS} "
        f"times per problem. The budget limits the total cost to {money(offer.plan.budget.usd)}."
    )
    return 0


def _print_result(opened: Workspace, benchmark: str) -> None:
    comparison = opened.comparisons.compare(opened.comparisons.named([benchmark]))
    for line in answer(comparison).lines:
        click.echo(plain(line))


def _write_report(opened: Workspace, benchmark: str, path: Path) -> None:
    try:
        with (
            opened.exports.file(ExportOrder("comparison", "html", (benchmark,))) as made,
            replacement(path, private=False) as file,
        ):
            shutil.copyfileobj(made, file)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}. Choose another file with --out.") from error
