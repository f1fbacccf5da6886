"""Whether koderz stays flat for hours: benchmarks, dashboard, server and memory mirror together on one data folder.

Run: ``python benchmarks/soak_service.py`` (Linux; 2 hours; ``--work FOLDER`` keeps everything). A scripted model server
answers after a delay, so most processor time stays free. Benchmarks run one after another, in turn as ``koderz
benchmark`` and in the process of ``koderz serve``; every benchmark's memories go to the memory server, and after each
one `koderz prune` keeps the newest 8. A visitor opens a page of ``koderz ui`` every 20 s and keeps a Live page open; a
client sends two programs per 4 s to ``koderz serve``. In the middle, a backup is made while a benchmark runs, restored
into another folder and compared. Exits with 1 if a measure grows or anything was wrong. ``--report FOLDER`` shows the
table of a soak that still runs or has ended.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from itertools import count, cycle
from pathlib import Path
from typing import Any
from urllib.parse import quote

import soak_backup
from calls_serving import serving, write_answers
from process_tree import descendants, machine
from soak_samples import Samples, of_data
from soak_slopes import HOUR, table
from soak_tabs import PAGES, Tab, walk

from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.records import Problem

START = [sys.executable, "-P", "-c", "from koderz_core.cli import main; main()"]
LATENCY_MS = 1500
KEPT = 8  # benchmarks
TOKEN = "soak-only-on-loopback"
WARM_UP_SECONDS = 1200.0
VISIT_SECONDS, GRADE_SECONDS, NEWS_SECONDS, POLL_SECONDS = 20.0, 4.0, 3.0, 5.0
STRATEGIES: Sequence[tuple[str, dict[str, Any]]] = (  # Any: values of parameters
    ("direct", {}),
    ("repair", {"max_iterations": 3}),
    ("supervised", {"max_iterations": 2, "checkpoint_interval": 1}),
)
PROBLEMS = "0:50"
CONCURRENCY = 4
END_SECONDS = 30.0


@dataclass(slots=True)
class Soak:
    """What the parts share. ``keeping``: held while the set of benchmarks must not change."""

    home: Path
    work: Path
    environment: Mapping[str, str]
    samples: Samples
    ui_port: int = 0
    serve_port: int = 0
    roots: dict[str, int] = field(default_factory=dict)
    stop: threading.Event = field(default_factory=threading.Event)
    keeping: threading.Lock = field(default_factory=threading.Lock)
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    running: str = ""
    newest: str = ""

    def fault(self, text: str) -> None:
        self.faults.append(f"after {self.samples.seconds:.0f} s: {text}")
        print(f"FAULT {self.faults[-1]}", flush=True)

    def koderz(self, *words: str, home: Path | None = None) -> str:
        """The standard output of a command on this data folder, or another one."""
        command = [*START, *words, "--data-dir", str(home or self.home)]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            self.fault(f"`koderz {' '.join(words)}` ended with {done.returncode}: {done.stderr[-500:]}")
        return done.stdout

    def ask(self, method: str, path: str, body: object = None) -> Any:  # Any: JSON
        """An answer of ``koderz serve``."""
        connection = HTTPConnection("127.0.0.1", self.serve_port, timeout=120)
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", "X-Koderz-Client": "soak"}
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        if answer.status >= 400:
            self.fault(f"{method} {path}: {answer.status} {text[:300]!r}")
        return json.loads(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--work", type=Path, help="keep all files in this new folder")
    parser.add_argument("--report", type=Path, metavar="FOLDER", help="only show the table of this folder")
    parser.add_argument("--warm-up", type=float, default=WARM_UP_SECONDS, help="seconds at the start that do not count")
    asked = parser.parse_args()
    if asked.report:
        print(table(asked.report / "samples.csv", asked.warm_up)[0])
        return 0
    with nullcontext(asked.work) if asked.work else tempfile.TemporaryDirectory(prefix="soak-") as folder:
        work = Path(folder).resolve()
        for name in ("home", "tmp"):
            (work / name).mkdir(parents=True)
        return _soak(work, asked.hours * HOUR, asked.warm_up)


def _soak(work: Path, seconds: float, warm_up: float) -> int:
    problems = load("humaneval", load_settings()).problems
    print(f"{machine()}; {seconds / HOUR:g} hours", flush=True)
    with serving(write_answers(problems, work), LATENCY_MS) as server:
        soak = Soak(work / "home", work, _environment(work, server.port), Samples(work / "samples.csv"))
        with ExitStack() as parts:
            soak.serve_port = parts.enter_context(_started(soak, "serve", "--port", "0"))
            soak.ui_port = parts.enter_context(_started(soak, "ui", "--port", "0", "--no-browser"))
            _run(soak, seconds, problems)
            family = {process.pid for process in descendants(os.getpid())} - {server.pid}
        _check_ends(soak, family)
    text, growing = table(work / "samples.csv", warm_up)
    print(f"\n{text}\n\n" + ", ".join(f"{name} {number}" for name, number in sorted(soak.counts.items())))
    print(f"\n{growing} measures grow; {len(soak.faults)} faults", *soak.faults, sep="\n")
    return int(bool(growing or soak.faults))


def _environment(work: Path, port: int) -> dict[str, str]:
    """No settings but these."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("KODERZ_", "CORTEX_"))}
    own |= {"PYTHONPATH": str(Path(__file__).parents[1]), "TMPDIR": str(work / "tmp"), "KODERZ_SERVE_TOKEN": TOKEN}
    return own | {"VLLM_BASE_URL": f"http://127.0.0.1:{port}/v1", "KODERZ_MODELS_DIR": str(work / "no-weights")}


@contextmanager
def _started(soak: Soak, name: str, *options: str) -> Iterator[int]:
    """The port of ``koderz ui`` or ``koderz serve``, which must write no tracebacks and end when it is asked to."""
    log = soak.work / f"{name}.log"
    command = [*START, name, *options, "--data-dir", str(soak.home)]
    with log.open("w") as output:
        process = subprocess.Popen(command, env=soak.environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        while not (said := re.search(r" is at http://[^:]+:(\d+)", log.read_text())):
            if process.poll() is not None:
                sys.exit(f"koderz {name} did not start:\n{log.read_text()}")
            time.sleep(0.2)
        soak.roots[f"koderz {name}"] = process.pid
        yield int(said[1])
    finally:
        process.terminate()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            soak.fault(f"koderz {name} did not end within {END_SECONDS:g} s")
            process.kill()
    if "Traceback" in log.read_text() or "Error" in log.read_text():
        soak.fault(f"errors in {log}")


def _run(soak: Soak, seconds: float, problems: Sequence[Problem]) -> None:
    """All parts until the time is over."""
    watch = partial(soak.samples.watch, soak.roots, partial(of_data, soak.home, soak.work / "tmp"), soak.stop)
    acts: list[Callable[[], None]] = [
        watch,
        partial(_benchmarks, soak),
        partial(_visits, soak),
        partial(_live_page, soak),
        partial(_grades, soak, problems),
    ]
    threads = [threading.Thread(target=_guarded, args=(soak, act)) for act in acts]
    for thread in threads:
        thread.start()
    soak.stop.wait(seconds / 2)
    while not soak.running and not soak.stop.wait(0.5):
        pass
    with soak.keeping:
        print(f"after {soak.samples.seconds:.0f} s: {soak_backup.checked(soak)}", flush=True)
    soak.stop.wait(max(0.0, seconds - soak.samples.seconds))
    soak.stop.set()
    for thread in threads:
        thread.join()


def _guarded(soak: Soak, act: Callable[[], None]) -> None:
    try:
        act()
    except Exception as error:  # noqa: BLE001 (a part of the soak that fails is a result)
        soak.fault(f"{getattr(act, 'func', act)} ended: {error!r}")


def _benchmarks(soak: Soak) -> None:
    """One after another, in turn in a process of its own and in that of the server."""
    for number, run in zip(count(1), cycle((_in_own_process, _in_server)), strict=False):
        began, name = time.monotonic(), f"soak {number}"
        run(soak, name, number)
        if soak.stop.is_set():
            return
        soak.samples.add((_SUBJECTS[run], "seconds", time.monotonic() - began))
        soak.running = ""
        soak.counts["benchmarks"] += 1
        with soak.keeping:
            soak.koderz("prune", "--keep", str(KEPT), "--yes")
        soak.counts["experiments"] += len(soak.ask("GET", f"/v1/benchmarks/{quote(name)}/experiments"))
        print(f"after {soak.samples.seconds:.0f} s: {name} has ended", flush=True)


def _in_own_process(soak: Soak, name: str, seed: int) -> None:
    what = ("--name", name, "--problems", PROBLEMS, "--seed", str(seed), "--concurrency", str(CONCURRENCY), "--quiet")
    command = [*START, "benchmark", *what, "--no-baselines", "--data-dir", str(soak.home)]
    for strategy, parameters in STRATEGIES:
        words = (f"{name}={value}" for name, value in parameters.items())
        command += ["--configuration", " ".join((strategy, "coder=vllm/scripted", *words))]
    with (soak.work / "benchmark.log").open("w") as log:
        process = subprocess.Popen(command, env=soak.environment, stdout=log, stderr=subprocess.STDOUT)
    soak.running = soak.newest = name
    while not soak.stop.is_set() and not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
        time.sleep(0.2)
    if soak.stop.is_set() and not ended[0]:
        process.terminate()
        process.wait(END_SECONDS)
        return
    process.returncode, used = os.waitstatus_to_exitcode(ended[1]), ended[2]
    if process.returncode:
        soak.fault(f"{name} ended with {process.returncode}: {(soak.work / 'benchmark.log').read_text()[-500:]}")
    soak.samples.add(("koderz benchmark", "peak_rss_mb", _peak_mb(used)))


def _in_server(soak: Soak, name: str, seed: int) -> None:
    configurations = [
        {"strategy": strategy, "models": {"coder": "vllm/scripted"}, "parameters": parameters}
        for strategy, parameters in STRATEGIES
    ]
    order = {"configurations": configurations, "problems": PROBLEMS, "name": name, "seed": seed, "max_cost_usd": 1}
    started = soak.ask("POST", "/v1/benchmarks", order | {"concurrency": CONCURRENCY})["benchmark"]
    soak.running = soak.newest = name
    while not soak.stop.wait(POLL_SECONDS):
        (row,) = [row for row in soak.ask("GET", "/v1/benchmarks") if row["id"] == started]
        if row["state"] not in ("queued", "running"):
            if row["state"] != "finished":
                soak.fault(f"{name} in the server: {row['state']}")
            return


_SUBJECTS = {_in_own_process: "a benchmark in its own process", _in_server: "a benchmark in the server"}


def _peak_mb(used: resource.struct_rusage) -> float:
    return used.ru_maxrss * 1024 / 1e6


def _visits(soak: Soak) -> None:
    """A page in a new tab, then the next."""
    for page in cycle(PAGES):
        if soak.stop.wait(VISIT_SECONDS):
            return
        for error in walk(soak.ui_port, page, {"benchmarks": soak.newest}):
            soak.fault(error)
        soak.counts["pages"] += 1


def _live_page(soak: Soak) -> None:
    """One tab for the whole time: the Live page of the newest benchmark, and its news."""
    tab, shown = Tab(soak.ui_port), ""
    while not soak.stop.wait(NEWS_SECONDS):
        if soak.newest != shown:
            shown = soak.newest
            for error in tab.visit("live", {"benchmarks": shown}):
                soak.fault(f"{error} in the tab that stays open")
        soak.counts["news of the Live page"] += bool(tab.news())
    tab.close()


def _grades(soak: Soak, problems: Sequence[Problem]) -> None:
    """A correct and a wrong program per request."""
    for problem in cycle(problems):
        if soak.stop.wait(GRADE_SECONDS):
            return
        wrong = f"{problem.public.prompt}    return None\n"
        programs = [
            {"dataset": "humaneval", "problem": problem.id, "solution": solution}
            for solution in (problem.canonical_solution, wrong)
        ]
        answer = soak.ask("POST", "/v1/grade", {"programs": programs})
        if [result["passed"] for result in answer["results"]] != [True, False]:
            soak.fault(f"wrong verdicts on {problem.id}: {answer}")
        soak.counts["programs graded by the server"] += 2


def _check_ends(soak: Soak, family: set[int]) -> None:
    """Nothing may be left of the processes when all were asked to end."""
    time.sleep(END_SECONDS / 6)
    for process in descendants(os.getpid()):
        if process.pid in family and process.state != "Z":
            soak.fault(f"a process is left: {Path(f'/proc/{process.pid}/cmdline').read_text()}")
    for path in (soak.work / "tmp").iterdir():
        soak.fault(f"a temporary file is left: {path.name}")


if __name__ == "__main__":
    sys.exit(main())
