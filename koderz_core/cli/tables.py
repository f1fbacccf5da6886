"""Tables for the terminal: configurations, experiments, iterations."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from koderz_core.analysis.rates import wilson
from koderz_core.cli.formats import count, duration, money, plain, rate
from koderz_core.records.rows import ExperimentRow, IterationRow, SummaryRow

PIPED_WIDTH = 140  # columns where no terminal says how many it has
MARKS = {"solved": "✓ solved", "unsolved": "✗ unsolved", "cancelled": "- cancelled", "error": "! error", None: "…"}


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Rich would end the process with 1, which here says that koderz has a bug."""
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """A console that never reads markup or emoji out of a text: texts may be hostile."""
    made = _Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not made.is_terminal:
        made.width = PIPED_WIDTH
    return made


def print_summaries(rows: Sequence[SummaryRow], left_out: int = 0) -> None:
    """One line per configuration, and below what a reader must know to compare them."""
    if not rows:
        console().print("No results yet. Begin with: koderz quickstart")
        return
    table = _table()
    for name in ("configuration", "solved [95 %]", "n", "iterations", "tokens in / out", "time", "cost"):
        table.add_column(name, justify="left" if name == "configuration" else "right", no_wrap=name != "configuration")
    several = len({row.benchmark for row in rows}) > 1
    for row in rows:
        n = row.solved + row.unsolved
        table.add_row(
            plain(f"{row.benchmark} {row.label}" if several else row.label),
            _rate(row),
            f"{n}/{row.planned}",
            "?" if row.mean_iterations is None else f"{row.mean_iterations:.1f}",
            f"{count(row.input_tokens)} / {count(row.output_tokens)}",
            duration(row.seconds),
            money(row.cost_usd),
        )
    console().print(table)
    if left_out:
        console().print(f"… and {left_out} more (--limit 0 shows all)")
    for remark in _remarks(rows):
        console().print(remark, style="dim")


def print_experiments(rows: Sequence[ExperimentRow]) -> None:
    """One line per experiment."""
    table = _table()
    for name in ("experiment", "problem", "configuration", "outcome", "tests", "iterations", "time", "cost"):
        table.add_column(name, no_wrap=name != "configuration")
    for row in rows:
        table.add_row(
            row.id,
            plain(row.problem),
            plain(row.label),
            MARKS[row.outcome],
            _tests(row),
            str(row.iterations),
            duration(row.seconds),
            money(row.cost_usd),
        )
    console().print(table)


def print_iterations(rows: Sequence[IterationRow]) -> None:
    """One line per iteration of an experiment."""
    table = _table()
    for name in ("iteration", "tests", "failed with", "time", "message"):
        table.add_column(name, no_wrap=name != "message")
    for row in rows:
        tests = f"{'✓' if row.passed else '✗'} {row.tests_passed}/{row.tests_total}"
        table.add_row(str(row.iteration), tests, row.error or "", duration(row.seconds), plain(row.message, 200))
    console().print(table)


def _table() -> Table:
    return Table(box=None, pad_edge=False, header_style="bold")


def _rate(row: SummaryRow) -> str:
    """Wilson's interval is for independent trials, which repeats of one problem are not."""
    n = row.solved + row.unsolved
    shown = rate(wilson(row.solved, n)) if row.planned == row.problems else f"{row.solved / n:.0%}" if n else "-"
    return shown + ("*" if row.score_kind == "oracle" else "")


def _tests(row: ExperimentRow) -> str:
    if row.held_out_tests_total is not None:
        return f"{row.held_out_tests_passed}/{row.held_out_tests_total}"
    return "" if row.gate_tests_total is None else f"{row.gate_tests_passed}/{row.gate_tests_total}"


def _remarks(rows: Sequence[SummaryRow]) -> list[str]:
    remarks = []
    if any(row.score_kind == "oracle" for row in rows):
        remarks.append("* stopped on the very tests that score it: an oracle's rate, not pass@1.")
        if any(row.score_kind == "held_out" for row in rows):
            remarks.append("  Rates with and without * are of two kinds: their difference is not the strategy's alone.")
    if any(row.planned > row.problems for row in rows):
        remarks.append("Repeats of one problem are no independent trials, so rates with repeats have no interval yet.")
    without = sum(row.errors + row.cancelled for row in rows)
    if without:
        remarks.append(f"{without} experiments ended without a result (error or cancelled); no rate counts them.")
    unpriced = sum(row.unpriced for row in rows)
    if unpriced:
        remarks.append(f"{unpriced} calls have no known price, so their costs are left open.")
    if any("scripted" in model for row in rows for models in row.models.values() for model in models):
        remarks.append("SCRIPTED: some of these answers come from a script, not from a model.")
    return remarks
