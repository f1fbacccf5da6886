"""``koderz cortex``: the group of its commands, and the server of the memory for any MCP client.

``serve`` opens no workspace: a client waits while its server starts, and the memory needs none.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from koderz_core import __version__
from koderz_core.cli import LazyGroup
from koderz_core.cli.options import Whole, data_dir
from koderz_core.config import load_settings
from koderz_core.memory.client import memory_file
from koderz_core.memory.cortex.database import (
    DEFAULT_PROJECT,
    MAX_CHARS,
    MAX_MEGABYTES,
    Cortex,
    CortexLimits,
)

WATCH_SECONDS = 0.1
FOR_PEOPLE = {name: f"memories:{name}" for name in ("backfill", "status", "recall", "show", "lessons")}
"""Commands that are imported only when they are called, so that a server starts without them."""


@click.group(cls=LazyGroup, elsewhere=FOR_PEOPLE)
def cortex() -> None:
    """Search the memories that experiments have stored, or serve them to MCP clients."""


@cortex.command()
@click.option(
    "--db",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Memory file. Default: the path in the setting CORTEX_DB or, without this setting, cortex.db in the data "
    "folder.",
)
@click.option(
    "--project",
    default=DEFAULT_PROJECT,
    show_default=True,
    help='Project that is active until the client chooses another project; "*" means all projects.',
)
@click.option(
    "--max-chars", type=Whole(1), default=MAX_CHARS, show_default=True, help="Maximum number of characters per memory."
)
@click.option(
    "--max-megabytes",
    type=Whole(1),
    default=MAX_MEGABYTES,
    show_default=True,
    help="Maximum size of the memory file in MiB.",
)
@data_dir
def serve(db: Path | None, project: str, max_chars: int, max_megabytes: int, data_dir: Path | None) -> None:
    """Serve the memory to an MCP client over standard input and output, until the input ends.

    The client starts this command itself. For Claude Code: `claude mcp add koderz -- koderz cortex serve`. Several
    servers may use the same memory file.
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
