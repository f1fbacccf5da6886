"""``koderz doctor``: what works on this machine, what is missing, and how to fix it."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

import click

from koderz_core import __version__
from koderz_core.cli.options import OutputPath, data_dir, workspace
from koderz_core.diagnosis import SIGNS, Diagnosis, Finding, diagnose
from koderz_core.diagnosis.journals import index
from koderz_core.diagnosis.model_probes import ask_each
from koderz_core.errors import ConfigError, DataError, InfrastructureError
from koderz_core.models.availability import Availability
from koderz_core.report.formats import plain
from koderz_core.workspace import Workspace


@click.command()
@click.option(
    "--real",
    is_flag=True,
    help="Also send a short question to each local model and to the cheapest model of each paid provider.",
)
@click.option("--grader", is_flag=True, help="Run the complete self-test of the grader, which takes a few seconds.")
@click.option("--repair", is_flag=True, help="First repair what can be repaired safely, and list the repairs.")
@click.option("--json", "report", type=OutputPath(), help="Write the findings to this file.")
@data_dir
def doctor(real: bool, grader: bool, repair: bool, report: Path | None, data_dir: Path | None) -> int:
    """Check models, servers, keys, datasets, the grader, the disk, journals and the index.

    --repair cuts torn lines, removes unreadable lines from journals (the original stays in a file beside it), releases
    the locks of dead processes and rebuilds a broken index. Exits with 3 if something required is missing or failed.
    """
    with workspace(data_dir) as opened:
        whole = not repair or _repaired(opened)
        surveyed, wrong = _surveyed(opened)
        found = diagnose(opened.settings, surveyed, __version__, whole_self_test=grader)
        found = Diagnosis((*wrong, *found.findings, *index(opened.upkeep.index_fault())))
        if real and not wrong:
            found = Diagnosis((*found.findings, *ask_each(opened.ask, surveyed, opened.settings)))
    _show(found)
    if report:
        _write(found, report)
    return InfrastructureError.exit_code if found.missing or not whole else 0


def _repaired(opened: Workspace) -> bool:
    """Repair, print the repairs, and return whether everything is intact now."""
    whole = True
    for journal in opened.upkeep.mend():
        whole = whole and journal.sound
        verdict = "Repaired" if journal.sound else "Not repaired"
        click.echo(f"{verdict}: {plain(journal.subject)} {plain(journal.message, 1000)}")
    if whole:
        click.echo("All journals and the index are intact.")
    return whole


def _surveyed(opened: Workspace) -> tuple[list[Availability], tuple[Finding, ...]]:
    """The models, or the finding why they cannot be listed: a fault of what is checked does not stop the check."""
    try:
        return opened.available_models(), ()
    except ConfigError as error:
        lead, _, cure = str(error).rpartition(". ")
        return [], (Finding("settings", "models.toml", "missing", lead, cure),)


def _show(found: Diagnosis) -> None:
    for area, findings in groupby(found.findings, key=lambda one: one.area):
        click.echo(f"\n{area}")
        for one in findings:
            click.echo(f"  {_line(one)}")
    click.echo()
    for one in found.missing:
        click.echo(f"Missing: {plain(one.subject)} ({plain(one.said, 300)}). {plain(one.cure, 500)}")
    if not found.missing:
        click.echo("Everything required is in place.")


def _line(one: Finding) -> str:
    cure = f"  → {plain(one.cure, 300)}" if one.cure else ""
    return f"{SIGNS[one.state][0]} {plain(one.subject)}: {plain(one.said, 300)}{cure}"


def _write(found: Diagnosis, report: Path) -> None:
    """For programs, and for sharing in a bug report: no finding contains a key."""
    told = {"findings": [asdict(finding) for finding in found.findings], "missing": len(found.missing)}
    try:
        report.write_text(json.dumps(told, indent=2) + "\n")
    except OSError as error:
        raise DataError(f"{report} cannot be written: {error.strerror}. Choose another file with --json.") from error
