"""``koderz cortex``: the memory that experiments leave behind, for any MCP client; its status and its backfill.

``serve`` opens no workspace: a client waits while its server starts, and the memory needs none.
"""

from __future__ import annotations

import importlib
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import click
import msgspec

from koderz_core import __version__
from koderz_core.cli.numbers import Whole
from koderz_core.config import load_settings
from koderz_core.errors import CortexError
from koderz_core.export.formats import numbered, plain
from koderz_core.memory.client import Client, memory_file, server_of
from koderz_core.memory.cortex.open import (
    DEFAULT_PROJECT,
    MAX_CHARS,
    MAX_MEGABYTES,
    Cortex,
    CortexLimits,
)
from koderz_core.memory.mirror import mirroring
from koderz_core.memory.standing import Condition, Standing, condition, journals, standing
from koderz_core.memory.standing import backfill as bring

WATCH_SECONDS = 0.1
# Its own copy: the module of the shared options imports more than a server may wait for.
DATA_DIR = click.option(
    "--data-dir", type=click.Path(file_okay=False, path_type=Path), help="Data folder, instead of KODERZ_HOME."
)
LISTED = 20  # losses of one journal
SHOWN_CHARS = 300


class CortexGroup(click.Group):
    """Imports the commands for people only when they are called, so that a server starts without them."""

    ELSEWHERE: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("backfill", "status"), "koderz_core.cli.cortex"),
        **dict.fromkeys(("recall", "show", "lessons"), "koderz_core.cli.memories"),
    }

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *self.ELSEWHERE]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.ELSEWHERE:
            return super().get_command(ctx, name)
        command: click.Command = getattr(importlib.import_module(self.ELSEWHERE[name]), name)
        return command


@click.group(cls=CortexGroup)
def cortex() -> None:
    """Search the memory of experiments, or serve it to MCP clients."""


@cortex.command()
@click.option(
    "--db",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Memory file, instead of CORTEX_DB or cortex.db in the data folder.",
)
@click.option("--project", default=DEFAULT_PROJECT, show_default=True, help='Active project at the start; "*": all.')
@click.option("--max-chars", type=Whole(1), default=MAX_CHARS, show_default=True, help="Maximum length of one memory.")
@click.option(
    "--max-megabytes", type=Whole(1), default=MAX_MEGABYTES, show_default=True, help="Maximum size of the file."
)
@DATA_DIR
def serve(db: Path | None, project: str, max_chars: int, max_megabytes: int, data_dir: Path | None) -> None:
    """Serve the memory to an MCP client over standard input and output, until the input ends.

    The client starts this command itself. For Claude Code: `claude mcp add koderz -- koderz cortex serve`. Several
    servers may share one file.
    """
    with _ends_with_its_starter():
        from koderz_core.memory.cortex.server import serve as serve_cortex  # noqa: PLC0415 (imports for a second)

    path = db or memory_file(load_settings(home=data_dir))
    serve_cortex(Cortex(path, CortexLimits(max_chars, max_megabytes), project), __version__)


@contextmanager
def _ends_with_its_starter() -> Iterator[None]:
    """Exit when the parent process has gone: until the input is read, its end goes unnoticed."""
    starter, reads = os.getppid(), threading.Event()

    def watch() -> None:
        while not reads.wait(WATCH_SECONDS):
            if os.getppid() != starter:
                os._exit(0)

    threading.Thread(target=watch, daemon=True, name="starter").start()
    yield
    reads.set()


@click.command()
@click.argument("benchmark", default="", metavar="[BENCHMARK]")
@click.option(
    "--again", is_flag=True, help="Also send what was confirmed before, for example after the memory file was lost."
)
@DATA_DIR
def backfill(benchmark: str, data_dir: Path | None, *, again: bool) -> int:
    """Send to the memory server what is missing from all journals, or from one benchmark.

    The server that comes with koderz stores nothing twice.
    """
    settings = load_settings(home=data_dir)
    files, reported = journals(settings.journals_dir, benchmark), list[Standing]()
    if not files:
        click.echo(f"There are no journals in {settings.journals_dir}. Start with: koderz quickstart")
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
    """Show whether the memory server answers, what it stores of each journal, and what is missing and why."""
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


def worded(one: Standing) -> str:
    """One journal: how much of it is in memory, then what is missing."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(one.memories.items())) or "none"
    lines = [f"{one.benchmark}: {one.mirrored} of {one.events} events mirrored; memories: {kinds}"]
    lines += [f"  stopped: {plain(one.fault, SHOWN_CHARS)}"] if one.fault else []
    for loss in one.losses[:LISTED]:
        verb = "partly stored" if loss.stored else "not stored"
        lines.append(f"  {verb}: {plain(loss.title)} ({plain(loss.why, SHOWN_CHARS)})")
    if len(one.losses) > LISTED:
        lines.append(f"  … and {len(one.losses) - LISTED} more (--json shows all)")
    return "\n".join(lines)


def worded_condition(server: Condition, rows: Sequence[Standing], memory: str) -> Iterator[str]:
    """The state of the server, each journal with memories or losses, and what to do."""
    yield f"Server: {plain(server.command)}"
    yield f"Fails: {plain(server.fault)}" if server.fault else f"Answers: {plain(server.name)} {plain(server.version)}"
    if memory == "off":
        yield "KODERZ_MEMORY is off: running experiments store no memories."
    if server.held is not None:
        yield f"Memories in all projects: {server.held}"
        if server.held < (counted := sum(sum(row.memories.values()) for row in rows)):
            yield f"The server confirmed {counted} but has fewer now. To resend them: koderz cortex backfill --again"
    if server.trouble:
        yield f"Last error: {plain(server.trouble.said, SHOWN_CHARS)}"
    yield from map(worded, rows)
    yield from _cure(rows)


def _cure(rows: Iterable[Standing]) -> Iterator[str]:
    behind = sum(not row.complete for row in rows)
    if behind:
        yield f"Not fully in memory: {numbered(behind, 'benchmark')}. To add the rest: koderz cortex backfill"
