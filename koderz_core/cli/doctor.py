"""``koderz doctor``: what works on this machine, what is missing, and how to fix it."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

import click

from koderz_core.cli.options import OutputPath, data_dir, workspace
from koderz_core.errors import DataError, InfrastructureError, UsageError
from koderz_core.report.formats import plain
from koderz_core.workspace import Workspace
from koderz_core.workspace.health import SIGNS, Diagnosis, Finding


@click.command()
@click.option(
    "--real",
    is_flag=True,
    help="Also send a short question to each local model and to the cheapest model of each paid provider.",
)
@click.option("--grader", is_flag=True, help="Run the complete self-test of the grader, which takes a few seconds.")
@click.option(
    "--repair",
    is_flag=True,
    help="First repair journals and the index without losing intact data, and list the repairs.",
)
@click.option(
    "--ports",
    is_flag=False,
    flag_value="",
    metavar="[PORT,...]",
    help="Only list the model servers that answer on this machine at their usual ports and at the given ports.",
)
@click.option("--json", "report", type=OutputPath(), help="Write the results of the checks as JSON to this file.")
@data_dir
def doctor(
    real: bool, grader: bool, repair: bool, ports: str | None, report: Path | None, data_dir: Path | None
) -> int:
    """Check models, servers, keys, datasets, the grader, the disk, journals and the index.

    Exits with code 3 if a required item is missing or does not work.

    --ports shows which program answers at each usual port of model servers, which protocol the program uses, and how
    to use the program with koderz.

    --repair removes incomplete and unreadable lines from journals, releases the locks of dead processes and rebuilds a
    broken index. Before it removes unreadable lines, it saves a copy of the journal in the same folder.
    """
    if ports is not None and (real or grader or repair):
        raise UsageError("--ports checks only ports. Omit --real, --grader and --repair, or omit --ports.")
    with workspace(data_dir) as opened:
        whole = not repair or _repaired(opened)
        checked = None if ports is None else Diagnosis(opened.health.ports(_numbers(ports)))
        diagnosis = checked or opened.health.diagnosis(whole_self_test=grader, ask_models=real)
    _show_areas(diagnosis)
    if checked is None:
        _show_missing(diagnosis)
    if report:
        _write(diagnosis, report)
    return InfrastructureError.exit_code if diagnosis.missing or not whole else 0


def _numbers(ports: str) -> list[int]:
    """Raise UsageError for a text that is not a list of ports."""
    words = [word for word in ports.replace(",", " ").split() if word]
    if not all(word.isascii() and word.isdigit() and 0 < int(word) < 1 << 16 for word in words):
        raise UsageError(f"--ports takes numbers from 1 to 65535, separated by commas, not {plain(ports, 100)!r}.")
    return [int(word) for word in words]


def _repaired(opened: Workspace) -> bool:
    """Repair, print the repairs, and return whether everything is intact now."""
    whole = True
    for repair in opened.upkeep.repair():
        whole = whole and repair.sound
        verb = "Not repaired" if not repair.sound else "Skipped" if repair.skipped else "Repaired"
        click.echo(f"{verb}: {plain(repair.subject)} {plain(repair.message, 1000)}")
    if whole:
        click.echo("All journals and the index are intact.")
    return whole


def _show_areas(diagnosis: Diagnosis) -> None:
    for area, findings in groupby(diagnosis.findings, key=lambda finding: finding.area):
        click.echo(f"\n{area}")
        for finding in findings:
            click.echo(f"  {_line(finding)}")


def _show_missing(diagnosis: Diagnosis) -> None:
    click.echo()
    for finding in diagnosis.missing:
        what = f"{plain(finding.subject)} ({plain(finding.said, 300)})"
        click.echo(f"Missing or not working: {what}. {plain(finding.cure, 500)}")
    if not diagnosis.missing:
        click.echo("All required items are present and work.")


def _line(finding: Finding) -> str:
    cure = f"  → {plain(finding.cure, 300)}" if finding.cure else ""
    return f"{SIGNS[finding.state][0]} {plain(finding.subject)}: {plain(finding.said, 300)}{cure}"


def _write(diagnosis: Diagnosis, report: Path) -> None:
    """For programs, and for sharing in a bug report: no finding contains a key."""
    content = {"findings": [asdict(finding) for finding in diagnosis.findings], "missing": len(diagnosis.missing)}
    try:
        report.write_text(json.dumps(content, indent=2) + "\n")
    except OSError as error:
        raise DataError(f"{report} cannot be written: {error.strerror}. Choose another file with --json.") from error
