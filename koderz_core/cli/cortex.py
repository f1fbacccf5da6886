"""``koderz cortex``: the memory that experiments leave behind, for any MCP client.

Most of it opens no workspace: a client waits while its server starts, and the memory needs none.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import click
import msgspec

from koderz_core import __version__
from koderz_core.cli.cortex_wording import worded, worded_condition
from koderz_core.config import load_settings
from koderz_core.errors import CortexError
from koderz_core.memory.client import Client
from koderz_core.memory.cortex.open import (
    DEFAULT_PROJECT,
    MAX_CHARS,
    MAX_MEGABYTES,
    Cortex,
    CortexLimits,
)
from koderz_core.memory.cortex.server import serve as serve_cortex
from koderz_core.memory.opening import mirroring
from koderz_core.memory.servers import memory_file, server_of
from koderz_core.memory.standing import Standing, condition, journals, standing
from koderz_core.memory.standing import backfill as bring

# Of its own: what the options of other commands are imported with takes longer than a server to start.
DATA_DIR = click.option("--data-dir", type=click.Path(file_okay=False, path_type=Path), help="Instead of KODERZ_HOME.")


class CortexGroup(click.Group):
    """Imports the commands for people, which open a workspace, only where one of them is called."""

    FOR_PEOPLE = ("recall", "show", "lessons")

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *self.FOR_PEOPLE]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.FOR_PEOPLE:
            return super().get_command(ctx, name)
        command: click.Command = getattr(importlib.import_module("koderz_core.cli.memories"), name)
        return command


@click.group(cls=CortexGroup)
def cortex() -> None:
    """The memory of experiments, over MCP."""


@cortex.command()
@click.option(
    "--db",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Instead of CORTEX_DB, or cortex.db in the data folder.",
)
@click.option("--project", default=DEFAULT_PROJECT, show_default=True, help='Active project at the start; "*" for all.')
@click.option("--max-chars", type=click.IntRange(1), default=MAX_CHARS, show_default=True, help="Per memory.")
@click.option("--max-megabytes", type=click.IntRange(1), default=MAX_MEGABYTES, show_default=True, help="Of the file.")
@DATA_DIR
def serve(db: Path | None, project: str, max_chars: int, max_megabytes: int, data_dir: Path | None) -> None:
    """Serve the memory over standard input and output, until the input ends.

    For an MCP client, which starts it itself: for Claude Code, `claude mcp add koderz -- koderz cortex serve`. Several
    may run on one file.
    """
    path = db or memory_file(load_settings(home=data_dir))
    serve_cortex(Cortex(path, CortexLimits(max_chars, max_megabytes), project), __version__)


@cortex.command()
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


@cortex.command()
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
