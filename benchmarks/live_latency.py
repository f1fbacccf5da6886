"""The time from an iteration of a benchmark in a terminal to an open Live page, compared with 2 seconds.

Run: ``python benchmarks/live_latency.py`` (needs the ``dev`` extra and Chromium). It starts a dashboard and a ``koderz
run`` with a scripted model, and compares each iteration's time in the journal with the moment when the page's figure
was painted.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from looking import browser, dashboard

KODERZ = str(Path(sys.executable).with_name("koderz"))
LIMIT_SECONDS = 2.0
ITERATIONS = 40
SEEN = """() => {
    window.seen = [];
    const look = () => {
        for (const metric of document.querySelectorAll('[data-testid=stMetric]'))
            if (metric.textContent.startsWith('iterations')) {  // not innerText, for which all is laid out anew
                const value = metric.querySelector('[data-testid=stMetricValue]').textContent;
                const count = parseInt(value.replace(/\\D/g, ''));  // 1 234
                if (!seen.length || seen[seen.length - 1][1] < count) seen.push([Date.now() / 1000, count]);
            }
    };
    new MutationObserver(look).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        with dashboard(home, Path(folder, "log")) as served:
            painted = _watch(served.url, home)
        happened = _iterations(home)
    lags = sorted(_lags(happened, painted))
    middle, high = statistics.median(lags), lags[int(0.95 * len(lags))]
    print(f"{len(lags)} iterations: lag p50 {middle:.2f} s, p95 {high:.2f} s, ", end="")
    print(f"max {lags[-1]:.2f} s = {lags[-1] / LIMIT_SECONDS:.2f} of the limit")


def _watch(url: str, home: Path) -> list[tuple[float, int]]:
    """When the page first showed each number of iterations."""
    slow = ["--strategy", "supervised", "--coder", "scripted/stubborn", "--max-iterations", str(ITERATIONS)]
    with browser() as opened:
        page = opened.new_page()
        page.goto(f"{url}/live")
        page.get_by_text("Nothing has been run here yet").wait_for()
        page.evaluate(SEEN)
        run = [KODERZ, "run", "--problem-id", "HumanEval/0", *slow, "--data-dir", str(home)]
        subprocess.run(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        page.wait_for_function(f"seen.length && seen[seen.length - 1][1] >= {ITERATIONS}")
        seen: list[tuple[float, int]] = page.evaluate("seen")
    return seen


def _iterations(home: Path) -> list[float]:
    """When each iteration happened, by the journal."""
    (journal,) = (home / "journals").glob("*.jsonl")
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    return [line["at"] for line in lines if line["kind"] == "code_tested"]


def _lags(happened: list[float], painted: list[tuple[float, int]]) -> list[float]:
    """Seconds from each iteration to the first paint that counts it."""
    return [next(at for at, count in painted if count > place) - when for place, when in enumerate(happened)]


if __name__ == "__main__":
    main()
