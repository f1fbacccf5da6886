"""``koderz quickstart`` and ``koderz example``: a first table from a free local model, or from a recorded benchmark."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from koderz_core import Order, Wanted
from koderz_core.cli.benchmark import RunOptions, perform, under_last_budget
from koderz_core.cli.conclusion import FinishedRun, exit_code, print_spending
from koderz_core.cli.models import fetch
from koderz_core.cli.options import advised, data_dir, quiet, report_faults, workspace
from koderz_core.cli.order_options import DEFAULT_CODER
from koderz_core.cli.tables import print_summaries
from koderz_core.cli.ui import show
from koderz_core.errors import PlanError, WeightsError
from koderz_core.report.formats import plain
from koderz_core.workspace import Workspace
from koderz_core.workspace.upkeep import ABOUT_EXAMPLE, how_to_remove

FALLBACK = "embedded/smollm2-135m"
PROBLEMS = "0:5"
FREE_PORT = 0  # another dashboard may use the default port
_LARGER = "koderz benchmark --problems 0:20 --strategy direct,supervised --max-iterations 10"
PARAMETERS = {"max_iterations": 5, "checkpoint_interval": 3}


@click.command()
@click.option("--no-ui", is_flag=True, help="Do not open the dashboard afterwards.")
@quiet
@data_dir
def quickstart(no_ui: bool, quiet: bool, data_dir: Path | None) -> int:
    """Run 5 problems with two strategies on a local model and show the results.

    Runs `direct` and `supervised` on HumanEval. Uses a model that Ollama or LM Studio serves. If neither serves a
    model, the command downloads the embedded model Qwen2.5-Coder 0.5B. In a terminal, the command then opens the
    dashboard.
    """
    with workspace(data_dir) as opened:
        opened.grading.sandbox.self_test()  # before any download: macOS has only the tier that needs consent
        model = _local_model(opened)
        coder = {"coder": model}
        plan = opened.plans.plan(Order([Wanted("direct", coder), Wanted("supervised", coder, PARAMETERS)], PROBLEMS))
        mode = RunOptions(quiet=quiet, retry_errors=True)
        runner = perform(opened, under_last_budget(opened, plan, mode), mode)
        summaries = opened.results.summaries(plan.id)
        print_summaries(summaries)
        print_spending(opened, summaries)
        code, home = exit_code(opened, FinishedRun.of(runner), fail_under=None), opened.settings.home
    click.echo(
        f"\nNext steps:\n"
        f"  {advised(f'koderz analyze {plan.id}')}   all experiments\n"
        f"  {advised('koderz analyze EXPERIMENT')}           the iterations of one experiment\n"
        f"  {advised('koderz models list')}                  other models for this machine\n"
        f"  {advised('koderz ui')}                           the results in the browser\n"
        f"  {advised(f'{_LARGER} --coder {plain(shlex.quote(model))}')}\n"
        f"All data is stored in {plain(str(home))}.\n"
        f"This benchmark of five problems shows that koderz works, but not which strategy is better: its confidence "
        f"intervals are too wide."
    )
    if sys.stdout.isatty() and not no_ui:
        click.echo("\nOpening the dashboard. To skip this, add --no-ui.")
        show(FREE_PORT, data_dir)
    return code


def _local_model(opened: Workspace) -> str:
    served = opened.models.first_ready_local()
    if served is not None:
        click.echo(f"Using {plain(served)}, which is running on this machine.")
        return served
    allowed = "an allowed model" if opened.settings.allowed_models else "a model"
    click.echo(f"Neither Ollama nor LM Studio serves {allowed} on this machine. Using {DEFAULT_CODER}.")
    opened.models.require_runtime(DEFAULT_CODER)  # before any download for it
    try:
        fetch(opened, DEFAULT_CODER)
    except WeightsError as error:
        return _smaller_model(opened, error)
    return DEFAULT_CODER


def _smaller_model(opened: Workspace, missing: WeightsError) -> str:
    try:
        opened.models.require_runtime(FALLBACK)
        fetch(opened, FALLBACK)
    except (WeightsError, PlanError):
        raise missing from None
    click.echo(
        f"{missing}\nUsing {FALLBACK} instead. This small model solves few problems, but is enough to "
        "see how koderz works."
    )
    return FALLBACK


@click.command()
@data_dir
def example(data_dir: Path | None) -> int:
    """Open the example benchmark of koderz, and show its results. Needs no model and no network."""
    with workspace(data_dir) as opened:
        benchmark = opened.upkeep.open_example()
        click.echo(f"{ABOUT_EXAMPLE}\n")
        print_summaries(opened.results.summaries(benchmark))
        click.echo(
            f"\nNext steps:\n"
            f"  {advised('koderz ui')}                           the results in the browser\n"
            f"  {advised(f'koderz compare {benchmark}')}   comparisons with intervals\n"
            f"  {advised(f'koderz analyze {benchmark}')}   all experiments\n"
            f"  {advised('koderz analyze EXPERIMENT')}           the iterations of one experiment\n"
            f"  {advised('koderz quickstart')}                   a new benchmark with a local model on this machine\n"
            f"{advised(str(how_to_remove(benchmark)))}"
        )
        return report_faults(opened)
