"""How long koderz takes to start: processor time of commands, and the dashboard until it answers and is painted.

Run: ``python benchmarks/startup.py`` (needs the ``dev`` extra and Chromium; some minutes). Processor time is user and
system time of the process, the median of ``--times`` runs after an uncounted one, which also writes the bytecode. The
data folders are temporary: an empty one, and one with the study's journals and their index. The yardsticks are an
interpreter that does nothing, and one that imports Streamlit. The dashboard's times are wall times and depend on other
work of the machine; next to them are those of a second visit in a fresh browser profile, when the server has everything
in memory, and of a visit with a filled cache. Their yardstick is a bare Streamlit page with one small Plotly chart.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from looking import ROOT, SERVE, WITHIN, bare, browser, dashboard
from playwright.sync_api import Browser, BrowserContext

KODERZ = ("-P", "-c", SERVE)
NOTHING, STREAMLIT = "`python -c pass`", "`python -c 'import streamlit'`"
STUDY60 = "benchmarks=bench_20a02f27b685"
PAGES = (
    ("empty", "", "Home"),
    ("empty", "launch", "New run"),
    ("study", f"?{STUDY60}", "Home"),
    ("study", f"compare?{STUDY60}", "Summary"),
    ("study", f"live?{STUDY60}", "Live"),
    ("study", f"problems?{STUDY60}", "Problems"),
    ("study", f"statistics?{STUDY60}", "Statistics"),
    ("study", f"export?{STUDY60}", "Export"),
    ("study", "launch", "New run"),
)
"""The data folder, the address and the title."""
BARE = """
import plotly.graph_objects as go
import streamlit as st
st.title("Bare")
st.plotly_chart(go.Figure(go.Scatter(x=[1, 2], y=[3, 4], mode="markers")))
"""
CACHED, SETTLED = 3, 1500  # visits until the browser has also kept compiled scripts; milliseconds for the last parts
OBSERVED = """
Object.assign(window, {shift: 0, picture: null});
const observe = (type, note) =>
    new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({type, buffered: true});
observe('layout-shift', (entry) => (window.shift += entry.value));
observe('largest-contentful-paint', (entry) => {
    if (entry.element?.closest('.st-key-pictures')) window.picture ??= entry.startTime;
});
"""
CHART = ".js-plotly-plot .scatterlayer .point >> visible=true"
IDLE = '[data-testid="stApp"][data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--times", type=int, default=9, help="runs, of which the median is printed")
    parser.add_argument("--visits", type=int, default=3, help="servers started for each page; 0: none")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        empty, study = Path(work) / "empty", Path(work) / "study"
        empty.mkdir()
        _unpack(study / "journals")
        print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores\n")
        show_commands(empty, study, options.times)
        if options.visits:
            show_paint({"empty": empty, "study": study}, options.visits)


def show_commands(empty: Path, study: Path, times: int) -> None:
    """Print the processor time of each command, relative to the yardsticks."""
    commands: Mapping[str, tuple[Sequence[str], Path]] = {
        NOTHING: (("-c", "pass"), empty),
        STREAMLIT: (("-c", "import streamlit"), empty),
        "`koderz --help`": ((*KODERZ, "--help"), empty),
        "`koderz results`, empty data folder": ((*KODERZ, "results"), empty),
        "`koderz results`, study": ((*KODERZ, "results"), study),
    }
    took = {name: _processor_seconds(arguments, home, times) for name, (arguments, home) in commands.items()}
    print("| processor time, median | s | ratio to `python -c pass` | ratio to `import streamlit` |\n|---|---|---|---|")
    for name, seconds in took.items():
        print(f"| {name} | {seconds:.2f} | {seconds / took[NOTHING]:.1f} | {seconds / took[STREAMLIT]:.2f} |")


def show_paint(homes: Mapping[str, Path], visits: int) -> None:
    """Print wall times until the server answers and parts of a page are drawn, and how far the parts have moved."""
    names = [
        f"{visit}: {part}" for visit in ("first", "again", "cached") for part in ("title", "picture", "chart", "all")
    ]
    print(f"\n| wall time, median | answers | {' | '.join(names)} | layout shift |")
    print("|---" * (len(names) + 3) + "|")
    with browser() as opened:
        _print("yardstick: bare Streamlit page", [_visited_bare(opened) for _ in range(visits)])
        for folder, path, title in PAGES:
            _print(f"{title}, {folder}", [_visited(opened, homes[folder], path, title) for _ in range(visits)])


def _print(name: str, visits: Sequence[Sequence[float | None]]) -> None:
    columns = ("–" if None in column else f"{median(column):.2f}" for column in zip(*visits, strict=True))
    print(f"| {name} | {' | '.join(columns)} |", flush=True)


def _visited(opened: Browser, home: Path, path: str, title: str) -> tuple[float | None, ...]:
    with tempfile.TemporaryDirectory() as work:
        began = time.perf_counter()
        with dashboard(home, Path(work) / "log") as served:
            charts = home.name == "study" and title in ("Home", "Summary")
            return (time.perf_counter() - began, *_visits(opened, f"{served.url}/{path}", title, charts=charts))


def _visited_bare(opened: Browser) -> tuple[float | None, ...]:
    with tempfile.TemporaryDirectory() as work:
        began = time.perf_counter()
        with bare(Path(work), BARE) as url:
            return (time.perf_counter() - began, *_visits(opened, url, "Bare", charts=True))


def _visits(opened: Browser, url: str, title: str, *, charts: bool) -> Iterator[float | None]:
    """The times of a first visit, of one in a new browser profile and of one with a full cache, and the most shift."""
    shifts = []
    for times in (1, CACHED):
        with opened.new_context(viewport={"width": 1440, "height": 900}) as context:
            painted = [_painted(context, url, title, charts=charts) for _ in range(times)]
        for visit in (painted[0], *painted[1:][-1:]):
            yield from (visit.title, visit.picture, visit.chart, visit.complete)
        shifts += [visit.shift for visit in painted]
    yield max(shifts)


@dataclass(frozen=True, slots=True)
class Painted:
    """Seconds from the request of a page until its parts are drawn, and its cumulative layout shift."""

    title: float
    picture: float | None
    chart: float | None
    complete: float
    shift: float


def _painted(context: BrowserContext, url: str, title: str, *, charts: bool) -> Painted:
    page = context.new_page()
    page.set_default_timeout(WITHIN * 1000)
    page.add_init_script(OBSERVED)
    began, drawn = time.perf_counter(), None
    page.goto(url, wait_until="commit")
    page.get_by_role("heading", name=title, level=1).wait_for()
    headed = time.perf_counter() - began
    if charts:
        page.wait_for_selector(CHART)
        drawn = time.perf_counter() - began
    page.wait_for_selector(IDLE, state="attached")
    complete = time.perf_counter() - began
    page.wait_for_timeout(SETTLED)
    picture, shift = page.evaluate("[window.picture, window.shift]")
    page.close()
    return Painted(headed, picture and picture / 1000, drawn, complete, shift)


def _processor_seconds(arguments: Sequence[str], home: Path, times: int) -> float:
    taken = [_once(arguments, home) for _ in range(times + 1)]
    return median(taken[1:])


def _once(arguments: Sequence[str], home: Path) -> float:
    own = {name: value for name, value in os.environ.items() if not name.startswith("KODERZ_")}
    own.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed koderz is compiled once
    before = os.times()
    subprocess.run(
        [sys.executable, *arguments],
        env=own | {"PYTHONPATH": ROOT, "KODERZ_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _unpack(journals: Path) -> None:
    journals.mkdir(parents=True)
    for packed in (Path(ROOT) / "docs" / "study" / "journals").glob("*.jsonl.gz"):
        (journals / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))


if __name__ == "__main__":
    main()
