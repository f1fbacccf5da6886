"""Tables for the terminal: configurations, experiments, iterations, timings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from koderz_core.analysis.configurations import figures_of
from koderz_core.analysis.timing import PHASES, Timing
from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import BenchmarkRow, ExperimentRow, IterationRow
from koderz_core.report.findings import remarks, untested
from koderz_core.report.formats import (
    CASES,
    MARKS,
    NONE,
    SHARED,
    case_bounds,
    count,
    duration,
    money,
    plain,
    solved_rate,
)
from koderz_core.times import day

PIPED_WIDTH = 140  # columns without a terminal


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Rich would exit with 1, which means a bug in koderz."""
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """A console that never interprets markup or emoji in a text: texts may be hostile."""
    made = _Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not made.is_terminal:
        made.width = PIPED_WIDTH
    return made


def terminal_table(*columns: str, header: bool = True) -> Table:
    """An empty table in the style of all commands: no lines, bold names of columns. More columns may be added."""
    return Table(*columns, box=None, pad_edge=False, show_header=header)


def print_summaries(
    rows: Sequence[SummaryRow], left_out: int = 0, benchmarks: Mapping[str, BenchmarkRow] | None = None
) -> None:
    """One line per configuration, then the remarks that a comparison needs.

    ``benchmarks`` by id: if there are rows of several, each row shows the name (else the id) and the date of its own.
    """
    if not rows:
        console().print("No results yet. Start with: koderz quickstart")
        return
    several = len({row.benchmark for row in rows}) > 1
    table = terminal_table()
    found = [figures_of(row, place) for place, row in enumerate(rows)]
    missing = (CASES,) if any(one.missing for one in found) else ()
    for name in ("benchmark", "begun") if several else ():
        table.add_column(name, no_wrap=True)
    for name in ("configuration", "solved [95 %]", "n", *missing, "iterations", "tokens in / out", "time", "cost"):
        table.add_column(name, justify="left" if name == "configuration" else "right", no_wrap=name != "configuration")
    for one, row in zip(found, rows, strict=True):
        table.add_row(
            *(_benchmark(row.benchmark, benchmarks or {}) if several else ()),
            plain(row.label),
            solved_rate(one),
            f"{one.n}/{row.planned}",
            *((case_bounds(one) or NONE,) if missing else ()),
            "?" if row.mean_iterations is None else f"{row.mean_iterations:.1f}",
            f"{count(row.input_tokens)} / {count(row.output_tokens)}",
            duration(row.seconds),
            money(row.cost_usd),
        )
    console().print(table)
    if left_out:
        console().print(f"… and {left_out} more (--limit 0 shows all)")
    for remark in (*remarks(rows), *untested(rows)):
        console().print(plain(remark), style="dim")


def print_experiments(rows: Sequence[ExperimentRow]) -> None:
    """One line per experiment."""
    table = terminal_table()
    for name in ("experiment", "problem", "configuration", "outcome", "tests", "iterations", "time", "cost"):
        table.add_column(name, no_wrap=name != "configuration")
    for row in rows:
        table.add_row(
            row.id,
            plain(row.problem),
            plain(row.label),
            MARKS[row.shown],
            _tests(row),
            str(row.iterations),
            duration(row.seconds),
            money(row.cost_usd),
        )
    console().print(table)


def print_iterations(rows: Sequence[IterationRow], again: Mapping[int, int]) -> None:
    """One line per iteration of an experiment; ``again``: as of ``repeated``."""
    table = terminal_table()
    for name in ("iteration", "tests", "failed with", "time", "message"):
        table.add_column(name, no_wrap=name != "message")
    for row in rows:
        tests = f"{'✓' if row.passed else '✗'} {row.tests_passed}/{row.tests_total}{' shared' if row.shared else ''}"
        same = f"same program as iteration {again[row.iteration]}" if row.iteration in again else ""
        message = same or plain(row.message, 200)
        table.add_row(str(row.iteration), tests, row.error or "", duration(row.seconds), message)
    console().print(table)
    if any(row.shared for row in rows):
        console().print(SHARED, style="dim")


def print_timings(rows: Sequence[Timing]) -> None:
    """One line per configuration: seconds and share of each phase."""
    table = terminal_table()
    for name in ("configuration", "n", "time", *PHASES):
        table.add_column(name, justify="left" if name == "configuration" else "right")
    for row in rows:
        shares = [f"{duration(row.phases[one])} ({row.phases[one] / (row.seconds or 1):.0%})" for one in PHASES]
        table.add_row(plain(row.label), str(row.experiments), duration(row.seconds), *shares)
    console().print(table)
    console().print(
        "journal: the remaining time, such as writing the journal and waiting for a free test worker.", style="dim"
    )


def _benchmark(benchmark: str, known: Mapping[str, BenchmarkRow]) -> tuple[str, str]:
    row = known.get(benchmark)
    return (plain(row.name) or benchmark, day(row.opened_at)) if row else (benchmark, "")


def _tests(row: ExperimentRow) -> str:
    mark = " shared" if row.shared else ""
    if row.held_out_tests_total is not None:
        return f"{row.held_out_tests_passed}/{row.held_out_tests_total}{mark}"
    return "" if row.gate_tests_total is None else f"{row.gate_tests_passed}/{row.gate_tests_total}{mark}"
