"""The time from an event in a journal to an open Live page: three browsers and a benchmark of 50 events per second.

Run: ``python benchmarks/live_latency.py`` (needs the ``dev`` extra and Chromium). The yardstick in the same run is one
redraw of a page of Streamlit that contains only a button and a text. The events are synthetic (``synthetic.py``).
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from looking import WITHIN, bare, browser, dashboard
from playwright.sync_api import Browser, Page
from synthetic import PROBLEMS, Teller, plan_of

from koderz_core.events import CodeTested, ExperimentFinished
from koderz_core.journal import Journal

PER_SECOND = 50  # events
TABS = 3
LIMIT_SECONDS = 0.8  # of the 95th percentile
MIB = 1 << 20
REDRAWS = 30
SEEN = """() => {
    window.seen = {iterations: [], experiments: [], cells: []};
    const note = (name, text) => {
        const count = parseInt(text.replace(/ of .*/, '').replace(/\\D/g, ''));  // 1 234; 12 of 820 experiments
        const seen = window.seen[name];
        if (!seen.length || seen[seen.length - 1][1] < count) seen.push([Date.now() / 1000, count]);
    };
    const look = (root) => {
        for (const name of root.querySelectorAll('dt'))
            if (name.textContent === 'iterations') note('iterations', name.nextSibling.textContent);
        for (const text of root.querySelectorAll('.board > .text')) note('experiments', text.textContent);
        const totals = [...(root.querySelector('.matrix .block')?.querySelectorAll('i') || [])];  // solved/scored
        const scored = totals.reduce((sum, total) => sum + (+total.textContent.split('/')[1] || 0), 0);
        if (totals.length) note('cells', String(scored));
    };
    for (const element of document.querySelectorAll('[data-testid=stMain] *')) if (element.shadowRoot) {
        const root = element.shadowRoot;
        new MutationObserver(() => look(root)).observe(root, {subtree: true, childList: true, characterData: true});
    }
}"""
BARE = """
import time
import streamlit as st
@st.fragment
def draw():
    st.button("Redraw")
    st.text(time.time_ns())
draw()
"""
REDRAWN = """async (times) => {
    const taken = [];
    const text = () => document.querySelector('[data-testid=stText]').textContent;
    for (let redraw = 0; redraw < times; redraw++) {
        const before = text(), began = performance.now();
        await new Promise(done => {
            const changes = new MutationObserver(() => { if (text() !== before) { changes.disconnect(); done(); } });
            changes.observe(document.body, {subtree: true, childList: true, characterData: true});
            document.querySelector('button[kind=secondary]').click();
        });
        taken.push((performance.now() - began) / 1000);
        await new Promise(done => setTimeout(done, 100));
    }
    return taken;
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the browsers watch")
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder, browser() as opened, bare(Path(folder), BARE) as url:
        page = opened.new_page()
        page.goto(url)
        page.get_by_role("button", name="Redraw").wait_for(timeout=WITHIN * 1000)
        print(f"load average {os.getloadavg()[0]:.2f}")
        print(f"yardstick, redraw of a bare part of a page: {_percentiles(page.evaluate(REDRAWN, REDRAWS))}")
    with tempfile.TemporaryDirectory() as folder:
        print(watch(Path(folder), seconds, repeats=1))
    print(f"load average {os.getloadavg()[0]:.2f}; the 95th percentile should be at most {LIMIT_SECONDS} s")


def watch(home: Path, seconds: float, repeats: int = 10) -> str:
    """What the pages showed during some seconds of events in a copy of a data folder."""
    with tempfile.TemporaryDirectory() as work:
        copy = Path(work) / "home"
        shutil.copytree(home, copy)
        with dashboard(copy, Path(work) / "log") as served, browser() as opened:
            written, stop = Written(), threading.Event()
            writer = threading.Thread(target=_write, args=(copy, repeats, written, stop))
            writer.start()
            try:
                tabs = [_tab(opened, served.url, written) for _ in range(TABS)]
                memory, processor = _watched(served.process, seconds)
                seen = [tab.evaluate("seen") for tab in tabs]
            finally:
                stop.set()
                writer.join()
    lags = (_lags(name, times, [tab[name] for tab in seen]) for name, times in written.times.items())
    return "\n".join((*lags, f"{_grown(memory)}, {processor / seconds:.2f} of a core"))


@dataclass(slots=True)
class Written:
    """When the events were written whose number the page shows."""

    times: Mapping[str, list[float]] = field(default_factory=lambda: {"iterations": [], "experiments": [], "cells": []})


def _write(home: Path, repeats: int, written: Written, stop: threading.Event) -> None:
    """Write a benchmark's events at their pace, like its runner."""
    plan = plan_of(f"synthetic live {time.time():.0f}", PROBLEMS, repeats)
    teller = Teller(plan, random.Random(1), time.time())
    (home / "journals").mkdir(exist_ok=True)
    journal = Journal(home / "journals" / f"{plan.id}.jsonl")
    journal.append(*teller.opening())
    due = time.monotonic()
    for entry in (entry for experiment in plan.experiments() for entry in teller.experiment(experiment)):
        journal.append(entry)
        if isinstance(entry.event, CodeTested):
            written.times["iterations"].append(time.time())
        elif isinstance(entry.event, ExperimentFinished):
            for name in ("experiments", "cells"):  # on the bar and in the totals of the matrix, painted with its cells
                written.times[name].append(time.time())
        due += 1 / PER_SECOND
        if stop.wait(max(0.0, due - time.monotonic())):
            break
    journal.close()


def _tab(opened: Browser, url: str, written: Written) -> Page:
    while not written.times["iterations"]:
        time.sleep(0.1)
    page = opened.new_context(viewport={"width": 1440, "height": 900}).new_page()
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


def _lags(name: str, written: Sequence[float], seen: Sequence[Sequence[tuple[float, int]]]) -> str:
    """From each event to the first change of a page that counts it, while all tabs were open."""
    opened = max((tab[0][0] for tab in seen if tab), default=0.0)
    lags = [
        next(at for at, count in tab if count > place) - when
        for tab in seen
        for place, when in enumerate(written)
        if tab and when > opened and place < tab[-1][1]
    ]
    return f"{name}: {_percentiles(lags)}" if all(seen) and lags else f"{name}: none was seen"


def _percentiles(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    high = ordered[int(0.95 * len(ordered))]
    return f"n {len(ordered)}, p50 {statistics.median(ordered):.2f} s, p95 {high:.2f} s, max {ordered[-1]:.2f} s"


def _grown(memory: list[float]) -> str:
    return "the server's memory in MiB: " + ", ".join(f"{mebibytes:.0f}" for mebibytes in memory)


def _memory(process: int) -> float:
    (line,) = [line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) * 1024 / MIB


def _processor(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
