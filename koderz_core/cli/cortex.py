"""``koderz cortex``: the memory that experiments leave behind, for any MCP client.

It opens no workspace: a client waits while its server starts, and the memory needs none.
"""

from __future__ import annotations

from pathlib import Path

import click

from koderz_core import __version__
from koderz_core.config import load_settings
from koderz_core.memory.cortex.open import (
    DEFAULT_PROJECT,
    FILE_NAME,
    MAX_CHARS,
    MAX_MEGABYTES,
    Cortex,
    CortexLimits,
)
from koderz_core.memory.cortex.server import serve as serve_cortex


@click.group()
def cortex() -> None:
    """The memory of experiments, over MCP."""


@cortex.command()
@click.option("--db", type=click.Path(dir_okay=False, path_type=Path), help="Instead of cortex.db in the data folder.")
@click.option("--project", default=DEFAULT_PROJECT, show_default=True, help='Active project at the start; "*" for all.')
@click.option("--max-chars", type=click.IntRange(1), default=MAX_CHARS, show_default=True, help="Per memory.")
@click.option("--max-megabytes", type=click.IntRange(1), default=MAX_MEGABYTES, show_default=True, help="Of the file.")
@click.option("--data-dir", type=click.Path(file_okay=False, path_type=Path), help="Instead of KODERZ_HOME.")
def serve(db: Path | None, project: str, max_chars: int, max_megabytes: int, data_dir: Path | None) -> None:
    """Serve the memory over standard input and output, until the input ends.

    For an MCP client, which starts it itself: for Claude Code, `claude mcp add koderz -- koderz cortex serve`. Several
    may run on one file.
    """
    path = db or load_settings(home=data_dir).home / FILE_NAME
    serve_cortex(Cortex(path, CortexLimits(max_chars, max_megabytes), project), __version__)
