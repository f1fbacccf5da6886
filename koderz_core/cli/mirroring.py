"""``koderz cortex backfill`` and ``status``: what of the journals a memory server has, and what it lacks."""

from __future__ import annotations

import json
from pathlib import Path

import click
import msgspec

from koderz_core import __version__
from koderz_core.cli.cortex import DATA_DIR
from koderz_core.cli.cortex_wording import worded, worded_condition
from koderz_core.config import load_settings
from koderz_core.errors import CortexError
from koderz_core.memory.client import Client
from koderz_core.memory.opening import mirroring
from koderz_core.memory.servers import server_of
from koderz_core.memory.standing import Standing, condition, journals, standing
from koderz_core.memory.standing import backfill as bring


@click.command()
@click.argument("benchmark", default="", metavar="[BENCHMARK]")
@click.option("--again", is_flag=True, help="Also what was acknowledged before: for a memory file that was lost.")
@DATA_DIR
def backfill(benchmark: str, data_dir: Path | None, *, again: bool) -> int:
    """Let the memory server have what is missing of all journals, or of one benchmark.

    The server that comes with koderz stores nothing twice, however often it is offered.
    """
    settings = load_settings(home=data_dir)
    files, reported = journals(settings.journals_dir, benchmark), list[Standing]()
    if not files:
        click.echo(f"There are no journals in {settings.journals_dir}. Begin with: koderz quickstart")
        return 0

    def report(one: Standing) -> None:
        reported.append(one)
        click.echo(worded(one))

    with mirroring(settings, Client(server_of(settings), __version__)) as parts:
        bring(parts, settings.journals_dir, files, report, again=again)
    return 0 if all(one.complete for one in reported) else CortexError.exit_code


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
@DATA_DIR
def status(data_dir: Path | None, *, as_json: bool) -> int:
    """Show whether the memory server answers, what is remembered of each journal, and what is missing and why."""
    settings = load_settings(home=data_dir)
    folder = settings.journals_dir
    with mirroring(settings, Client(server_of(settings), __version__)) as parts:
        server = condition(parts)
        rows = [standing(folder, parts.ledger, file) for file in journals(folder)]
    if as_json:
        told = {"memory": settings.memory, "server": server, "journals": rows}
        click.echo(json.dumps(msgspec.to_builtins(told), indent=2))
    else:
        for line in worded_condition(server, rows, settings.memory):
            click.echo(line)
    return CortexError.exit_code if server.fault else 0
