"""Trouble of a provider is said in the terminal while a benchmark runs, through the official clients."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from faulty_server import FaultyServer, serving_faults
from sample import only_whole
from taking_over import taking_over

from koderz_core import open_workspace
from koderz_core.cli.progress import SAME_TROUBLE_SECONDS, TroubleLog
from koderz_core.report.status import TroubleNotice, trouble_notices

WORDS = ("benchmark", "--problems", "0:1", "--strategy", "direct", "--no-baselines", "--coder")
PROMISED_SECONDS = 10.0
LATE = 100 * PROMISED_SECONDS


@dataclass
class Terminal:
    """What a process says on stderr, read as it is asked for. ``read``: the lines so far, and when they were read."""

    process: subprocess.Popen[str]
    read: list[tuple[str, float]] = field(default_factory=list)

    def line_of(self, text: str) -> tuple[str, float]:
        """The first line that holds a text, and when it was read."""
        for line, at in self._lines():
            if text in line:
                return line, at
        raise AssertionError(f"The command ended and never said {text!r}.")

    def _lines(self) -> Iterator[tuple[str, float]]:
        yield from self.read
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.read.append((line, time.monotonic()))
            yield self.read[-1]


@contextmanager
def running(openai: FaultyServer, anthropic: FaultyServer, models: str) -> Iterator[Terminal]:
    """A benchmark of one problem in a process of its own, whose providers are these servers."""
    keys = {"OPENAI_API_KEY": "sk-a", "ANTHROPIC_API_KEY": "sk-b"}
    urls = {"OPENAI_BASE_URL": f"{openai.url}/v1", "ANTHROPIC_BASE_URL": anthropic.url}
    begin = f"import os; os.environ.update({keys | urls!r}); {taking_over()}"
    command = [sys.executable, "-c", begin, *WORDS, models]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        ending = threading.Timer(LATE / 10, process.kill)
        ending.start()
        try:
            yield Terminal(process)
        finally:
            ending.cancel()
            process.kill()


def always(fault: str) -> tuple[list[float], Callable[[], str]]:
    """A fault that every request meets, and when they met it."""
    times: list[float] = []

    def meet() -> str:
        times.append(time.monotonic())
        return fault

    return times, meet


def test_failing_providers_are_named_within_ten_seconds_and_a_recovery_is_said_here_and_in_a_dashboard() -> None:
    with serving_faults() as openai, serving_faults() as anthropic:
        faults = iter(["429, Retry-After 1"] * 4)
        openai.fault = lambda: next(faults, None)
        times, anthropic.fault = always("500")
        with running(openai, anthropic, "claude-opus-4-5,gpt-4o-mini") as terminal, open_workspace() as elsewhere:
            terminal.line_of("HTTP 429 (")
            troubles = elsewhere.results.snapshot("", time.time()).progress.troubles  # type: ignore[union-attr]
            notices = [notice.text for notice in trouble_notices(troubles, time.time())]
            assert any(text.startswith("openai/gpt-4o-mini: HTTP 429 (") for text in notices)
            line, at = terminal.line_of("HTTP 500 (")
            assert at - times[0] < PROMISED_SECONDS
            assert "of 7 retries used" in line
            assert "after 4 failed calls" in terminal.line_of("answers again")[0]


@only_whole("failing providers in the terminal")
def test_a_provider_that_hangs_up_is_named_within_ten_seconds_and_so_is_what_happens_next() -> None:
    with serving_faults() as server:
        times, server.fault = always("hangs up")
        with running(server, server, "gpt-4o-mini") as terminal:
            line, at = terminal.line_of("openai/gpt-4o-mini: ")
    assert at - times[0] < PROMISED_SECONDS
    assert "of 7 retries used" in line


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
