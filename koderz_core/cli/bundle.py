"""Commands for sharing results: ``koderz bundle``, ``koderz verify`` and ``koderz export``."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZipFile

import click

from koderz_core.cli.options import (
    OutputPath,
    check_no_folder,
    data_dir,
    grading_engine,
    report_faults,
    workers,
    workspace,
)
from koderz_core.cli.reprice import exported_under, how_priced, repricing_options
from koderz_core.cli.tables import progress_bar
from koderz_core.errors import DataError, UsageError
from koderz_core.files import replacement
from koderz_core.report.dictionary import TABLES
from koderz_core.report.dictionary_text import markdown
from koderz_core.report.dump import DumpFile, write
from koderz_core.report.export_request import ENDINGS, REPORT_FORMS, ExportOrder
from koderz_core.report.formats import count, plain
from koderz_core.workspace.bundles import ABOUT, ANNOTATIONS, KEPT, SAFEST, Verified, checked_bundle
from koderz_core.workspace.repricing import Repricing

_LEVELS = "; ".join(f"{level}: {about}" for level, about in ABOUT.items())
STDOUT = Path("-")
UNGRADED = 3  # the exit code if a program could not be graded


@click.command()
@click.argument("benchmark")
@click.option("--privacy", metavar="LEVEL", default=SAFEST, show_default=True, help=f"{_LEVELS}.")
@click.option(
    "--out",
    type=OutputPath(),
    help=f"File to write.  [default: a file in the folder `bundles`, where koderz keeps the {KEPT} newest bundles]",
)
@click.option("--pin", is_flag=True, help="Keep this bundle when koderz deletes old bundles.")
@data_dir
def bundle(benchmark: str, privacy: str, out: Path | None, pin: bool, data_dir: Path | None) -> int:
    """Pack a benchmark into one file that another person can verify. BENCHMARK is a name, an id or the start of an id.

    The same journal always gives the same file, byte for byte. Check the file before you share it: koderz masks only
    those secrets that match known patterns.
    """
    with workspace(data_dir) as opened:
        made = opened.bundles.make(opened.names.benchmark(benchmark), privacy, out, pinned=pin)
        click.echo(f"Written and verified: {made.path} ({count(made.size)} bytes, privacy level {made.level})")
        if labels := made.verified.checked.get(ANNOTATIONS):
            click.echo(f"Number of your labels and notes in the bundle: {labels}")
        if made.truncated:
            click.echo(f"These files were too long and were truncated: {', '.join(made.truncated)}", err=True)
            click.echo("A bundle with a truncated journal can be verified, but not opened.", err=True)
        return report_faults(opened)


@click.command()
@click.argument("what", metavar="BENCH|FILE.zip")
@click.option(
    "--regrade",
    is_flag=True,
    help="Also test the program that each experiment returned, and compare the outcome with the recorded outcome.",
)
@workers
@grading_engine
@data_dir
def verify(what: str, regrade: bool, workers: int, engine: str, data_dir: Path | None) -> int:
    """Verify the hashes, ids and figures of a benchmark or a bundle, and list the differences.

    The command checks consistency, not authorship. The exit code is 1 if there are differences, and 3
    if FILE.zip cannot be read or is not a bundle, or if programs could not be graded. --regrade needs the dataset of
    the benchmark. --workers has an effect only with --regrade. --engine requires --regrade.
    """
    if engine != "local" and not regrade:
        raise UsageError("--engine requires --regrade, because only grading can run on workers. Add --regrade.")
    if what.endswith(".zip") or (Path(what).exists() and not Path(what).is_dir()):
        if regrade:
            raise UsageError("--regrade needs a benchmark in the data folder. Name a benchmark instead of a file.")
        return _print_verdict(checked_bundle(Path(what)).verified)
    with workspace(data_dir) as opened:
        benchmark = opened.names.benchmark(what)
        found = opened.bundles.verify(benchmark)
        if not regrade:
            return _print_verdict(found)
        if not found.holds:
            click.echo("The programs were not graded again, because the verification found differences.", err=True)
            return _print_verdict(found)
        again = opened.regrading.regrade(benchmark, workers, progress_bar, engine)
        for reason in again.unjudged:
            click.echo(f"Not graded: {plain(reason)}", err=True)
        code = _print_verdict(found.and_also(again.found))
        return code or (UNGRADED if again.unjudged else 0)


def _print_verdict(found: Verified) -> int:
    checked = ", ".join(f"{name} {count(number)}" for name, number in found.checked.items())
    for remark in found.remarks:
        click.echo(f"Not everything could be checked: {plain(remark)}.", err=True)
    for difference in found.differences:
        click.echo(f"✗ {plain(difference.said)}")
    if found.registration:
        click.echo(f"SHA-256 of the registration, to compare with the published hash: {found.registration}")
    verdict = "✓ verified" if found.holds else f"✗ verification failed, differences: {len(found.differences)}"
    click.echo(f"{plain(found.of)} {verdict} (checked: {checked or 'nothing'})")
    return 0 if found.holds else 1


@click.command()
@click.argument("of", nargs=-1, metavar="[BENCH ...]")
@click.option(
    "--table",
    type=click.Choice(list(TABLES)),
    help="Table to write.  [default: experiments; for reports: comparison]",
)
@click.option(
    "--format", "form", type=click.Choice(list(ENDINGS)), default="csv", show_default=True, help="Format of the file."
)
@click.option("--columns", metavar="A,B,...", default="", help="Write only these columns, in this order.")
@click.option(
    "--out",
    type=OutputPath(or_folder=True),
    help="File to write, - for standard output, or a folder for formats with several files.",
)
@click.option(
    "--for-spreadsheets", is_flag=True, help="In CSV, put an apostrophe before texts that look like formulas."
)
@click.option("--same-problems", is_flag=True, help="Use only the problems that are planned for all configurations.")
@click.option("--endpoint", metavar="URL", help="With the format otlp: send the traces to this receiver.")
@click.option(
    "--header", "headers", metavar="NAME=VALUE", multiple=True, help="HTTP header for --endpoint. May be repeated."
)
@click.option(
    "--dictionary", is_flag=True, help="Print the meaning of every table column as Markdown, and write no file."
)
@repricing_options
@data_dir
def export(  # noqa: PLR0913, PLR0917 (one argument per option)
    of: Sequence[str],
    table: str | None,
    form: str,
    columns: str,
    out: Path | None,
    for_spreadsheets: bool,
    same_problems: bool,
    endpoint: str | None,
    headers: Sequence[str],
    dictionary: bool,
    data_dir: Path | None,
    **prices: Any,
) -> int:
    """Write tables and reports to files.

    Formats: csv, parquet and json (one row per line) for tables; markdown and html (one file with charts, works
    offline) for reports; bibtex for a citation with the hash of each journal; samples (EvalPlus), swebench
    (predictions), eval-arena, inspect, eee (Every Eval Ever), atif (trajectories of Harbor) and otlp (traces of
    OpenTelemetry) for other tools. `--format otlp --endpoint URL` sends the traces to a receiver, such as MLflow or
    Phoenix, instead of writing a file.

    Each BENCH is a name, an id or the start of an id. For reports and for the tables `comparison`, `pairs`,
    `pass_rates`, `noise`, `bands` and `trust`, BENCH can also be a configuration, named as in `koderz compare`.
    Without BENCH, reports and these six tables use the newest benchmark, and all other tables contain all benchmarks.
    """
    if dictionary:
        click.echo(markdown(), nl=False)
        return 0
    chosen = table or ("comparison" if form in REPORT_FORMS else "experiments")
    order = ExportOrder(chosen, form, tuple(of), _names(columns), for_spreadsheets, same_problems)
    how = how_priced(**prices)
    if endpoint is not None or headers:
        return _send(order, endpoint, headers, out, data_dir, how)
    return _write_out(order, out, data_dir, how)


def _write_out(order: ExportOrder, out: Path | None, data_dir: Path | None, how: Repricing | None) -> int:
    if out == STDOUT and order.form == "parquet":
        raise UsageError("Parquet is binary and is not written to standard output. Give a file name with --out.")
    several = ENDINGS[order.form] == "zip" and (out is None or out.suffix.lower() != ".zip")
    if out == STDOUT and several:
        raise UsageError(
            f"An export in the format {order.form} consists of several files. Set --out to a folder or a zip file."
        )
    if out and several and out.exists() and not out.is_dir():
        raise DataError(
            f"{out} is a file, but an export in the format {order.form} consists of several files. Set --out to a "
            "folder, or to a file whose name ends with .zip."
        )
    if out and not several:
        check_no_folder(out)
    with workspace(data_dir) as opened:
        with exported_under(opened, order, how) as priced, priced.exports.file(order) as made:
            if several:
                path = out or Path(order.file_name.removesuffix(".zip"))
                click.echo(f"Written: {_unpack(made, path)} files into {path}", err=True)
            elif out == STDOUT:
                shutil.copyfileobj(made, sys.stdout.buffer)
                sys.stdout.buffer.flush()  # otherwise Python writes the rest after ``main``, which reports errors
            else:
                path = out or Path(order.file_name)
                write_file(made, path)
                click.echo(f"Written: {path}", err=True)
        return report_faults(opened)


def _send(
    order: ExportOrder,
    endpoint: str | None,
    headers: Sequence[str],
    out: Path | None,
    data_dir: Path | None,
    how: Repricing | None,
) -> int:
    if order.form != "otlp" or endpoint is None or out:
        raise UsageError(
            "--endpoint and --header are only for sending traces. Use --format otlp --endpoint URL, without --out."
        )
    if not endpoint.strip():
        raise UsageError("--endpoint is empty. Give the address of the receiver, or omit --endpoint to write a file.")
    with workspace(data_dir) as opened:
        with exported_under(opened, order, how) as priced:
            sent = priced.exports.send(order, endpoint, headers)
        click.echo(f"Sent: {count(sent.traces)} traces with {count(sent.spans)} spans", err=True)
        return report_faults(opened)


def _names(columns: str) -> tuple[str, ...]:
    return tuple(name for part in columns.split(",") if (name := part.strip()))


def _unpack(made: BinaryIO, folder: Path) -> int:
    """Write the files of a log into a folder, and return their number."""
    with ZipFile(made) as archive:
        files = [DumpFile(name, archive.read(name)) for name in archive.namelist()]
    write(files, folder)
    return len(files)


def write_file(made: BinaryIO, path: Path) -> None:
    """Replaces an existing file only by a complete one."""
    try:
        with replacement(path, private=False) as file:
            shutil.copyfileobj(made, file)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}. Choose another file with --out.") from error
