"""A dashboard over a data folder in a process of its own, and a browser to view it.

Used by the benchmarks of the dashboard.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
ROOT = str(Path(__file__).parents[1])
SERVE = "from koderz_core.cli import main; main()"
WITHIN = 240.0  # seconds for the dashboard to answer and to end, and for a page to be drawn, on a busy machine


@dataclass(frozen=True, slots=True)
class Dashboard:
    """Its address and its process."""

    url: str
    process: int


@contextmanager
def dashboard(home: Path, log: Path, **variables: str) -> Iterator[Dashboard]:
    """This koderz over a data folder, with only these ``variables`` of koderz in its environment."""
    command = [sys.executable, "-P", "-c", SERVE, "ui", "--no-browser", "--port", "0", "--data-dir", str(home)]
    with log.open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=_environment(variables))
        try:
            yield Dashboard(_url(server, log), server.pid)
        finally:
            server.terminate()
            server.wait(WITHIN)


@contextmanager
def bare(folder: Path, text: str) -> Iterator[str]:
    """The address of a server of Streamlit whose only page has this ``text`` as its script, as a yardstick."""
    script = folder / "bare.py"
    script.write_text(text)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--server.port", str(port), "--server.headless", "true", "--server.address", "127.0.0.1"]
    command = [sys.executable, "-m", "streamlit", "run", str(script), *options]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_until_open(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(WITHIN)


@contextmanager
def browser() -> Iterator[Browser]:
    """A Chromium of this machine."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    root = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox refuses root
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=root)
        yield opened
        opened.close()


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("KODERZ_")}
    return own | {"PYTHONPATH": ROOT} | variables


def _url(server: subprocess.Popen[bytes], log: Path) -> str:
    last = time.monotonic() + WITHIN
    while time.monotonic() < last and server.poll() is None:
        if said := re.search(r"koderz is at (\S+)", log.read_text()):
            return said[1]
        time.sleep(0.02)
    raise SystemExit(f"The dashboard does not come up: {log.read_text()}")


def _wait_until_open(port: int) -> None:
    last = time.monotonic() + WITHIN
    while time.monotonic() < last:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("The yardstick's server does not come up.")
