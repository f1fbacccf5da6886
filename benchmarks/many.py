"""The cost of 50,000 experiments: throughput, memory, files and the readers of them; and whether it grows.

Run: ``python benchmarks/many.py`` (Linux; ``--experiments N``; ``--work FOLDER`` keeps the data folder and resumes in
it; ``--json FILE`` also writes the figures, for ``benchmarks/scale.py``). Models are scripted; runner, sandbox,
journal, index and dashboard are real. The yardsticks are measured in the same run: programs that the sandbox judges
alone, and lines of the journal's size that the disk accepts under its rule.
docs/durability.md explains the tables.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from itertools import cycle, islice
from pathlib import Path

from process_tree import Meter, machine

from koderz_core import Order, Wanted, Workspace, open_workspace
from koderz_core.events import CandidateScored, CodeTested, Entry, ExperimentFinished
from koderz_core.journal import REST_SECONDS
from koderz_core.records import Plan

KODERZ = str(Path(sys.executable).with_name("koderz"))
WANTED = (
    Wanted("direct", {"coder": "scripted/strong"}),
    Wanted("repair", {"coder": "scripted/weak"}, {"max_iterations": 3}),
)
PROBLEMS = 164
PARTS = 10
BARE_PROGRAMS = 400
LINES_SECONDS = 2.0


@dataclass(slots=True)
class Parts:
    """Prints a line after each tenth of the experiments. ``cpu_ms``: of this process, for each tenth."""

    planned: int
    journal: Path
    ended: int = 0
    programs: int = 0
    cpu_ms: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)
    _guard: threading.Lock = field(default_factory=threading.Lock)  # guards all: experiments end in many threads
    _last: tuple[int, float, Meter] = field(default_factory=lambda: (0, time.process_time(), Meter()))

    def watch(self, entry: Entry) -> None:
        with self._guard:
            self.programs += isinstance(entry.event, CodeTested) or _scored_anew(entry)
            self.ended += isinstance(entry.event, ExperimentFinished)
            if isinstance(entry.event, ExperimentFinished) and self.ended * PARTS // self.planned > len(self.cpu_ms):
                self._tell()

    def _tell(self) -> None:
        (before, processor, meter), now = self._last, time.process_time()
        spent, number = meter.spent(), self.ended - before
        self._last = (self.ended, now, Meter())
        self.cpu_ms.append(1000 * (now - processor) / number)
        self.megabytes.append(resident_megabytes())
        cells = (number / spent.seconds, self.cpu_ms[-1], 1000 * spent.cpu_seconds / number, self.megabytes[-1])
        size = self.journal.stat().st_size / 1e6
        print(
            f"{self.ended:9}", *(f"{cell:9.2f}" for cell in cells), f"{size:9.1f}", f"{spent.others:9.0%}", flush=True
        )


@dataclass(frozen=True, slots=True)
class Ran:
    """The figures of the run: rates per second, ms of processor time of each experiment, the peak memory."""

    ended: int
    seconds: float
    experiments_per_second: float
    programs_per_second: float
    cpu_ms: float
    megabytes: float
    others: float


@dataclass(frozen=True, slots=True)
class Took:
    """The time and the peak memory of a command in its own process."""

    seconds: float
    cpu_seconds: float
    megabytes: float
    said: str

    def __str__(self) -> str:
        return f"{self.seconds:7.1f} s, {self.cpu_seconds:7.1f} s of CPU, {self.megabytes:5.0f} MB at most"


def main() -> None:
    asked = _arguments()
    print(machine())
    with nullcontext(asked.work) if asked.work else tempfile.TemporaryDirectory(prefix="many-") as folder:
        home = Path(folder).resolve() / f"many-{asked.experiments}"
        with open_workspace(home=home) as opened:
            plan = opened.plans.plan(_order(asked.experiments))
            bare = _bare_programs_per_second(opened, asked.at_once)
            ran = _run(opened, plan, asked.at_once)
        journal = home / "journals" / f"{plan.id}.jsonl"
        lines = _lines_per_second(journal)
        print(f"\nyardsticks: {bare:.0f} programs/s judged with nothing around, {lines:.0f} lines/s on this disk")
        print(f"koderz: {ran.programs_per_second / bare:.2f} of the programs/s that the sandbox judges alone")
        size = journal.stat().st_size
        print(f"journal {size / 1e6:.1f} MB, {size / len(plan.experiments()):.0f} bytes for each experiment")
        readers = _show_readers(home)
        if asked.json:
            figures = {"ran": asdict(ran), "bare_programs_per_second": bare, "journal_bytes": size}
            figures |= {"lines_per_second": lines, "planned": len(plan.experiments()), "readers": readers}
            asked.json.write_text(json.dumps(figures, indent=1))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--experiments", type=int, default=50_000)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--work", type=Path, help="keep the data folder here")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    return parser.parse_args()


def _order(experiments: int) -> Order:
    """About this number of experiments, and no fewer."""
    repeats = -(-experiments // (len(WANTED) * PROBLEMS))
    problems = -(-experiments // (len(WANTED) * repeats))
    return Order(WANTED, f"0:{problems}", repeats=repeats)


def _run(opened: Workspace, plan: Plan, at_once: int) -> Ran:
    """Run what is left of the plan. Programs are judged in experiments and for their scores."""
    began = time.monotonic()
    journal = opened.settings.journals_dir / f"{plan.id}.jsonl"
    parts = Parts(len(plan.experiments()), journal)
    with opened.runs.runner(plan, [parts.watch]) as runner:
        parts.planned = max(1, runner.remaining)
        print(f"\n{len(runner.experiments)} experiments, {runner.remaining} of them to do; {at_once} at once")
        print(f"begun after {time.monotonic() - began:.1f} s at {resident_megabytes():.1f} MB\n")
        print(*(f"{name:>9}" for name in ("ended", "ended/s", "CPU ms", "all CPU", "MB", "journal", "others")))
        meter = Meter()
        runner.start(at_once)
        runner.wait()
        spent = meter.spent()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"\n{parts.ended / spent.seconds:.1f} experiments/s, {parts.programs / spent.seconds:.1f} programs/s;")
    print(f"{1000 * spent.cpu_seconds / max(1, parts.ended):.2f} ms of CPU for each experiment, sandbox included;")
    print(f"{most:.0f} MB at most; others took {spent.others:.0%} of the machine")
    if len(parts.cpu_ms) == PARTS:
        print(f"last tenth: {parts.cpu_ms[-1] / parts.cpu_ms[1]:.2f} times the CPU of the second, for each experiment;")
        grown = 1e6 * (parts.megabytes[-1] - parts.megabytes[1]) / (parts.planned * 0.8)
        print(f"memory grew by {grown:.0f} bytes for each experiment between")
    rates = parts.ended / spent.seconds, parts.programs / spent.seconds
    cpu_ms = 1000 * spent.cpu_seconds / max(1, parts.ended)
    return Ran(parts.ended, spent.seconds, *rates, cpu_ms, most, spent.others)


def _scored_anew(entry: Entry) -> bool:
    """Whether a program was judged again for its score; the gate's verdict is not repeated."""
    return isinstance(entry.event, CandidateScored) and entry.event.held_out is not None


def resident_megabytes() -> float:
    """Of this process at this moment."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _bare_programs_per_second(opened: Workspace, at_once: int) -> float:
    problems = list(islice(cycle(opened.datasets.load().problems), BARE_PROGRAMS + at_once))
    judge = opened.grading.judge

    def judged(place: int) -> None:
        problem = problems[place]
        assert judge.check(problem, problem.canonical_solution, problem.tests).passed, problem.id

    with ThreadPoolExecutor(at_once) as threads:
        list(threads.map(judged, range(BARE_PROGRAMS, BARE_PROGRAMS + at_once)))  # workers start
        began = time.monotonic()
        list(threads.map(judged, range(BARE_PROGRAMS)))
        return BARE_PROGRAMS / (time.monotonic() - began)


def _lines_per_second(journal: Path) -> float:
    """Lines of the journal's mean size, written one by one while another thread syncs as often as koderz does."""
    with journal.open("rb") as file:
        size = journal.stat().st_size // sum(1 for _ in file)
    over, lines, line = threading.Event(), 0, b"." * size
    with tempfile.NamedTemporaryFile(dir=journal.parent, buffering=0) as file:

        def sync() -> None:
            while not over.wait(REST_SECONDS):
                os.fsync(file.fileno())

        thread = threading.Thread(target=sync)
        thread.start()
        began = time.monotonic()
        while time.monotonic() - began < LINES_SECONDS:
            os.write(file.fileno(), line)
            lines += 1
        over.set()
        thread.join()
        return lines / (time.monotonic() - began)


def _show_readers(home: Path) -> dict[str, float]:
    """The readers of the whole journal, each in its own process."""
    ingest = took([KODERZ, "results", "--data-dir", str(home)])
    print(f"koderz results, no index      {ingest}")
    index = home / "koderz.duckdb"
    print(f"index {index.stat().st_size / 1e6:.1f} MB")
    print(f"koderz reindex                {took([KODERZ, 'reindex', '--data-dir', str(home)])}")
    overview = took([sys.executable, str(Path(__file__).with_name("many_overview.py")), str(home)])
    print(f"Home in a new server          {overview}, drawn after {json.loads(overview.said)['seconds']:.1f} s")
    figures = {"ingest_seconds": ingest.seconds, "ingest_cpu_seconds": ingest.cpu_seconds}
    figures |= {"ingest_megabytes": ingest.megabytes}
    return figures | {"index_bytes": index.stat().st_size, "home_megabytes": overview.megabytes}


def took(command: Sequence[str]) -> Took:
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdout=said)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        if status:
            raise SystemExit(f"{' '.join(command)} failed")
        said.seek(0)
        return Took(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3, said.read())


if __name__ == "__main__":
    main()
