"""``koderz export``: tables and reports as files for other programs and other people."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import click

from koderz_core.cli.options import OutputPath, data_dir, report_faults, workspace
from koderz_core.errors import DataError, UsageError
from koderz_core.export.dictionary import TABLES, markdown
from koderz_core.export.orders import ENDINGS, REPORT_FORMS, ExportOrder

STDOUT = Path("-")


@click.command()
@click.argument("of", nargs=-1, metavar="[BENCH ...]")
@click.option("--table", type=click.Choice(list(TABLES)), help="[default: experiments; of a report: comparison]")
@click.option("--format", "form", type=click.Choice(list(ENDINGS)), default="csv", show_default=True)
@click.option("--columns", metavar="A,B,...", default="", help="Only these, in this order.")
@click.option("--out", type=OutputPath(), help="The file to write; - is standard output.")
@click.option("--for-spreadsheets", is_flag=True, help="No text of a CSV is a formula: such get an apostrophe.")
@click.option("--same-problems", is_flag=True, help="What is compared: only on the problems that all were given.")
@click.option("--dictionary", is_flag=True, help="Print what every column of every table means, as Markdown.")
@data_dir
def export(  # noqa: PLR0913, PLR0917 (one argument per option)
    of: Sequence[str],
    table: str | None,
    form: str,
    columns: str,
    out: Path | None,
    for_spreadsheets: bool,
    same_problems: bool,
    dictionary: bool,
    data_dir: Path | None,
) -> int:
    """Write what was measured into a file: tables as csv, parquet or json (one line per row), reports as markdown or
    html (with charts, one file that needs no network), and as bibtex how to cite it, with the hash of each journal.

    BENCH are benchmarks (ids, beginnings of these, or names); without any, all. A comparison, its pairs and reports are
    of configurations, as `koderz compare` names them; without any, of the newest benchmark.
    """
    if dictionary:
        click.echo(markdown(), nl=False)
        return 0
    chosen = table or ("comparison" if form in REPORT_FORMS else "experiments")
    order = ExportOrder(chosen, form, tuple(of), _names(columns), for_spreadsheets, same_problems)
    if out == STDOUT and form == "parquet":
        raise UsageError("Parquet is no text for standard output. Give --out a file's name.")
    with workspace(data_dir) as opened:
        with opened.exporting.made(order) as made:
            if out == STDOUT:
                shutil.copyfileobj(made, sys.stdout.buffer)
            else:
                path = out or Path(order.file_name)
                _write(made, path)
                click.echo(f"Written: {path}", err=True)
        return report_faults(opened)


def _names(columns: str) -> tuple[str, ...]:
    return tuple(name for one in columns.split(",") if (name := one.strip()))


def _write(made: BinaryIO, path: Path) -> None:
    """What was there is replaced only by a file that is whole."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            shutil.copyfileobj(made, file)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise DataError(f"{path} cannot be written: {error.strerror}. Make room there, or choose another.") from error
