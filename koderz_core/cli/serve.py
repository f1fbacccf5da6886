"""``koderz serve``: grading and results over HTTP."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import click

import koderz_core
from koderz_core.addresses import LOOPBACK, is_loopback, url_of
from koderz_core.cli.options import Whole, data_dir
from koderz_core.errors import InfrastructureError, UsageError
from koderz_core.report.formats import isolation

M_ARENA_MAX = -8  # malloc.h of glibc
BACKLOG = 512  # connections that wait to be accepted
PRIVATE = 0o177  # the umask of a socket that only its owner may use


@click.command()
@click.option("--host", default=LOOPBACK, show_default=True, help="Address to listen on. An address "
              "that other machines can reach requires KODERZ_SERVE_TOKEN.")  # fmt: skip
@click.option(
    "--port", type=Whole(0, 65535), default=8765, show_default=True, help="Port to listen on; 0 selects any free port."
)
@click.option(
    "--socket",
    "path",
    type=click.Path(path_type=Path),
    help="Listen on this Unix socket instead of a port. Only you can connect to it.",
)
@click.option(
    "--queue",
    type=Whole(1, 1_000_000),
    default=2000,
    show_default=True,
    help="Maximum number of programs that wait or run.",
)
@click.option(
    "--client-queue",
    type=Whole(1, 1_000_000),
    default=1000,
    show_default=True,
    help="Maximum number of programs of one client that wait or run.",
)
@data_dir
def serve(host: str, port: int, path: Path | None, queue: int, client_queue: int, data_dir: Path | None) -> None:
    """Serve an HTTP API that grades programs, returns results and starts benchmarks, for example for training loops.

    Programs run in the sandbox only. /openapi.json describes all endpoints. Clients can start benchmarks only if
    KODERZ_SERVE_TOKEN is set. Every request must then contain this token. Ctrl-C ends the server.
    """
    from koderz_core.serve.app import Application  # noqa: PLC0415 (heavy)
    from koderz_core.serve.connection import server  # noqa: PLC0415 (as above)
    from koderz_core.serve.parts import Limits, Parts  # noqa: PLC0415 (as above)

    _share_arena()
    is_open = path is None and not is_loopback(url_of(host))
    with koderz_core.open_workspace(home=data_dir) as opened, _listening(path, host, port) as listener:
        if is_open and not opened.settings.serve_token:
            raise UsageError(
                f"--host {host} would let other machines run programs on this machine. Set KODERZ_SERVE_TOKEN, so "
                "that every request must contain this token, or omit --host and use an SSH tunnel."
            )
        tested = opened.grading.sandbox.self_test()
        parts = Parts(opened, Limits(queue, client_queue), is_open=is_open)
        click.echo(f"Isolation: {isolation(tested.isolation, tested.score)}.", err=True)
        where = path or url_of(host, listener.getsockname()[1])
        click.echo(f"koderz serve is at {where}  (Ctrl-C stops the server)")
        _end_by_signals()
        with closing(parts):
            server(Application(parts)).run([listener])


def _share_arena() -> None:
    """Let all threads share one malloc arena, as in ``koderz ui``, unless the user has set their number."""
    if "MALLOC_ARENA_MAX" not in os.environ:
        with suppress(AttributeError, OSError, TypeError):  # other systems than Linux with glibc
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def _end_by_signals() -> None:
    """Let SIGTERM, which uvicorn raises again at its end, leave through the clean-up; a closed terminal does the same.

    SIGHUP stays ignored under nohup.
    """
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda _number, _frame: signal.raise_signal(signal.SIGTERM))


@contextmanager
def _listening(path: Path | None, host: str, port: int) -> Iterator[socket.socket]:
    """A listening socket; a Unix socket is removed at the end. Raises InfrastructureError."""
    try:
        listener = _unix_socket(path) if path else _network_socket(host, port)
    except OSError as error:
        what = f"The socket {path}" if path else f"Port {port} of {host}"
        cure = "Choose another path" if path else "Choose another port, or use any free port: `koderz serve --port 0`"
        raise InfrastructureError(f"{what} cannot be used: {error.strerror or error}. {cure}.") from error
    with listener:
        listener.listen(BACKLOG)  # before the address is printed, so that a client may connect at once
        try:
            yield listener
        finally:
            if path:
                path.unlink(missing_ok=True)


def _network_socket(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError:
        listener.close()
        raise
    return listener


def _unix_socket(path: Path) -> socket.socket:
    """A socket that only this user may connect to. One that a server left behind is replaced."""
    listener = socket.socket(socket.AF_UNIX)
    try:
        if path.exists() and stat.S_ISSOCK(path.stat().st_mode):
            with socket.socket(socket.AF_UNIX) as other:
                if other.connect_ex(str(path)):
                    path.unlink()
        before = os.umask(PRIVATE)
        try:
            listener.bind(str(path))
        finally:
            os.umask(before)
    except OSError:
        listener.close()
        raise
    return listener
