"""What a benchmark came to when it has ended: the table, what went wrong, and the exit code that this calls for."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import click

from koderz_core.analysis.remarks import remarks
from koderz_core.cli.drawing import drawn
from koderz_core.cli.options import print_json, report_faults
from koderz_core.cli.tables import console, print_summaries
from koderz_core.errors import BudgetSpent, Cancelled
from koderz_core.export.formats import plain
from koderz_core.export.spending import UNKNOWN, savings_said, spending_table
from koderz_core.records import Experiment, Outcome
from koderz_core.records.rows import ExperimentRow
from koderz_core.records.summaries import SummaryRow
from koderz_core.runner.runner import Runner
from koderz_core.workspace import Workspace

UNSOLVED, INFRASTRUCTURE = 4, 3
MOST_ERRORS = 3  # messages shown
RESULTS: frozenset[Outcome | None] = frozenset({"solved", "unsolved", "error"})


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command ran of a benchmark. ``used_up``: the benchmark's budget did not admit its next call."""

    benchmark: str
    experiments: Sequence[Experiment]
    used_up: bool = False

    @classmethod
    def of(cls, runner: Runner) -> Ended:
        return cls(runner.benchmark, runner.experiments, runner.used_up is not None)


def conclude(opened: Workspace, ended: Ended, fail_under: float | None, *, as_json: bool) -> int:
    """Print the results of a benchmark; returns the exit code as ``exit_code``."""
    summaries = opened.results.summaries(ended.benchmark)
    if as_json:
        print_json(summaries)
    else:
        print_summaries(summaries)
        print_spending(opened, summaries)
        click.echo(f"\nLook closer: koderz analyze {ended.benchmark}")
    return exit_code(opened, ended, fail_under)


def print_spending(opened: Workspace, rows: Sequence[SummaryRow]) -> None:
    """What a benchmark spent by tier, what a frontier model alone cost on its problems, and what was saved."""
    table = spending_table(rows)
    if not table.rows:
        return
    screen = console()
    screen.print(f"\n{table.title}", style="bold")
    screen.print(drawn(table, known=False))
    comparison = opened.comparing.against_frontier(rows)
    if comparison is None:
        screen.print(plain(f"{UNKNOWN} {opened.baselines.to_measure(rows)}"), soft_wrap=True)
        return
    from koderz_core.export.comparison import at_once  # noqa: PLC0415 (numpy, which has been loaded by now)

    if not comparison.pairs:
        return
    screen.print(f"\nAgainst a frontier model alone{at_once(comparison) or ' (intervals at 95 %)'}", style="bold")
    for sentence in savings_said(comparison):
        screen.print(plain(sentence), soft_wrap=True)
    for remark in comparison.remarks:
        if remark not in remarks(rows):
            screen.print(plain(remark.strip()), style="dim", soft_wrap=True)


def exit_code(opened: Workspace, ended: Ended, fail_under: float | None) -> int:
    """5 or 130 if an experiment has no result, else 3 if one ended as error, else 4 below ``fail_under`` (%), else 0.

    5: the budget was used up; 130: it was stopped or interrupted. Prints what is wrong.
    """
    benchmark = ended.benchmark
    ids = {experiment.id for experiment in ended.experiments}
    rows = [row for row in opened.results.experiments(benchmark) if row.id in ids]
    errors = [row for row in rows if row.outcome == "error"]
    if errors:
        _say_errors(errors, benchmark)
    unread = report_faults(opened)
    if without := len(ids) - sum(row.outcome in RESULTS for row in rows):
        resume = f"koderz resume {benchmark}" + (" --max-cost USD, with a larger budget" if ended.used_up else "")
        click.echo(f"No result: {without} of {len(ids)} experiments. To continue: {resume}", err=True)
        return unread or (BudgetSpent if ended.used_up else Cancelled).exit_code
    if errors:
        return INFRASTRUCTURE
    return UNSOLVED if fail_under is not None and _is_under(fail_under, rows) else 0


def _is_under(percent: float, rows: Sequence[ExperimentRow]) -> bool:
    """Whether a configuration solves less than that."""
    solved = defaultdict[str, list[bool]](list)
    for row in rows:
        solved[row.configuration].append(row.outcome == "solved")
    return any(sum(each) * 100 < percent * len(each) for each in solved.values())


def _say_errors(rows: Sequence[ExperimentRow], benchmark: str) -> None:
    """The first messages of what ended as error, each once: often they name the one thing that is to be put right."""
    times = Counter(plain(row.error or "", 500) for row in rows)
    for message in list(times)[:MOST_ERRORS]:
        click.echo(f"Ended as error, {times[message]} of {times.total()}: {message}", err=True)
    if len(times) > MOST_ERRORS:
        click.echo(f"… and {len(times) - MOST_ERRORS} more: koderz analyze {benchmark} --json", err=True)
    click.echo(f"Put that right, then: koderz resume {benchmark} --retry-errors", err=True)
