"""What the first page of a server needs is loaded while the server starts and a browser fetches the page's frame."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from concurrent.futures import Future
from importlib import import_module
from pathlib import Path

from koderz_core import process, the_workspace
from koderz_core.workspace.background import Background

NAME = "warming"


def begin_warming(script: Path) -> None:
    """Import beside everything else what a page's script imports, then bring the index up to date with the journals."""
    imported: Future[None] = Future()
    if process.the_one(NAME, lambda: imported) is imported:
        Background[None]().begin(NAME, "", lambda: _warm_up(script, imported))


def wait_for_imports() -> None:
    """Two threads must not import the same packages at once: those that import each other would be met half imported.

    Returns at once where nothing was begun, as in a test of one page.
    """
    process.the_one(NAME, _nothing_begun).result()


def imported_by(script: Path) -> Iterator[str]:
    """The modules that a script imports at its top."""
    for node in ast.parse(script.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)


def _warm_up(script: Path, imported: Future[None]) -> None:
    """A failure is only logged: the page meets it again, and says there what to do."""
    try:
        for name in imported_by(script):
            import_module(name)
    finally:
        imported.set_result(None)
    results = the_workspace().results
    if rows := results.benchmarks():
        results.summaries(rows[0].id)


def _nothing_begun() -> Future[None]:
    done: Future[None] = Future()
    done.set_result(None)
    return done
