"""Tables for the terminal."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod
from rich.table import Table

from koderz_core.cli.options import advised
from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import BenchmarkRow, ExperimentRow, IterationRow
from koderz_core.report.findings import remarks, untested
from koderz_core.report.formats import (
    CASES,
    MARKS,
    NONE,
    SHARED,
    TextTable,
    case_bounds,
    count,
    duration,
    money_spent,
    numbered,
    plain,
    solved_rate,
)
from koderz_core.report.registration import decided
from koderz_core.times import day
from koderz_core.workspace.names import figures_of

PIPED_WIDTH = 140  # columns without a terminal
WORDS = ("", "configuration", "problem", "benchmark", "started", "tier", "result", "next result", "planned", "done")
MOST_OF_LABELS = 200  # characters
GAP = 2  # between columns
MOST_LEAST = 32  # maximum of the minimum width of a column of names, in characters


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


def drawn(table: TextTable, *, known: bool, words: Collection[str] = WORDS) -> Drawing:
    """A table that fits a terminal. ``known``: letters replace configurations. ``words``: names of columns of texts."""
    shown = [place for place, name in enumerate(table.columns) if not (known and name == "configuration")]
    columns = tuple(table.columns[place] for place in shown)
    rows = tuple(tuple(plain(row[place]) for place in shown) for row in table.rows)
    texts = tuple(name in words for name in columns)
    least = tuple(
        _least(name, [row[place] for row in rows], words=texts[place], first=not place)
        for place, name in enumerate(columns)
    )
    return Drawing(columns, rows, texts, least)


def _least(name: str, cells: Sequence[str], *, words: bool, first: bool) -> int:
    """The least width of a column, with which its name and its numbers are not cut.

    Words, and all cells of a first column of texts, are not cut up to ``MOST_LEAST`` characters.
    """
    parts = [word for cell in cells for word in cell.split()] if words and not first else cells
    longest = max(map(cell_len, parts), default=0)
    return max(cell_len(name), min(MOST_LEAST, longest) if words else longest)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A table for a terminal of any width. Columns that do not fit are in further parts below.

    Each part begins with the columns that identify the rows. No number is cut, because a part of a number is another
    number. ``words``: by column, whether it contains texts, which may wrap; ``least``: its least width.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[bool]
    least: Sequence[int]

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> Iterator[Table | str]:
        for number, places in enumerate(self._parts(options.max_width)):
            if number:
                yield ""
            yield self._part(places, options.max_width)

    def _parts(self, width: int) -> Iterator[Sequence[int]]:
        """The places of the columns of each part."""
        lead = range(self._lead(width))
        part = [*lead]
        for place in range(len(lead), len(self.columns)):
            if len(part) > len(lead) and self._width([*part, place]) > width:
                yield part
                part = [*lead]
            part.append(place)
        yield part

    def _lead(self, width: int) -> int:
        """The number of first columns that identify the rows; 1 if another column does not fit next to them."""
        for end in range(1, len(self.columns)):
            if len({tuple(row[:end]) for row in self.rows}) == len(self.rows):
                return end if self._width(range(end)) + GAP + max(self.least[end:]) <= width else 1
        return 1

    def _width(self, places: Sequence[int]) -> int:
        return sum(self.least[place] for place in places) + GAP * (len(places) - 1)

    def _widths(self, places: Sequence[int], width: int) -> Mapping[int, int]:
        """The width of each column, by place: its least width, and more if the terminal has space.

        Rich would narrow the widest column below its least width. Here, only the last column of a part that is wider
        than the terminal is narrowed.
        """
        widths, left = {place: self.least[place] for place in places}, max(0, width - self._width(places))
        more = {place: max([0, *(cell_len(row[place]) - widths[place] for row in self.rows)]) for place in places}
        for place in sorted(places, key=more.__getitem__):
            widths[place] += min(left, more[place])
            left -= min(left, more[place])
        widths[places[-1]] -= max(0, min(self._width(places) - width, widths[places[-1]] - 1))
        return widths

    def _part(self, places: Sequence[int], width: int) -> Table:
        drawing, widths = terminal_table(), self._widths(places, width)
        for place in places:
            justify: JustifyMethod = "left" if self.words[place] else "right"
            drawing.add_column(self.columns[place], justify=justify, width=widths[place], overflow="fold")
        for row in self.rows:
            drawing.add_row(*(row[place] for place in places))
        return drawing


def print_summaries(
    rows: Sequence[SummaryRow], left_out: int = 0, benchmarks: Mapping[str, BenchmarkRow] | None = None
) -> None:
    """One line per configuration, then the remarks that a comparison needs.

    ``benchmarks`` by id: if there are rows of several, each row shows the name (else the id) and the date of its own.
    """
    if not rows:
        click.echo(advised("No results yet. Start with: koderz quickstart"))
        return
    several = len({row.benchmark for row in rows}) > 1
    configurations = [figures_of(row, place) for place, row in enumerate(rows)]
    missing = (CASES,) if any(it.missing for it in configurations) else ()
    names = ("configuration", "solved [95 %]", "n", *missing, "iterations", "tokens in / out", "time", "cost")
    lines = tuple(
        (
            *(_benchmark(row.benchmark, benchmarks or {}) if several else ()),
            row.label,
            solved_rate(it),
            f"{it.n}/{row.planned}",
            *((case_bounds(it) or NONE,) if missing else ()),
            "?" if row.mean_iterations is None else f"{row.mean_iterations:.1f}",
            f"{count(row.input_tokens)} / {count(row.output_tokens)}",
            duration(row.seconds),
            money_spent(row.cost_usd, row.cached),
        )
        for it, row in zip(configurations, rows, strict=True)
    )
    table = TextTable("", (*(("benchmark", "started") if several else ()), *names), lines)
    console().print(drawn(table, known=False))
    if left_out:
        console().print(f"… and {numbered(left_out, 'more line')} (--limit 0 shows all)")
    for remark in (*_decisions(rows, benchmarks or {}), *remarks(rows), *untested(rows)):
        console().print(plain(remark), style="dim")


def _decisions(rows: Sequence[SummaryRow], benchmarks: Mapping[str, BenchmarkRow]) -> Iterator[str]:
    """How sequential benchmarks ended; their rows cover the problems that decided them."""
    for name in dict.fromkeys(row.benchmark for row in rows):
        found = benchmarks.get(name)
        if found and found.decision:
            yield f"{found.name or name}: {decided(found.decision, found.decided_by or 0, found.problems)}"


def print_experiments(
    rows: Sequence[ExperimentRow], labels: Mapping[str, Sequence[str]] | None = None, *, more: bool = False
) -> None:
    """One line per experiment; ``labels`` by id, in a column of their own if there are any.

    ``more``: whether there are experiments besides these, which the limit leaves out.
    """
    labelled = {row.id: labels[row.id] for row in rows if labels and row.id in labels}
    names = ("experiment", "problem", "configuration", "outcome", "tests", "iterations", "time", "cost")
    lines = tuple(
        (
            row.id,
            row.problem,
            row.label,
            MARKS[row.shown],
            _tests(row),
            str(row.iterations),
            duration(row.seconds),
            money_spent(row.cost_usd, row.cached),
            *((plain(", ".join(labelled.get(row.id, ())), MOST_OF_LABELS),) if labelled else ()),
        )
        for row in rows
    )
    table = TextTable("", (*names, *(("labels",) if labelled else ())), lines)
    console().print(drawn(table, known=False, words=table.columns))
    if more:
        console().print("… and more lines (--limit 0 shows all)")


def print_iterations(rows: Sequence[IterationRow], again: Mapping[int, int]) -> None:
    """One line per iteration of an experiment; ``again``: as of ``repeated``."""
    table = terminal_table()
    for name in ("iteration", "tests", "error class", "time", "message"):
        table.add_column(name, no_wrap=name != "message")
    for row in rows:
        tests = f"{'✓' if row.passed else '✗'} {row.tests_passed}/{row.tests_total}{' shared' if row.shared else ''}"
        same = f"same program as in iteration {again[row.iteration]}" if row.iteration in again else ""
        message = same or plain(row.message, 200)
        table.add_row(str(row.iteration), tests, row.error or "", duration(row.seconds), message)
    console().print(table)
    if any(row.shared for row in rows):
        console().print(SHARED, style="dim")


def _benchmark(benchmark: str, known: Mapping[str, BenchmarkRow]) -> tuple[str, str]:
    row = known.get(benchmark)
    return (plain(row.name) or benchmark, day(row.opened_at)) if row else (benchmark, "")


def _tests(row: ExperimentRow) -> str:
    mark = " shared" if row.shared else ""
    if row.held_out_tests_total is not None:
        return f"{row.held_out_tests_passed}/{row.held_out_tests_total}{mark}"
    return "" if row.gate_tests_total is None else f"{row.gate_tests_passed}/{row.gate_tests_total}{mark}"


def progress_bar(items: Iterator[Any], length: int, stage: str) -> Iterator[Any]:  # Any: whatever is counted
    """Pass on the items, and count them on standard error."""
    with click.progressbar(items, length=length, label=stage, file=sys.stderr) as bar:
        yield from bar
