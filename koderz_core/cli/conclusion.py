"""The end of a benchmark in a terminal: its results, its spending and the exit code."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import click

from koderz_core.cli.options import advised, print_json, report_faults
from koderz_core.cli.tables import console, drawn, print_summaries
from koderz_core.errors import BudgetSpent, Cancelled
from koderz_core.records import Experiment
from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import ExperimentRow
from koderz_core.report.findings import remarks
from koderz_core.report.formats import numbered, plain
from koderz_core.report.spending import UNKNOWN, savings_sentences, spending_table
from koderz_core.workspace import Workspace
from koderz_core.workspace.runs import Runner

UNSOLVED, INFRASTRUCTURE = 4, 3
MOST_ERRORS = 3  # messages shown
RESULTS = frozenset({"solved", "unsolved", "error"})


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """The experiments that a command ran; others did not run if the budget is ``used_up`` or the rest ``decided``."""

    benchmark: str
    experiments: Sequence[Experiment]
    used_up: bool = False
    decided: bool = False

    @classmethod
    def of(cls, runner: Runner) -> FinishedRun:
        return cls(runner.benchmark, runner.experiments, runner.used_up is not None, runner.decided is not None)


def conclude(opened: Workspace, ended: FinishedRun, fail_under: float | None, *, as_json: bool) -> int:
    """Print the results of a benchmark; returns the exit code as ``exit_code``."""
    summaries = (
        opened.comparisons.named([ended.benchmark]) if ended.decided else opened.results.summaries(ended.benchmark)
    )
    if as_json:
        print_json(summaries)
    else:
        print_summaries(summaries)
        print_spending(opened, summaries)
        click.echo(f"\nFor details: {advised(f'koderz analyze {ended.benchmark}')}")
    return exit_code(opened, ended, fail_under)


def print_spending(opened: Workspace, rows: Sequence[SummaryRow]) -> None:
    """The cost of a benchmark by tier, the cost of a frontier model alone on its problems, and the savings."""
    table = spending_table(rows)
    if not table.rows:
        return
    screen = console()
    screen.print(f"\n{table.title}", style="bold")
    screen.print(drawn(table, known=False))
    comparison = opened.comparisons.against_frontier(rows)
    if comparison is None:
        screen.print(plain(f"{UNKNOWN} {opened.comparisons.how_to_measure_baseline(rows)}"), soft_wrap=True)
        return
    from koderz_core.report.comparison import at_once  # noqa: PLC0415 (numpy, which a comparison has loaded)

    if not comparison.pairs:
        return
    screen.print(f"\nCompared with a frontier model alone{at_once(comparison) or ' (95 % intervals)'}", style="bold")
    for sentence in savings_sentences(comparison):
        screen.print(plain(sentence), soft_wrap=True)
    for remark in comparison.remarks:
        if remark not in remarks(rows):
            screen.print(plain(remark.strip()), style="dim", soft_wrap=True)


def exit_code(opened: Workspace, ended: FinishedRun, fail_under: float | None) -> int:
    """5 or 130 if an experiment has no result, else 3 after an error, else 4 below ``fail_under`` (%), else 0.

    5: the budget was used up; 130: the run was stopped or interrupted. Prints what is wrong.
    """
    benchmark = ended.benchmark
    ids = {experiment.id for experiment in ended.experiments}
    rows = [row for row in opened.results.experiments(benchmark) if row.id in ids]
    errors = [row for row in rows if row.shown == "error"]
    if errors:
        _print_errors(errors, benchmark)
    unread = report_faults(opened)
    without = 0 if ended.decided else len(ids) - sum(row.shown in RESULTS for row in rows)
    if without:
        larger, option = (" with a larger budget", " --max-cost USD") if ended.used_up else ("", "")
        resume = f"To continue{larger}: {advised(f'koderz resume {benchmark}{option}')}"
        click.echo(f"Experiments without a result: {without} of {len(ids)}. {resume}", err=True)
        return unread or (BudgetSpent if ended.used_up else Cancelled).exit_code
    if errors:
        return INFRASTRUCTURE
    return UNSOLVED if fail_under is not None and _is_under(fail_under, rows) else 0


def _is_under(percent: float, rows: Sequence[ExperimentRow]) -> bool:
    """Whether a configuration solves less than this of its experiments with a result."""
    solved = defaultdict[str, list[bool]](list)
    for row in rows:
        if row.shown in RESULTS:  # a sequential benchmark may end before all experiments have run
            solved[row.configuration].append(row.shown == "solved")
    return any(sum(each) * 100 < percent * len(each) for each in solved.values())


def _print_errors(rows: Sequence[ExperimentRow], benchmark: str) -> None:
    """The first error messages, each once: often they have a single cause."""
    times = Counter(plain(row.error or "", 500) for row in rows)
    for message in list(times)[:MOST_ERRORS]:
        click.echo(f"{times[message]} of {numbered(times.total(), 'error')}: {message}", err=True)
    if len(times) > MOST_ERRORS:
        more = numbered(len(times) - MOST_ERRORS, "more error message")
        click.echo(f"… and {more} ({advised(f'koderz analyze {benchmark} --json')} shows all)", err=True)
    click.echo(f"Fix the cause, then run: {advised(f'koderz resume {benchmark} --retry-errors')}", err=True)
