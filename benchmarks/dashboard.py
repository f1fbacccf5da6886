"""How long each page takes with 1,000, 100,000 and 1,000,000 iterations, and when new events are visible.

Run: ``python benchmarks/dashboard.py`` (needs the ``dev`` extra and Chromium; about half an hour, some minutes of which
create the million iterations once). The iterations are SYNTHETIC (``benchmarks/synthetic.py``) and are kept in the
folder ``--work``. The time of a page is that of one run of its script in this process, without a network or a browser:
wall and processor time when it is first opened and when it is redrawn. For a page that is visible before everything on
it is read, the table also shows how long that takes, and then the whole page. Imports that a server makes once are
measured first and separately. The yardsticks are a page with only a title, and counting all iterations with a bare
DuckDB. Then come a real server, three browsers and a benchmark that writes 50 events per second: the time from an event
to the screen, and the server's memory.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import duckdb
from live_latency import watch
from streamlit.testing.v1 import AppTest
from synthetic import folder

from koderz_core import the_workspace
from koderz_core.records.rows import BenchmarkRow
from koderz_core.store.answers import THREAD_NAME
from koderz_core.workspace import leave
from pages.ui.address import BENCHMARKS
from pages.ui.slow_results import WORKERS

APP = Path(__file__).parents[1] / "app.py"
LIMIT_MS = 500
EMPTY = "import streamlit as st\nst.title('koderz')\n"
LIBRARIES = ("numpy", "pandas", "pyarrow", "plotly.graph_objects", "httpx")
SECONDS = 300.0  # more than any page takes


@dataclass(frozen=True, slots=True)
class Took:
    """Milliseconds."""

    wall: float
    processor: float

    def __str__(self) -> str:
        return f"{self.wall:7.0f} /{self.processor:6.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("build") / "synthetic", help="where folders are kept")
    parser.add_argument("--iterations", type=int, nargs="+", default=[1_000, 100_000, 1_000_000])
    parser.add_argument("--minutes", type=float, default=10.0, help="minutes that browsers watch; 0: not at all")
    parser.add_argument("--exports", action="store_true", help="also export whole tables of a benchmark")
    options = parser.parse_args()
    logging.getLogger("streamlit").setLevel(logging.ERROR)  # there is no browser, as it would say each time
    print(f"importing {', '.join(LIBRARIES)}: {clocked(_import)} ms, wall / processor, once in a server's life")
    slow = 0
    for iterations in options.iterations:
        home = folder(options.work.resolve(), iterations)
        with opened(home):
            slow += show_pages(home)
            if options.exports:
                show_exports()
    if options.minutes:
        print("\nThree browsers on a benchmark that says 50 events a second, beside the iterations above:")
        print(watch(folder(options.work.resolve(), options.iterations[-1]), options.minutes * 60), flush=True)
    print(f"\n{slow} pages took more than {LIMIT_MS} ms, opened or redrawn.")


@contextmanager
def opened(home: Path) -> Iterator[None]:
    """The process's workspace is that of the folder."""
    os.environ["KODERZ_HOME"] = str(home)
    leave()
    try:
        yield
    finally:
        leave()


def show_pages(home: Path) -> int:
    """Print a table of the time of each page; the number of pages that are too slow."""
    rows = the_workspace().results.benchmarks()
    large, ordinary = max(rows, key=lambda row: row.planned), min(rows, key=lambda row: row.planned)
    total = sum(row.iterations for row in rows)
    print(
        f"\n{total} SYNTHETIC iterations of {sum(row.planned for row in rows)} experiments in {len(rows)} benchmarks,"
    )
    print(f"the largest of {large.planned} experiments, the others of {ordinary.planned}")
    print(f"{'milliseconds, wall / processor':38}{'opened':>15}{'redrawn':>17}")
    print(f"{'yardstick: a title':38}{visit(AppTest.from_string(EMPTY))}  {visit(AppTest.from_string(EMPTY))}")
    print(f"{'yardstick: DuckDB counts them':38}{clocked(lambda: _count(home))}")
    return sum(_show(name, page, query) for name, page, query in pages(large, ordinary))


def pages(large: BenchmarkRow, ordinary: BenchmarkRow) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Each page by its address: on an ordinary benchmark, and on the large one."""
    (newest,) = the_workspace().results.experiments(large.id, limit=1)
    yield "Home", "overview", {}
    yield "New run", "launch", {}
    for size, row in (("", ordinary), (", large", large)):
        yield f"Live{size}", "live", {BENCHMARKS: row.id}
        yield f"Experiment, selection{size}", "experiment", {BENCHMARKS: row.id}
        yield f"Compare{size}", "compare", {BENCHMARKS: row.id}
        yield f"Problems{size}", "problems", {BENCHMARKS: row.id}
        yield f"Export{size}", "export", {BENCHMARKS: row.id, "table": "iterations"}
    yield "Experiment", "experiment", {"experiment": newest.id}
    yield "Memory", "memory", {}
    yield "Models", "models", {}


@dataclass(frozen=True, slots=True)
class PageTimes:
    """A page that was opened and then redrawn. ``seconds``: until the work in the background had ended."""

    opened: Took
    seconds: float
    later: tuple[Took, ...]
    fault: str

    @property
    def read_on(self) -> bool:
        """Whether the page was visible before everything on it was read."""
        return self.seconds > 0.05

    @property
    def redrawn(self) -> Took:
        return min(self.later, key=lambda took: took.wall)


def page_times(page: str, query: dict[str, str]) -> PageTimes:
    """Open a page by its address, wait for its background work, and redraw it."""
    app = AppTest.from_file(str(APP), default_timeout=SECONDS).run()
    if page != "overview":
        app.switch_page(f"pages/{page}.py")
    for key, value in query.items():
        app.query_params[key] = value
    first, seconds = visit(app), computed()
    later = tuple(visit(app) for _ in range(3))
    return PageTimes(first, seconds, later, "; ".join(str(error.value).splitlines()[0] for error in app.exception))


def _show(name: str, page: str, query: dict[str, str]) -> bool:
    times = page_times(page, query)
    drawn = times.later[0].wall
    behind = f"read beside in {times.seconds:.1f} s, then drawn in {drawn:.0f} ms" if times.read_on else ""
    slow = max(times.opened.wall, drawn if times.read_on else times.redrawn.wall) > LIMIT_MS
    verdict = times.fault or ("TOO SLOW" if slow else "")
    print(f"{name:38}{times.opened}  {times.redrawn}  {verdict} {behind}".rstrip(), flush=True)
    return slow


def show_exports() -> None:
    """Print the time for the tables of an ordinary benchmark as data frames."""
    results = the_workspace().results
    smallest = min(results.benchmarks(), key=lambda row: row.planned)
    for table in ("experiments", "iterations", "calls"):
        took = clocked(lambda table=table: results.frame(table, smallest.id))
        print(f"{f'all {table} of an ordinary benchmark':38}{took}")


def visit(app: AppTest) -> Took:
    """One run of the page's script."""
    return clocked(lambda: app.run(timeout=SECONDS))


def computed() -> float:
    """Seconds until no computation runs in the background."""
    began = time.perf_counter()
    for thread in threading.enumerate():
        if thread.name == THREAD_NAME:
            thread.join()
    WORKERS.submit(int).result()
    return time.perf_counter() - began


def clocked(act: Callable[[], object]) -> Took:
    wall, processor = time.perf_counter(), time.process_time()
    act()
    return Took((time.perf_counter() - wall) * 1000, (time.process_time() - processor) * 1000)


def _import() -> None:
    for name in LIBRARIES:
        import_module(name)


def _count(home: Path) -> None:
    with duckdb.connect(home / "koderz.duckdb") as con:
        con.execute("select count(*), count(*) filter (where passed) from iterations").fetchall()


if __name__ == "__main__":
    sys.exit(main())
