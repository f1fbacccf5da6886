"""``koderz compare``: configurations side by side, and what that comes to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click
from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types
from rich.table import Table as Drawn

from koderz_core.analysis.comparison import Comparison
from koderz_core.cli.options import data_dir, report_faults, workspace
from koderz_core.cli.tables import console
from koderz_core.errors import UsageError
from koderz_core.export.comparison import common, tables
from koderz_core.export.comparison_numbers import comparison_numbers, configuration_rows, pair_rows
from koderz_core.export.formats import plain
from koderz_core.export.tables import csv_of
from koderz_core.export.worded import Table

WORDS = ("", "configuration", "tier")
SETTINGS = "What differs"
CURVES_IN_WORDS = "Curves are in --format json, and drawn by `koderz ui` under Compare."


@click.command()
@click.argument("configurations", nargs=-1, metavar="[A B ...]")
@click.option("--baseline", metavar="X", help="The others are held against this one: its letter, id or label.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "md", "json", "csv", "csv-pairs"]),
    default="table",
    show_default=True,
    help="csv: a line per configuration; csv-pairs: a line per pair with the baseline.",
)
@data_dir
def compare(configurations: Sequence[str], baseline: str | None, form: str, data_dir: Path | None) -> int:
    """Compare configurations: success, cost, and how sure both are.

    A, B, ... are benchmarks (their ids, beginnings of these, or names), or BENCHMARK/CONFIGURATION with the
    configuration's id, label, or letter in its benchmark. Without any: the newest benchmark. The baseline, if none is
    named, is the frontier model that was asked directly, be it in another benchmark on the same problems, else the
    dearest model that was.
    """
    with workspace(data_dir) as opened:
        rows = opened.comparing.named(configurations)
        if not rows:
            raise UsageError("There is nothing to compare yet. Begin with: koderz quickstart")
        rows = rows if baseline else opened.comparing.with_baseline(rows)
        comparison = opened.comparing.compare(rows, baseline)
        click.echo(FORMS[form](comparison), nl=form != "table")
        return report_faults(opened)


def _as_table(comparison: Comparison) -> str:
    screen = console()
    with screen.capture() as shown:
        for said in comparison.findings:
            screen.print(plain(said))
        for number, table in enumerate(tables(comparison)):
            screen.print(f"\n{table.title}", style="bold")
            screen.print(_drawn(table, known=number > 0))
        screen.print(f"\n{plain(common(comparison))}")
        for said in (*comparison.remarks, CURVES_IN_WORDS):
            screen.print(plain(said), style="dim")
    return shown.get()


def _drawn(table: Table, known: bool) -> Drawn:
    """A table that fits a terminal: where the letters are ``known``, they stand for the configurations."""
    drawn = Drawn(box=None, pad_edge=False, header_style="bold")
    shown = [place for place, name in enumerate(table.columns) if not (known and name == "configuration")]
    numbers = table.title != SETTINGS
    for place in shown:
        words = table.columns[place] in WORDS or not numbers
        drawn.add_column(table.columns[place], justify="left" if words else "right", no_wrap=not words)
    for row in table.rows:
        drawn.add_row(*(plain(row[place]) for place in shown))
    return drawn


def _as_markdown(comparison: Comparison) -> str:
    parts = [_escaped(said) for said in comparison.findings]
    for table in tables(comparison):
        head, *rows = (tuple(map(_escaped, row)) for row in (table.columns, *table.rows))
        lines = (head, tuple("---" for _ in head), *rows)
        parts += [f"### {table.title}", "\n".join(f"| {' | '.join(line)} |" for line in lines)]
    return "\n\n".join([*parts, _escaped(common(comparison)), *map(_escaped, comparison.remarks)])


def _escaped(text: str) -> str:
    """Labels may hold a stranger's words: nothing in them becomes a link, a picture, HTML or another cell."""
    line = re.sub(r"([\\`*_\[\]|~#])", r"\\\1", " ".join(plain(text).split()))
    return line.replace("&", "&amp;").replace("<", "&lt;").replace("://", ":&#47;/")


def _as_json(comparison: Comparison) -> str:
    return json.dumps(comparison_numbers(comparison), indent=2, allow_nan=False)


def _as_csv(comparison: Comparison) -> str:
    return _csv(configuration_rows(comparison))


def _as_pairs_csv(comparison: Comparison) -> str:
    return _csv(pair_rows(comparison))


def _csv(rows: Sequence[Mapping[str, object]]) -> str:
    return csv_of(DataFrame(list(rows))).decode().rstrip("\r\n")


FORMS: Mapping[str, Callable[[Comparison], str]] = {
    "table": _as_table,
    "md": _as_markdown,
    "json": _as_json,
    "csv": _as_csv,
    "csv-pairs": _as_pairs_csv,
}
