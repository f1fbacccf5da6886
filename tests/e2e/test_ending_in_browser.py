"""What becomes of a running benchmark when the dashboard ends."""

from __future__ import annotations

import signal
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import streamlit
from playwright.sync_api import Page
from sample import thinned
from serving import NO_WEIGHTS, WITHIN, Serve
from test_dashboard_in_browser import launch

ENDING = (signal.SIGHUP, signal.SIGTERM)  # the first: its terminal was closed


@pytest.mark.parametrize("number", thinned(ENDING, "signals that end a dashboard"))
def test_a_benchmark_that_runs_when_the_dashboard_ends_is_closed_as_stopped(
    server: Serve, page: Page, tmp_path: Path, number: signal.Signals
) -> None:
    running = server(tmp_path / "home", NO_WEIGHTS)
    launch(page, running.url)
    running.process.send_signal(number)
    assert running.process.wait(WITHIN) == -signal.SIGTERM
    (journal,) = (tmp_path / "home" / "journals").glob("*.jsonl")
    assert '"reason":"stopped"' in journal.read_text().splitlines()[-1]


def test_who_does_not_read_on_holds_up_nobody(server: Serve) -> None:
    running = server()
    static = Path(streamlit.__file__).parent / "static"
    largest = max(static.rglob("*.js"), key=lambda path: path.stat().st_size).relative_to(static)
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", urlsplit(running.url).port))
        slow.sendall(f"GET /{largest} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        assert b"200 OK" in slow.recv(100)
        assert running.end() == -signal.SIGTERM
