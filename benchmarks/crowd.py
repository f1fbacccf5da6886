"""Two dashboards and three terminals at once on one data folder, for some minutes: do they disturb each other?

Run: ``python benchmarks/crowd.py --minutes 5`` (needs the ``dev`` extra and Chromium). A browser keeps a Live page of
each dashboard open; a terminal starts its next benchmark when one has ended. Standard error and pages must show no
errors, every benchmark must end or continue, and at the end the index must equal a rebuilt one.
"""

from __future__ import annotations

import argparse
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from looking import browser, dashboard
from playwright.sync_api import ConsoleMessage, Page, TimeoutError  # noqa: A004 (Playwright's own)

from koderz_core import open_workspace

KODERZ = str(Path(sys.executable).with_name("koderz"))
PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.5
DASHBOARDS = 2
ERRORS = "[data-testid=stException], [data-testid=stAlertContentError]"
INTERRUPTED = 130
EXPECTED = re.compile(
    r"bench_\w+: \d+ problems, .*|SCRIPTED: .*|(stopping · )?\d+/\d+ experiments .*|"
    r"Stopping: .*|Interrupted\. .*|bench_\w+ was stopped\..*|"
)
GREETING = re.compile(r"(koderz is at .*)?")
AT_FIRST = "/live/_stcore/"  # a page begins by asking whether the server stands below its own address
TERMINALS = (
    ("--problems", "0:8", "--strategy", "direct,supervised", "--coder", "scripted/slow", "--max-iterations", "4"),
    ("--problems", "0:40", "--coder", "scripted/weak,scripted/strong"),
    (
        *("--problems", "sample:6", "--strategy", "supervised", "--coder", "scripted/stubborn"),
        *("--max-iterations", "10", "--no-baselines"),
    ),
)


@dataclass(slots=True)
class Terminal:
    """A user who runs one benchmark after another."""

    order: tuple[str, ...]
    home: Path
    log: IO[str]
    begun: int = 0
    process: subprocess.Popen[bytes] | None = None
    codes: list[int] = field(default_factory=list)

    def look(self) -> None:
        """Start the next benchmark if none is running."""
        if self.process is None or self.process.poll() is not None:
            self._note()
            self.begun += 1
            command = [KODERZ, "benchmark", *self.order, "--seed", str(self.begun), "--data-dir", str(self.home)]
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=self.log)

    def interrupt(self) -> None:
        """Press Ctrl-C once."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(PATIENCE_SECONDS)
        self._note()

    def _note(self) -> None:
        if self.process is not None:
            self.codes.append(self.process.returncode)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    minutes = parser.parse_args().minutes
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        faults, looks = _crowd(Path(folder), home, 60 * minutes)
        summary = _afterwards(home, faults)
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{minutes:g} minutes, {summary}, {looks} looks at {DASHBOARDS} Live pages; {len(faults)} faults")
    sys.exit(bool(faults))


def _crowd(folder: Path, home: Path, seconds: float) -> tuple[list[str], int]:
    """All at once; the faults, and how often the pages were read."""
    faults: list[str] = []
    with ExitStack() as closed:
        logs = [closed.enter_context((folder / f"terminal-{n}.log").open("w+")) for n in range(len(TERMINALS))]
        terminals = [Terminal(order, home, log) for order, log in zip(TERMINALS, logs, strict=True)]
        paths = [folder / f"dashboard-{number}.log" for number in range(DASHBOARDS)]
        urls = [closed.enter_context(dashboard(home, path)).url for path in paths]
        looks = _watch(urls, terminals, seconds, faults)
        for terminal in terminals:
            terminal.interrupt()
            faults += [f"a benchmark ended with {code}" for code in terminal.codes if code not in (0, INTERRUPTED)]
            faults += _unexpected(terminal.log, EXPECTED)
        for path in paths:
            with path.open() as log:
                faults += _unexpected(log, GREETING)
    return faults, looks


def _watch(urls: Sequence[str], terminals: Sequence[Terminal], seconds: float, faults: list[str]) -> int:
    """Keep the terminals busy and both pages open; how often the pages were read."""
    looks, deadline = 0, time.monotonic() + seconds
    with browser() as opened:
        pages = [opened.new_page() for _ in urls]
        for page, url in zip(pages, urls, strict=True):
            page.on("console", lambda message: faults.extend(_complaint(message)))
            page.goto(f"{url}/live")
            page.get_by_role("heading", level=1).wait_for()
        while time.monotonic() < deadline:
            for terminal in terminals:
                terminal.look()
            for page in pages:
                faults += _shown(page)
                looks += 1
            pages[0].wait_for_timeout(1000 * POLL_SECONDS)
        faults += [fault for page in pages for fault in _idle(page)]
    return looks


def _complaint(message: ConsoleMessage) -> Iterator[str]:
    """A message of the browser's console, if it is an error."""
    url = message.location["url"]
    if message.type == "error" and AT_FIRST not in url:
        yield f"in the browser: {message.text} {url}"


def _shown(page: Page) -> list[str]:
    """The errors that a page shows."""
    found = page.locator(ERRORS).all_inner_texts()
    if found:
        found += page.get_by_test_id("stText").all_inner_texts()
    connected = page.locator("[data-testid=stApp][data-test-connection-state=CONNECTED]").count()
    return found if connected else [*found, "a page has lost its server"]


def _idle(page: Page) -> Iterator[str]:
    """That a page does not show a running benchmark, even after some time."""
    figure = page.locator(".board dl > div").filter(has_text=re.compile(r"iterations\s*[1-9]"))
    try:
        figure.first.wait_for(timeout=1000 * PATIENCE_SECONDS)
    except TimeoutError:
        yield f"a Live page has shown no iteration: {page.get_by_test_id('stMain').inner_text()[:300]!r}"


def _unexpected(log: IO[str], expected: re.Pattern[str]) -> list[str]:
    """Unexpected output of a process: one fault, however many lines it has."""
    log.seek(0)
    lines = [line for line in log.read().splitlines() if not expected.fullmatch(line.strip())]
    return ["\n".join(lines)] if lines else []


def _afterwards(home: Path, faults: list[str]) -> str:
    """Resume interrupted benchmarks and compare the index with a rebuilt one; how many there were."""
    with open_workspace(home=home) as opened:
        for row in opened.results.benchmarks():
            if row.state != "finished":
                resumed = subprocess.run(
                    [KODERZ, "resume", row.id, "--data-dir", str(home)], capture_output=True, text=True, check=False
                )
                faults += [f"{row.id} does not go on: {resumed.stderr}"] if resumed.returncode else []
        rows = opened.results.benchmarks()
        faults += [f"{row.id} is {row.state}" for row in rows if row.state != "finished"]
        grown = opened.results.store.dump()
        ingested = opened.results.reindex()
        if opened.results.store.dump() != grown:
            faults.append("the index is not what the journals say")
    return f"{len(rows)} benchmarks of {len(TERMINALS)} terminals, {ingested.events} events"


if __name__ == "__main__":
    main()
