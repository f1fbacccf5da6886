"""The time of each phase of a benchmark: the table of ``koderz analyze --timing``, and options of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from koderz_core.cli.options import Command, OutputPath, option, write_json
from koderz_core.cli.tables import console, terminal_table
from koderz_core.errors import UsageError
from koderz_core.report.formats import duration, plain
from koderz_core.workspace import Workspace
from koderz_core.workspace.experiments import PHASES, Timing


def timing_options(command: Command) -> Command:
    """``--timing-report`` and ``--timing-export``."""
    report = option(
        "Output",
        "--timing-report",
        is_flag=True,
        advanced=True,
        help="At the end, show how much time each phase took, as `koderz analyze --timing` does.",
    )
    export = option(
        "Output",
        "--timing-export",
        type=OutputPath(),
        metavar="FILE",
        advanced=True,
        help="At the end, write the time of each phase to this JSON file.",
    )
    return report(export(command))


def check_timing(options: Mapping[str, Any], *, as_json: bool) -> None:
    """Raise UsageError for a table of times among JSON."""
    if as_json and options["timing_report"]:
        raise UsageError("--timing-report is not available with --json. Use --timing-export FILE, which writes JSON.")


def show_timing(opened: Workspace, benchmark: str, options: Mapping[str, Any]) -> None:
    """Print and write the times that the options ask for. Raises DataError for a file that cannot be written."""
    path: Path | None = options["timing_export"]
    if not (path or options["timing_report"]):
        return
    rows = opened.experiments.timings(benchmark)
    if options["timing_report"]:
        click.echo()
        print_timings(rows)
    if path:
        write_json(path, rows)


def print_timings(rows: Sequence[Timing]) -> None:
    """One line per configuration: seconds and share of each phase."""
    table = terminal_table()
    for name in ("configuration", "n", "time", *PHASES):
        table.add_column(name, justify="left" if name == "configuration" else "right")
    for row in rows:
        shares = [f"{duration(row.phases[phase])} ({row.phases[phase] / (row.seconds or 1):.0%})" for phase in PHASES]
        table.add_row(plain(row.label), str(row.experiments), duration(row.seconds), *shares)
    console().print(table)
    console().print(
        "The last column (journal) contains all other time, such as the time to write the journal and to wait for a "
        "worker.",
        style="dim",
    )
