"""How long koderz takes to start: processor time of commands, and the dashboard until it answers and is painted.

Run: ``python benchmarks/startup.py`` (needs the ``dev`` extra and Chromium; some minutes). Processor time is user and
system time of the process, the median of ``--times`` runs after an uncounted one, which also writes the bytecode. The
data folders are temporary: an empty one, and one with the study's journals and their index. The yardsticks are an
interpreter that does nothing, and one that imports Streamlit. The dashboard's times are wall times and depend on other
work of the machine; next to them are those of a second visit in a fresh browser profile, when the server has everything
in memory.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from looking import ROOT, SERVE, WITHIN, browser, dashboard
from playwright.sync_api import Browser

KODERZ = ("-P", "-c", SERVE)
NOTHING, STREAMLIT = "`python -c pass`", "`python -c 'import streamlit'`"
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
    print("| processor time, median | s | × python | × import streamlit |\n|---|---|---|---|")
    for name, seconds in took.items():
        print(f"| {name} | {seconds:.2f} | {seconds / took[NOTHING]:.1f} | {seconds / took[STREAMLIT]:.2f} |")


def show_paint(homes: Mapping[str, Path], visits: int) -> None:
    """Print wall time until the server answers, and from there until a page's title and the whole page are drawn."""
    print("\n| wall time, median | answers | first: title | first: complete | again: title | again: complete |")
    print("|---|---|---|---|---|---|")
    with browser() as opened:
        for folder, home in homes.items():
            for path, title in (("", "Overview"), ("launch", "New run")):
                seen = [_visited(opened, home, path, title) for _ in range(visits)]
                columns = (f"{median(column):.2f}" for column in zip(*seen, strict=True))
                print(f"| {title}, {folder} | {' | '.join(columns)} |", flush=True)


def _visited(opened: Browser, home: Path, path: str, title: str) -> tuple[float, ...]:
    with tempfile.TemporaryDirectory() as work:
        began = time.perf_counter()
        with dashboard(home, Path(work) / "log") as served:
            answers = time.perf_counter() - began
            first, again = (_painted(opened, f"{served.url}/{path}", title) for _ in range(2))
            return (answers, *first, *again)


def _painted(opened: Browser, url: str, title: str) -> tuple[float, float]:
    """Seconds until the page's title and until all of it is drawn, in a browser profile without a cache."""
    with opened.new_context(viewport={"width": 1440, "height": 900}) as context:
        page = context.new_page()
        page.set_default_timeout(WITHIN * 1000)
        began = time.perf_counter()
        page.goto(url, wait_until="commit")
        page.get_by_role("heading", name=title, level=1).wait_for()
        headed = time.perf_counter() - began
        page.wait_for_selector(IDLE, state="attached")
        return headed, time.perf_counter() - began


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
