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
from koderz_core.cli.numbers import Whole
from koderz_core.cli.options import data_dir
from koderz_core.config import CHECKOUT
from koderz_core.errors import InfrastructureError

PLACES = (CHECKOUT / "koderz_dashboard", CHECKOUT)  # where a wheel puts app.py, and where the checkout has it


@click.command()
@click.option("--port", type=Whole(0, 65535), default=8501, show_default=True, help="0: one that is free.")
@click.option("--no-browser", is_flag=True, help="Open no browser, only say the address.")
@click.option(
    "--open",
    "bundle",
    type=click.Path(path_type=Path),
    help="Look at a bundle, which is verified first and can only be read.",
)
@data_dir
def ui(port: int, no_browser: bool, bundle: Path | None, data_dir: Path | None) -> NoReturn:
    """Show the dashboard in the browser; only this machine can reach it.

    Ctrl-C ends it. What runs then is stopped and can be taken up again.
    """
    if bundle:
        sys.exit(_show_bundle(bundle, port, no_browser=no_browser))
    show(port, data_dir, no_browser=no_browser)


def show(port: int, data_dir: Path | None, *, no_browser: bool = False) -> NoReturn:
    """Become the dashboard's server. Raises InfrastructureError if it cannot be."""
    command = _command(port, no_browser=no_browser)
    if data_dir:
        os.environ["KODERZ_HOME"] = str(data_dir.absolute())
    sys.stdout.flush()
    os.execv(sys.executable, command)  # noqa: S606 (no shell wanted)


def _show_bundle(bundle: Path, port: int, *, no_browser: bool) -> int:
    """Serve a data folder made of the bundle, which is gone when the dashboard has ended. Raises DataError."""
    from koderz_core.bundles.making import open_bundle  # noqa: PLC0415 (who shows his own data needs none of it)

    command = _command(port, no_browser=no_browser)
    with tempfile.TemporaryDirectory(prefix="koderz-bundle-") as folder:
        home = Path(folder) / "home"
        open_bundle(bundle, home)
        asked = os.environ | {"KODERZ_HOME": str(home), "KODERZ_MEMORY": "off"}
        with subprocess.Popen(command, env=asked) as server:
            for wish in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(wish, lambda number, _frame: server.send_signal(number))
            code = server.wait()
            return code if code >= 0 else 128 - code  # as a shell says that a signal ended it


def _command(port: int, *, no_browser: bool) -> list[str]:
    script = _find_app()
    _check_port(port)
    # -P: a file in the current folder must not pass for one of Python's modules.
    command = [sys.executable, "-P", "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    return [*command, *(("--server.headless", "true") if no_browser else ())]


def _find_app() -> Path:
    for place in PLACES:
        if (place / "app.py").is_file():
            return place / "app.py"
    raise InfrastructureError(f"app.py of the dashboard is missing in {CHECKOUT}. Install koderz again.")


def _check_port(port: int) -> None:
    """Raise InfrastructureError if nobody may listen there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise InfrastructureError(
                f"Port {port} cannot be used: {error.strerror}. Perhaps {url_of(LOOPBACK, port)} is a dashboard; "
                "else choose another port: `koderz ui --port 0` takes one that is free."
            ) from error
