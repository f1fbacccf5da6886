"""``koderz bug-report``: a file about this installation for a bug report, shown before it is written."""

from __future__ import annotations

from pathlib import Path

import click

from koderz_core.cli.options import OutputPath, agrees, data_dir, workspace
from koderz_core.errors import DataError, KoderzError
from koderz_core.files import replace_file
from koderz_core.report.formats import count, plain
from koderz_core.workspace.bundles import FILE_NAME, bug_report, bug_report_files

LONGEST = 20_000  # characters of each file that are shown
NEXT = (
    "In your bug report, describe what you did, what you expected and what happened. To include a benchmark without "
    "its prompts, answers and programs, also attach the file that `koderz bundle BENCH` writes."
)


@click.command("bug-report")
@click.option(
    "--out", type=OutputPath(), default=FILE_NAME, show_default=True, metavar="FILE", help="The zip file to write."
)
@click.option("--yes", is_flag=True, help="Write the file without asking.")
@data_dir
def report_bug(out: Path, yes: bool, data_dir: Path | None) -> None:
    """Write a zip file that describes this installation, to attach to a bug report.

    The command shows the whole content first, and writes the file only if you agree. The file contains versions, the
    results of `koderz doctor` and the names of changed settings. Secrets, paths, hosts and user names are masked.
    koderz sends nothing.
    """
    content = _report(data_dir)
    for name, text in bug_report_files(content).items():
        click.echo(f"{name} ({count(len(text.encode()))} bytes):\n\n{plain(text, LONGEST)}")
    advice = "Nothing was written. To write the file without asking, add --yes."
    if not agrees(f"Write this report to {plain(str(out))}?", advice, yes=yes):
        return
    try:
        replace_file(out, content, private=True)
    except OSError as error:
        raise DataError(f"{out} cannot be written: {error.strerror}. Choose another file with --out.") from error
    click.echo(f"Written: {plain(str(out))} ({count(len(content))} bytes). {NEXT}")


def _report(data_dir: Path | None) -> bytes:
    """The report; if the checks cannot run, for instance because of a wrong setting, with this error instead."""
    try:
        with workspace(data_dir) as opened:
            checks = opened.health.diagnosis(whole_self_test=False, ask_models=False).findings
    except KoderzError as error:
        return bug_report(error, home=data_dir)
    return bug_report(checks=checks, home=data_dir)
