"""``koderz doctor``: which sandbox tiers hold here, and whether the grader can be trusted."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import click

from koderz_core.cli.options import data_dir, workspace
from koderz_core.errors import InfrastructureError
from koderz_core.export.formats import isolation, plain
from koderz_core.sandbox.opening import Examined
from koderz_core.sandbox.selftest import GROUPS, SelfTest


@click.command()
@click.option("--grader", is_flag=True, help="The whole self-test of the grader: some seconds.")
@click.option("--json", "report", type=click.File("w", encoding="utf-8", lazy=False), help="Also as JSON to a file.")
@data_dir
def doctor(grader: bool, report: IO[str] | None, data_dir: Path | None) -> int:
    """Say which sandbox tiers hold here, why the others do not and what to do, and test the grader.

    Exits with 3 if something that is needed is missing or failed.
    """
    with workspace(data_dir) as opened:
        found = opened.sandbox.examined(opened.dataset().problems if grader else ())
    if report:
        json.dump(_row(found), report, indent=2)
    _print(found)
    return 0 if found.sound else InfrastructureError.exit_code


def _row(found: Examined) -> dict[str, Any]:  # Any: JSON
    tested = found.self_test
    return {
        "tiers": [{**asdict(one), "holds": one.holds} for one in found.tiers],
        "used": found.used,
        "trouble": found.trouble,
        "self_test": None if tested is None else {**asdict(tested), "passed": tested.passed},
    }


def _print(found: Examined) -> None:
    click.echo("Sandbox tiers, best first:")
    for one in found.tiers:
        used = "  <- programs are judged in this one" if one.isolation == found.used else ""
        click.echo(f"  {'✓' if one.holds else '✗'} {one.isolation:<9} {plain(one.reason or 'holds')}{used}")
    if found.trouble:
        click.echo(f"\n{plain(found.trouble)}")
    if found.self_test:
        click.echo(f"\nGrader: {isolation(found.self_test.isolation, found.self_test.score)}")
        _print_test(found.self_test)


def _print_test(tested: SelfTest) -> None:
    """A line per group, and each failure in full."""
    for group in GROUPS:
        checks = [check for check in tested.checks if check.group == group]
        passed = sum(check.passed for check in checks)
        click.echo(f"  {'✓' if passed == len(checks) else '✗'} {group:<20} {passed}/{len(checks)}")
    for check in tested.failures:
        click.echo(f"\nFAILED {check.group}: {plain(check.name)}\n  {plain(check.seen)}")
    if not tested.passed:
        click.echo("\nNothing is judged while that is so: please report it with these lines.")
