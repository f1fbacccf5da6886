"""``koderz cortex``: the memory that experiments leave behind, for any MCP client.

Most of it opens no workspace: a client waits while its server starts, and the memory needs none.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import click

from koderz_core import __version__
from koderz_core.cli.numbers import Whole
from koderz_core.config import load_settings
from koderz_core.memory.cortex.open import (
    DEFAULT_PROJECT,
    MAX_CHARS,
    MAX_MEGABYTES,
    Cortex,
    CortexLimits,
)
from koderz_core.memory.servers import memory_file

WATCH_SECONDS = 0.1
# Of its own: what the options of other commands are imported with takes longer than a server to start.
DATA_DIR = click.option("--data-dir", type=click.Path(file_okay=False, path_type=Path), help="Instead of KODERZ_HOME.")


class CortexGroup(click.Group):
    """Imports what is not for clients only where it is called, so that a server starts without it."""

    ELSEWHERE: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("backfill", "status"), "koderz_core.cli.mirroring"),
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
    """The memory of experiments, over MCP."""


@cortex.command()
@click.option(
    "--db",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Instead of CORTEX_DB, or cortex.db in the data folder.",
)
@click.option("--project", default=DEFAULT_PROJECT, show_default=True, help='Active project at the start; "*" for all.')
@click.option("--max-chars", type=Whole(1), default=MAX_CHARS, show_default=True, help="Per memory.")
@click.option("--max-megabytes", type=Whole(1), default=MAX_MEGABYTES, show_default=True, help="Of the file.")
@DATA_DIR
def serve(db: Path | None, project: str, max_chars: int, max_megabytes: int, data_dir: Path | None) -> None:
    """Serve the memory over standard input and output, until the input ends.

    For an MCP client, which starts it itself: for Claude Code, `claude mcp add koderz -- koderz cortex serve`. Several
    may run on one file.
    """
    with _ends_with_its_starter():
        from koderz_core.memory.cortex.server import serve as serve_cortex  # noqa: PLC0415 (imports for a second)

    path = db or memory_file(load_settings(home=data_dir))
    serve_cortex(Cortex(path, CortexLimits(max_chars, max_megabytes), project), __version__)


@contextmanager
def _ends_with_its_starter() -> Iterator[None]:
    """As long as nothing is read, no end of the input tells that who started this process has gone."""
    starter, reads = os.getppid(), threading.Event()

    def watch() -> None:
        while not reads.wait(WATCH_SECONDS):
            if os.getppid() != starter:
                os._exit(0)

    threading.Thread(target=watch, daemon=True, name="starter").start()
    yield
    reads.set()
