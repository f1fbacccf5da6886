"""What the first page of a server needs is imported while the server starts and a browser fetches the page's frame."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from importlib import import_module
from pathlib import Path

from koderz_core import process

NAME = "warming"


def begin_warming(script: Path) -> None:
    """Import, beside everything else, what a page's script imports.

    Nothing but imports: a process that is told to end waits for this thread.
    """
    process.the_one(NAME, lambda: _begun(script))


def wait_for_imports() -> None:
    """Two threads must not import the same packages at once: those that import each other would be met half imported.

    Returns at once where nothing was begun, as in a test of one page. An import that failed fails again in the page,
    which says so.
    """
    wait([process.the_one(NAME, _nothing_begun)])


def imported_by(script: Path) -> Iterator[str]:
    """The modules that a script imports at its top."""
    for node in ast.parse(script.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def _begun(script: Path) -> Future[None]:
    worker = ThreadPoolExecutor(1, NAME)
    begun = worker.submit(_import, script)
    worker.shutdown(wait=False)  # after this one
    return begun


def _import(script: Path) -> None:
    for name in imported_by(script):
        import_module(name)


def _nothing_begun() -> Future[None]:
    done: Future[None] = Future()
    done.set_result(None)
    return done
