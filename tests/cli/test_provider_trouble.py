"""Trouble of a provider is said in the terminal while a benchmark runs, through the official clients."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from faulty_server import FaultyServer, serving_faults
from sample import thinned

from koderz_core import open_workspace
from koderz_core.cli.progress import SAME_TROUBLE_SECONDS, TroubleLog
from koderz_core.report.status import TroubleNotice, trouble_notices

WORDS = ("benchmark", "--problems", "0:1", "--strategy", "direct", "--no-baselines", "--coder")
PROMISED_SECONDS = 10.0
LATE = 100 * PROMISED_SECONDS


@contextmanager
def running(server: FaultyServer, model: str, *more: str) -> Iterator[subprocess.Popen[str]]:
    """A benchmark of one problem in a process of its own, whose provider is this server."""
    keys = {"OPENAI_API_KEY": "sk-a", "ANTHROPIC_API_KEY": "sk-b"}
    urls = {"OPENAI_BASE_URL": f"{server.url}/v1", "ANTHROPIC_BASE_URL": server.url}
    begin = [f"import os; os.environ.update({keys | urls!r}); from koderz_core.cli import main; main()"]
    command = [sys.executable, "-c", *begin, *WORDS, model, *more]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        ending = threading.Timer(LATE / 10, process.kill)
        ending.start()
        try:
            yield process
        finally:
            ending.cancel()
            process.kill()


def line_of(process: subprocess.Popen[str], text: str) -> tuple[str, float]:
    """The first line on stderr that holds a text, and when it was read."""
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return line, time.monotonic()
    raise AssertionError(f"The command ended and never said {text!r}.")


@pytest.mark.parametrize(
    ("model", "fault", "cause"),
    thinned(
        [("claude-opus-4-5", "500", "HTTP 500 ("), ("gpt-4o-mini", "hangs up", "openai/gpt-4o-mini: ")],
        "failing providers in the terminal",
    ),
)
def test_a_failing_provider_is_named_within_ten_seconds_and_so_is_what_happens_next(
    model: str, fault: str, cause: str
) -> None:
    with serving_faults() as server:
        first: list[float] = []
        server.fault = lambda: first.append(time.monotonic()) or fault  # type: ignore[func-returns-value]
        with running(server, model) as process:
            line, at = line_of(process, cause)
    assert at - first[0] < PROMISED_SECONDS
    assert "of 7 retries used" in line


def test_a_recovery_is_said_and_a_dashboard_elsewhere_says_the_same_as_the_terminal() -> None:
    with serving_faults() as server:
        faults = iter(["429, Retry-After 1"] * 4)
        server.fault = lambda: next(faults, None)
        with running(server, "gpt-4o-mini") as process, open_workspace() as elsewhere:
            line_of(process, "HTTP 429 (")
            (trouble,) = elsewhere.results.snapshot("", time.time()).progress.troubles  # type: ignore[union-attr]
            (notice,) = trouble_notices([trouble], time.time())
            assert notice.text.startswith("openai/gpt-4o-mini: HTTP 429 (")
            assert "after 4 failed calls" in line_of(process, "answers again")[0]


def test_a_log_has_one_line_per_change_of_a_model_and_one_now_and_then() -> None:
    log, notice = TroubleLog(), TroubleNotice("m", "retrying", "m: HTTP 500")
    seconds = [second for second in range(61) if log.due([notice], second)]
    assert seconds == [0, SAME_TROUBLE_SECONDS, 2 * SAME_TROUBLE_SECONDS]
    changes = [
        TroubleNotice("m", "closed", ""),
        TroubleNotice("m", "recovered", ""),
        TroubleNotice("m", "recovered", ""),
    ]
    assert [len(log.due([change], 61)) for change in changes] == [1, 1, 0]
    assert TroubleLog().due([TroubleNotice("m", "recovered", "")], 0) == []
