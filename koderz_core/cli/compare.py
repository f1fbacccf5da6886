"""``koderz compare``: configurations side by side, and what that comes to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import click
from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types

from koderz_core.analysis.comparison import Comparison
from koderz_core.cli.drawing import drawn
from koderz_core.cli.options import data_dir, report_faults, workspace
from koderz_core.cli.tables import console
from koderz_core.errors import UsageError
from koderz_core.export.attempts import ABOUT_ATTEMPTS, Found, attempt_numbers, attempt_tables
from koderz_core.export.comparison import common, helped, settings_by_row, tables
from koderz_core.export.comparison_numbers import comparison_numbers, configuration_rows, pair_rows
from koderz_core.export.formats import plain
from koderz_core.export.report_markdown import escaped, markdown_tables
from koderz_core.export.supervision import SHOWS, SHOWS_NOT
from koderz_core.export.tables import csv_of
from koderz_core.export.worded import Table

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
@click.option("--same-problems", is_flag=True, help="Only on the problems that all of these were given.")
@click.option("--attempts", is_flag=True, help="Also attempt by attempt: solves, dollars, errors, repeated programs.")
@data_dir
def compare(
    configurations: Sequence[str],
    baseline: str | None,
    form: str,
    same_problems: bool,
    attempts: bool,
    data_dir: Path | None,
) -> int:
    """Compare configurations: success, cost, and how sure both are.

    A, B, ... are benchmarks (their ids, beginnings of these, or names), or BENCHMARK/CONFIGURATION with the
    configuration's id, label, or letter in its benchmark. Without any: the newest benchmark. The baseline, if none is
    named, is what others are ablations of, else the frontier model that was asked directly, be it in another benchmark
    on the same problems, else the dearest model that was.
    """
    if attempts and form.startswith("csv"):
        raise UsageError("--attempts has tables of its own. Give it with --format table, md or json.")
    with workspace(data_dir) as opened:
        rows = opened.comparing.named(configurations, same_problems=same_problems)
        if not rows:
            raise UsageError("There is nothing to compare yet. Begin with: koderz quickstart")
        rows = rows if baseline else opened.comparing.with_baseline(rows)
        comparison = opened.comparing.compare(rows, baseline)
        found = opened.comparing.attempts(rows) if attempts else {}
        click.echo(FORMS[form](comparison, found), nl=form != "table")
        return report_faults(opened)


def _as_table(comparison: Comparison, found: Found) -> str:
    screen = console()
    with screen.capture() as shown:
        for said in comparison.findings:
            screen.print(plain(said))
        for number, table in enumerate(_tables(comparison, found)):
            screen.print(f"\n{table.title}", style="bold")
            if table.title == SETTINGS:
                screen.print(drawn(settings_by_row(table), known=True, numbers=False))
            else:
                screen.print(drawn(table, known=number > 0))
        screen.print(f"\n{plain(common(comparison))}")
        for said in (*_remarks(comparison, found), CURVES_IN_WORDS):
            screen.print(plain(said), style="dim")
    return shown.get()


def _tables(comparison: Comparison, found: Found) -> Sequence[Table]:
    return (*tables(comparison), *attempt_tables(comparison.configurations, found))


def _remarks(comparison: Comparison, found: Found) -> Sequence[str]:
    about = (SHOWS, SHOWS_NOT) if helped(comparison) else ()
    return (*comparison.remarks, *about, *((ABOUT_ATTEMPTS,) if found else ()))


def _as_markdown(comparison: Comparison, found: Found) -> str:
    said = (common(comparison), *_remarks(comparison, found))
    parts = (map(escaped, comparison.findings), markdown_tables(_tables(comparison, found)), map(escaped, said))
    return "\n\n".join(chain.from_iterable(parts))


def _as_json(comparison: Comparison, found: Found) -> str:
    numbers = comparison_numbers(comparison)
    if found:
        numbers["attempts"] = attempt_numbers(comparison.configurations, found)
    return json.dumps(numbers, indent=2, allow_nan=False)


def _as_csv(comparison: Comparison, _: Found) -> str:
    return _csv(configuration_rows(comparison))


def _as_pairs_csv(comparison: Comparison, _: Found) -> str:
    return _csv(pair_rows(comparison))


def _csv(rows: Sequence[Mapping[str, object]]) -> str:
    return csv_of(DataFrame(list(rows))).decode().rstrip("\r\n")


FORMS: Mapping[str, Callable[[Comparison, Found], str]] = {
    "table": _as_table,
    "md": _as_markdown,
    "json": _as_json,
    "csv": _as_csv,
    "csv-pairs": _as_pairs_csv,
}
