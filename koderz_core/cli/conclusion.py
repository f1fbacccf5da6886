"""What a benchmark came to when it has ended: the table, what went wrong, and the exit code that this calls for."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import click

from koderz_core.cli.options import print_json, report_faults
from koderz_core.cli.tables import print_summaries
from koderz_core.errors import Cancelled
from koderz_core.export.formats import plain
from koderz_core.records import Experiment, Outcome
from koderz_core.records.rows import ExperimentRow
from koderz_core.workspace import Workspace

UNSOLVED, INFRASTRUCTURE = 4, 3
MOST_ERRORS = 3  # messages shown
RESULTS: frozenset[Outcome | None] = frozenset({"solved", "unsolved", "error"})


def conclude(
    opened: Workspace, benchmark: str, asked: Sequence[Experiment], fail_under: float | None, *, as_json: bool
) -> int:
    """Print what a benchmark came to; the exit code that the experiments ``asked`` for call for."""
    summaries = opened.results.summaries(benchmark)
    if as_json:
        print_json(summaries)
    else:
        print_summaries(summaries)
        click.echo(f"\nLook closer: koderz analyze {benchmark}")
    return exit_code(opened, benchmark, asked, fail_under)


def exit_code(opened: Workspace, benchmark: str, asked: Sequence[Experiment], fail_under: float | None) -> int:
    """130 if one of these experiments has no result, else 3 if one ended as error, else 4 below ``fail_under`` (%).

    What is wrong is said.
    """
    ids = {experiment.id for experiment in asked}
    rows = [row for row in opened.results.experiments(benchmark) if row.id in ids]
    errors = [row for row in rows if row.outcome == "error"]
    if errors:
        _say_errors(errors, benchmark)
    unread = report_faults(opened)
    if without := len(ids) - sum(row.outcome in RESULTS for row in rows):
        click.echo(f"No result: {without} of {len(ids)} experiments. To go on: koderz resume {benchmark}", err=True)
        return unread or Cancelled.exit_code
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
