"""What becomes of a running benchmark when the dashboard ends."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from playwright.sync_api import Page
from serving import WITHIN, Serve
from test_dashboard_in_browser import NO_WEIGHTS, launch


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])  # the second: its terminal was closed
def test_a_benchmark_that_runs_when_the_dashboard_ends_is_closed_as_stopped(
    server: Serve, page: Page, tmp_path: Path, number: signal.Signals
) -> None:
    running = server(tmp_path / "home", NO_WEIGHTS)
    launch(page, running.url)
    running.process.send_signal(number)
    assert running.process.wait(WITHIN) == -signal.SIGTERM
    (journal,) = (tmp_path / "home" / "journals").glob("*.jsonl")
    assert '"reason":"stopped"' in journal.read_text().splitlines()[-1]
