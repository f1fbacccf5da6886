"""A real server, three browsers and a benchmark of 50 events per second: when events are visible, at what cost.

Used by ``benchmarks/dashboard.py``.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from live_latency import SEEN
from looking import WITHIN, browser, dashboard
from playwright.sync_api import Page
from synthetic import Teller, plan_of

from koderz_core.events import CodeTested
from koderz_core.journal import Journal

PER_SECOND = 50  # events
TABS = 3
MIB = 1 << 20


@dataclass(slots=True)
class Said:
    """When each iteration was written."""

    at: list[float] = field(default_factory=list)


def watch(home: Path, seconds: float) -> str:
    """What the pages showed during some seconds of events in a copy of a data folder."""
    with tempfile.TemporaryDirectory() as work:
        copy = Path(work) / "home"
        shutil.copytree(home, copy)
        with dashboard(copy, Path(work) / "log") as served, browser() as opened:
            said, stop = Said(), threading.Event()
            writer = threading.Thread(target=_tell, args=(copy, said, stop))
            writer.start()
            try:
                tabs = [_tab(opened.new_page(), served.url, said) for _ in range(TABS)]
                memory, processor = _watched(served.process, seconds)
                seen = [tab.evaluate("seen") for tab in tabs]
            finally:
                stop.set()
                writer.join()
    return f"{_lags(said.at, seen)}\n{_grown(memory)}, {processor / seconds:.2f} of a core"


def _tell(home: Path, said: Said, stop: threading.Event) -> None:
    """Write a benchmark's events at their pace, like its runner."""
    plan = plan_of(f"synthetic live {time.time():.0f}", 160, 10)
    told = Teller(plan, random.Random(1), time.time())
    journal = Journal(home / "journals" / f"{plan.id}.jsonl")
    journal.append(*told.opening())
    due = time.monotonic()
    for entry in (entry for experiment in plan.experiments() for entry in told.experiment(experiment)):
        journal.append(entry)
        if isinstance(entry.event, CodeTested):
            said.at.append(time.time())
        due += 1 / PER_SECOND
        if stop.wait(max(0.0, due - time.monotonic())):
            break
    journal.close()


def _tab(page: Page, url: str, said: Said) -> Page:
    while not said.at:
        time.sleep(0.1)
    page.set_default_timeout(WITHIN * 1000)
    page.goto(f"{url}/live")
    page.get_by_text("iterations", exact=True).first.wait_for()
    page.evaluate(SEEN)
    return page


def _watched(server: int, seconds: float) -> tuple[list[float], float]:
    """Ten samples of the server's memory in MiB, and its seconds of processor time."""
    memory, before = [], _processor(server)
    for _ in range(10):
        time.sleep(seconds / 10)
        memory.append(_memory(server))
    return memory, _processor(server) - before


def _lags(said: list[float], seen: list[list[list[float]]]) -> str:
    """From each iteration to the first paint that counts it, while all tabs were open."""
    if not all(seen):
        return "Nothing was seen."
    opened = max(tab[0][0] for tab in seen)
    lags = sorted(
        next(at for at, count in tab if count > place) - when
        for tab in seen
        for place, when in enumerate(said)
        if when > opened and place < tab[-1][1]
    )
    if not lags:
        return "Nothing was seen."
    middle, high = lags[len(lags) // 2], lags[int(0.95 * len(lags))]
    return (
        f"{len(lags)} iterations seen: p50 {middle:.2f} s, p95 {high:.2f} s, max {lags[-1]:.2f} s after they happened"
    )


def _grown(memory: list[float]) -> str:
    return "the server's memory in MiB: " + ", ".join(f"{mebibytes:.0f}" for mebibytes in memory)


def _memory(process: int) -> float:
    (line,) = [line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) * 1024 / MIB


def _processor(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
