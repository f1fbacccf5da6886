"""Commands for sharing results: ``koderz bundle``, ``koderz verify`` and ``koderz export``."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import click

from koderz_core.bundles.checking import checked_bundle
from koderz_core.bundles.making import KEPT
from koderz_core.bundles.redaction import ABOUT, SAFEST
from koderz_core.cli.options import OutputPath, data_dir, report_faults, workspace
from koderz_core.errors import DataError, UsageError
from koderz_core.export.dictionary import TABLES, markdown
from koderz_core.export.formats import count, plain
from koderz_core.export.orders import ENDINGS, REPORT_FORMS, ExportOrder
from koderz_core.verification.journals import Verified

_LEVELS = "; ".join(f"{level}: {about}" for level, about in ABOUT.items())
STDOUT = Path("-")


@click.command()
@click.argument("benchmark")
@click.option("--privacy", metavar="LEVEL", default=SAFEST, show_default=True, help=f"{_LEVELS}.")
@click.option(
    "--out",
    type=OutputPath(),
    help=f"The file to write. [default: one in bundles of the data folder, where the newest {KEPT} stay]",
)
@click.option("--pin", is_flag=True, help="Never remove it for a newer one.")
@data_dir
def bundle(benchmark: str, privacy: str, out: Path | None, pin: bool, data_dir: Path | None) -> int:
    """Bundle BENCHMARK (its name, its id, or how that begins) with all that a re-check needs, as open as you choose.

    The same journal always gives the same bytes. Look into what you give away: masks are guesses.
    """
    with workspace(data_dir) as opened:
        made = opened.bundling.make(opened.results.find(benchmark), privacy, out, pinned=pin)
        click.echo(f"Written and verified: {made.path} ({made.size} bytes, {made.level})")
        if made.truncated:
            click.echo(f"Cut, as too long: {', '.join(made.truncated)}", err=True)
        return report_faults(opened)


@click.command()
@click.argument("what", metavar="BENCH|FILE.zip")
@data_dir
def verify(what: str, data_dir: Path | None) -> int:
    """Recompute the hashes, ids and figures of a benchmark, or of a bundle, and name what differs.

    It tells what contradicts itself, not who wrote it. Exits with 1 if something differs, with 3 if FILE.zip cannot be
    read or is no bundle.
    """
    if what.endswith(".zip") or "/" in what or Path(what).is_file():
        return _say(checked_bundle(Path(what)).verified)
    with workspace(data_dir) as opened:
        return _say(opened.bundling.verify(opened.results.find(what)))


def _say(found: Verified) -> int:
    looked_at = ", ".join(f"{name} {count(number)}" for name, number in found.checked.items())
    for remark in found.remarks:
        click.echo(f"Not all could be looked at: {plain(remark)}.", err=True)
    for one in found.differences:
        click.echo(f"✗ {plain(one.said)}")
    verdict = "✓ holds" if found.holds else f"✗ does not hold, differences: {len(found.differences)}"
    click.echo(f"{plain(found.of)} {verdict} (looked at: {looked_at or 'nothing'})")
    return 0 if found.holds else 1


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
