"""The programs of an experiment as ``koderz analyze --show-code`` prints them, in the order they were tried."""

from __future__ import annotations

from collections.abc import Mapping

import click

from koderz_core.export.course import repeated
from koderz_core.export.formats import plain
from koderz_core.records.rows import ExperimentDetails


def print_programs(details: ExperimentDetails, texts: Mapping[str, str]) -> None:
    """Each iteration's program, a repeated one only by name; then one that was handed in untested.

    ``texts``: SHA-256 -> source of ``tried_programs``.
    """
    again = repeated(details.iterations)
    returned = details.experiment.code
    for tried in details.iterations:
        click.echo(f"\nIteration {tried.iteration}, {tried.tests_passed} of {tried.tests_total} gate tests:", nl=False)
        if tried.code is None:
            click.echo(" no program in the reply")
        elif tried.iteration in again:
            click.echo(f" same as iteration {again[tried.iteration]}")
        else:
            click.echo(f"{' returned' if tried.code == returned else ''}\n{plain(texts[tried.code])}")
    if returned and all(tried.code != returned for tried in details.iterations):
        click.echo(f"\nReturned untested:\n{plain(texts[returned])}")


def tried_programs(details: ExperimentDetails) -> set[str]:
    """The SHA-256 of every program that was tried or returned."""
    return {code for code in (details.experiment.code, *(tried.code for tried in details.iterations)) if code}
