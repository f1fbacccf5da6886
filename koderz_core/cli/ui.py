"""``koderz ui``: the dashboard in the browser."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

import click

from koderz_core.addresses import LOOPBACK, url_of
from koderz_core.cli.options import Whole, data_dir
from koderz_core.config import CHECKOUT
from koderz_core.errors import InfrastructureError
from koderz_core.input_files import expand_home

PLACES = (CHECKOUT / "koderz_dashboard", CHECKOUT)  # app.py in a wheel and in a checkout


@click.command()
@click.option(
    "--port", type=Whole(0, 65535), default=8501, show_default=True, help="Port of the dashboard; 0: any free port."
)
@click.option("--no-browser", is_flag=True, help="Print the address, but do not open a browser.")
@click.option(
    "--open",
    "bundle",
    type=click.Path(path_type=Path),
    help="Verify this bundle (a file from `koderz bundle`), then show it read-only.",
)
@data_dir
def ui(port: int, no_browser: bool, bundle: Path | None, data_dir: Path | None) -> NoReturn:
    """Open the dashboard in the browser. Only this machine can reach it.

    Ctrl-C ends the dashboard and stops the benchmarks that it runs. You can resume these benchmarks.
    """
    if bundle:
        sys.exit(_show_bundle(bundle, port, no_browser=no_browser))
    show(port, data_dir, no_browser=no_browser)


def show(port: int, data_dir: Path | None, *, no_browser: bool = False) -> NoReturn:
    """Replace this process by the server of the dashboard. Raises InfrastructureError if that is impossible."""
    command = _command(port, no_browser=no_browser)
    # Every page is drawn by a thread of its own. Without a limit, the memory that each leaves in an arena of its own
    # grows for hours (docs/durability.md).
    os.environ.setdefault("MALLOC_ARENA_MAX", "1")
    if data_dir:
        os.environ["KODERZ_HOME"] = str(expand_home(data_dir).absolute())
    sys.stdout.flush()
    os.execv(sys.executable, command)  # noqa: S606 (no shell wanted)


def _show_bundle(bundle: Path, port: int, *, no_browser: bool) -> int:
    """Serve a temporary data folder made from the bundle. Raises DataError."""
    from koderz_core.workspace.bundles import open_bundle  # noqa: PLC0415 (only a bundle needs it)

    command = _command(port, no_browser=no_browser)
    with tempfile.TemporaryDirectory(prefix="koderz-bundle-") as folder:
        home = Path(folder) / "home"
        open_bundle(bundle, home)
        environment = os.environ | {"KODERZ_HOME": str(home), "KODERZ_MEMORY": "off"}
        with subprocess.Popen(command, env=environment) as server:
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, lambda received, _frame: server.send_signal(received))
            code = server.wait()
            return code if code >= 0 else 128 - code  # the exit code of a shell after a signal


def _command(port: int, *, no_browser: bool) -> list[str]:
    script = _find_app()
    _check_port(port)
    # -P: a file in the current folder must not replace a module of Python.
    command = [sys.executable, "-P", "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    return [*command, *(("--server.headless", "true") if no_browser else ())]


def _find_app() -> Path:
    for place in PLACES:
        if (place / "app.py").is_file():
            return place / "app.py"
    raise InfrastructureError(f"The dashboard's file app.py is missing in {CHECKOUT}. Install koderz again.")


def _check_port(port: int) -> None:
    """Raise InfrastructureError if the port cannot be opened."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise InfrastructureError(
                f"Port {port} cannot be used: {error.strerror}. A dashboard may already be running at "
                f"{url_of(LOOPBACK, port)}. If not, choose another port, or use any free port: `koderz ui --port 0`."
            ) from error
