"""``koderz ui``: the dashboard in the browser."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import NoReturn

import click

from koderz_core.addresses import LOOPBACK, url_of
from koderz_core.cli.options import data_dir
from koderz_core.config import CHECKOUT
from koderz_core.errors import InfrastructureError

PLACES = (CHECKOUT / "koderz_dashboard", CHECKOUT)  # where a wheel puts app.py, and where the checkout has it


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=8501, show_default=True, help="0: one that is free.")
@click.option("--no-browser", is_flag=True, help="Open no browser, only say the address.")
@data_dir
def ui(port: int, no_browser: bool, data_dir: Path | None) -> NoReturn:
    """Show the dashboard in the browser; only this machine can reach it.

    Ctrl-C ends it. What runs then is stopped and can be taken up again.
    """
    show(port, data_dir, no_browser=no_browser)


def show(port: int, data_dir: Path | None, *, no_browser: bool = False) -> NoReturn:
    """Become the dashboard's server. Raises InfrastructureError if it cannot be."""
    script = _find_app()
    _check_port(port)
    if data_dir:
        os.environ["KODERZ_HOME"] = str(data_dir.absolute())
    # -P: a file in the current folder must not pass for one of Python's modules.
    command = [sys.executable, "-P", "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    sys.stdout.flush()
    os.execv(sys.executable, [*command, *(("--server.headless", "true") if no_browser else ())])  # noqa: S606 (no shell wanted)


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
