"""Kills of Dask workers, of the owner and of the scheduler: what is lost, asked again, overspent or left running.

Run: ``python benchmarks/dask_kills.py`` (Linux, with ``pip install 'koderz[dask]'``). Each run is a real benchmark of
60 experiments with a scripted server and a budget. ``worker``: ``--engine dask=local:4``, whose workers are killed one
after the other at random moments. ``owner``: the process of ``koderz benchmark`` is killed. ``scheduler``: a cluster of
its own with 2 workers, whose scheduler is killed. After the last kill, ``koderz resume`` runs the rest with a larger
budget, and the results are compared with those of an undisturbed run with threads. Exits with 1 if a count is not 0.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from calls_server import key
from calls_serving import serving, write_answers
from chaos_counts import Standing, different, lost, standing, totals
from process_tree import ADOPT_ORPHANS, bury, descendants, machine

from koderz_core import open_workspace
from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.events import AllowanceSet, BenchmarkOpened, CallStarted
from koderz_core.journal import read_all
from koderz_core.runner.budget import PICO, Spending

KODERZ = str(Path(sys.executable).with_name("koderz"))
STRATEGIES = ("direct", "supervised max_iterations=4 checkpoint_interval=1", "best_of samples=3")
LATENCY_MS = 300
AT_ONCE = 16
LOCAL = "dask=local:4"
PRICE = """
["vllm/scripted".price]
input_usd_per_mtok = 0
output_usd_per_mtok = 10
source = "a test"
date = 2026-01-01
"""
CAP, ENOUGH = 0.4, 1000.0  # dollars: a call may cost 1 cent, so a few lost calls use the first budget up
COUNTS = ("lost", "repeated", "different", "overspent", "orphans", "faults")
WAIT_SECONDS = 600.0
TRACEBACK_LINES = 30  # that are shown
GRACE_SECONDS = 10.0  # what children may take to see that their parent is gone


@dataclass(slots=True)
class Run:
    """The kills of one run, and what went wrong, one text each."""

    kills: int = 0
    lost: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    overspent: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Ground:
    """What all runs share. ``calm``: the content of the journal, and the totals, of the undisturbed run."""

    work: Path
    server: int
    environment: dict[str, str]
    order: Sequence[str]
    calm: tuple[Standing, dict[object, object]] | None = None

    @property
    def seen(self) -> list[str]:
        return (self.work / "seen").read_text().split()


def main() -> None:
    asked = _arguments()
    ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(prefix="dask-kills-") as folder:
        work = Path(folder)
        answers = write_answers(load("humaneval", load_settings()).problems, work)
        with serving(answers, LATENCY_MS, work / "seen") as server:
            environment = os.environ | {"VLLM_BASE_URL": f"http://127.0.0.1:{server.port}/v1", "KODERZ_MEMORY": "off"}
            ground = Ground(work, server.pid, environment, _order(asked.seed))
            sys.exit(_all(ground, asked))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--worker-kills", type=int, default=30)
    parser.add_argument("--owner-kills", type=int, default=5)
    parser.add_argument("--scheduler-kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def _order(seed: int) -> list[str]:
    what = ("--name", "kills", "--problems", "0:10", "--repeats", "2", "--seed", str(seed), "--no-baselines")
    chosen = (("--configuration", f"{name} coder=vllm/scripted") for name in STRATEGIES)
    limits = ("--concurrency", str(AT_ONCE))
    return [KODERZ, "benchmark", *what, *limits, *(part for pair in chosen for part in pair)]


def _all(ground: Ground, asked: argparse.Namespace) -> int:
    """The exit code."""
    home = _home(ground, "calm")
    done = subprocess.run(
        [*ground.order, "--data-dir", str(home)], env=ground.environment, capture_output=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"The undisturbed run ended with {done.returncode}: {done.stderr.decode()[-2000:]}")
    with open_workspace(home=home) as opened:
        journal = _journal(home)
        calm = (standing(journal), totals(opened, journal.stem))
    ground = Ground(ground.work, ground.server, ground.environment, ground.order, calm)
    print(f"{machine()}; {len(calm[0].ends)} experiments, {len(calm[0].answered)} calls; seed {asked.seed}\n")
    print(f"{'run':>4} {'victim':12}{'kills':>6}", *(f"{name:>10}" for name in COUNTS), f"{'s':>7}")
    runs: list[Run] = []
    for victim in ("worker", "owner", "scheduler"):
        left = getattr(asked, f"{victim}_kills")
        while left > 0:
            begin = time.monotonic()
            runs.append(_run(ground, len(runs) + 1, victim, left, Random(f"{asked.seed} {len(runs)}")))
            left -= runs[-1].kills
            _show(len(runs), victim, runs[-1], time.monotonic() - begin)
    sums = [f"{sum(len(getattr(run, name)) for run in runs):10}" for name in COUNTS]
    print(f"{'sum':>4} {'':12}{sum(run.kills for run in runs):6}", *sums)
    return 1 if any(getattr(run, name) for run in runs for name in COUNTS) else 0


def _show(number: int, victim: str, run: Run, seconds: float) -> None:
    cells = (f"{len(getattr(run, name)):10}" for name in COUNTS)
    print(f"{number:4} {victim:12}{run.kills:6}", *cells, f"{seconds:7.0f}", flush=True)
    for name in COUNTS:
        print(*(f"      {name}: {fault}\n" for fault in getattr(run, name)), sep="", end="", flush=True)


def _run(ground: Ground, number: int, victim: str, most: int, random: Random) -> Run:
    run, home, seen = Run(), _home(ground, f"run-{number}"), len(ground.seen)
    budget = ("--max-cost", str(CAP if random.random() < 0.5 else ENOUGH))
    first = [*ground.order, *budget, "--data-dir", str(home)]
    if victim == "scheduler":
        with _cluster(home, ground) as (address, scheduler):
            _leg(ground, run, [*first, "--engine", f"dask={address}"], Strike(lambda _: [scheduler.pid], 1, random))
    else:
        strike = Strike(_workers, min(most, 4), random) if victim == "worker" else Strike(lambda pid: [pid], 1, random)
        _leg(ground, run, [*first, "--engine", LOCAL], strike, killed=victim == "owner")
    before = standing(_journal(home))
    last = [KODERZ, "resume", "kills", "--max-cost", str(ENOUGH), "--engine", LOCAL, "--data-dir", str(home)]
    _leg(ground, run, last, None)
    after = standing(_journal(home))
    run.lost += lost(before, after)
    _count(ground, run, home, after, ground.seen[seen:])
    return run


@dataclass(frozen=True, slots=True)
class Strike:
    """``number`` kills, each of a random process among ``victims``, which is given the id of the koderz process."""

    victims: Callable[[int], list[int]]
    number: int
    random: Random


def _leg(ground: Ground, run: Run, command: list[str], strike: Strike | None, *, killed: bool = False) -> None:
    """Run a command to its end, with its kills; note wrong ends and processes that are left."""
    with subprocess.Popen(
        command, env=ground.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        struck = _strike(process, Path(command[command.index("--data-dir") + 1]), strike) if strike else 0
        try:
            said = process.communicate(timeout=WAIT_SECONDS)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            said = f"it did not end within {WAIT_SECONDS:g} s: {process.communicate()[1]}"
    run.kills += struck
    stopped = {3} if strike and strike.number == 1 and not killed else set[int]()  # its scheduler is gone
    if process.returncode not in {0, 5} | stopped | ({-signal.SIGKILL} if killed else set()):
        run.faults.append(f"it ended with {process.returncode}: {said[-1500:]}")
    lines = said.splitlines()
    starts = [at for at, line in enumerate(lines) if line.startswith(("Traceback", "This is a bug"))]
    run.faults += ["\n".join(lines[max(0, at - 1) : at + TRACEBACK_LINES]) for at in starts]
    run.orphans += _left(ground)


def _strike(process: subprocess.Popen[str], home: Path, strike: Strike) -> int:
    """The number of kills, at random moments from the fifth call on."""
    begin, struck = time.monotonic(), 0
    while process.poll() is None and _calls(home) < 5 and time.monotonic() < begin + WAIT_SECONDS:
        time.sleep(0.05)
    for _ in range(strike.number):
        time.sleep(strike.random.uniform(0.2, 2.0))
        if process.poll() is None and (found := strike.victims(process.pid)):
            with suppress(ProcessLookupError):
                os.kill(strike.random.choice(found), signal.SIGKILL)
                struck += 1
    return struck


def _count(ground: Ground, run: Run, home: Path, after: Standing, seen: Sequence[str]) -> None:
    """Compare the journal with the undisturbed one, with the requests of the server, and with the budget."""
    assert ground.calm
    run.repeated += ["started again by the journal"] * after.again
    run.repeated += [f"{name} more often than started" for name in _unknown_requests(home, seen)]
    with open_workspace(home=home) as opened:
        run.different += different(after, ground.calm[0], totals(opened, _journal(home).stem), ground.calm[1])
    run.overspent += _overspent(_journal(home))


def _unknown_requests(home: Path, seen: Sequence[str]) -> Iterator[str]:
    """Requests that the server received more often than the journal says that they were sent."""
    started: Counter[str] = Counter()
    for entry in read_all(_journal(home)):
        if isinstance(call := entry.event, CallStarted):
            started[key(((message.role, message.text) for message in call.messages), call.seed)] += 1
    yield from (Counter(seen) - started).elements()


def _overspent(journal: Path) -> Iterator[str]:
    """The moments at which spent and reserved money exceeded the budget."""
    spending, limit = Spending(), None
    for entry in read_all(journal):
        spending.add(entry)
        if isinstance(entry.event, BenchmarkOpened):
            limit = entry.event.plan.budget.usd
        elif isinstance(entry.event, AllowanceSet):
            limit = entry.event.after.usd
        elif isinstance(entry.event, CallStarted) and limit and sum(spending.total().values()) > limit * PICO:
            yield f"${sum(spending.total().values()) / PICO:.4f} of ${limit:g}"


def _calls(home: Path) -> int:
    journal = next((home / "journals").glob("*.jsonl"), None)
    return journal.read_bytes().count(b'"call_finished"') if journal else 0


def _workers(pid: int) -> list[int]:
    """The workers that Dask has started below a process."""
    found = []
    for process in descendants(pid):
        with suppress(OSError):
            command = Path(f"/proc/{process.pid}/cmdline").read_bytes()
            found += [process.pid] if process.parent == pid and b"spawn_main" in command else []
    return found


@contextmanager
def _cluster(home: Path, ground: Ground) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A cluster of its own, in a session of its own: its scheduler's address and process."""
    file = home / "scheduler.json"
    environment = ground.environment | {"KODERZ_HOME": str(home), "DASK_TEMPORARY_DIRECTORY": str(home)}
    places = ["--scheduler-file", str(file), "--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
    parts = [["dask_scheduler", *places, "--port", "0"]]
    parts += [["dask_worker", *places, "--nthreads", str(AT_ONCE // 2 + 2), "--no-nanny", "--death-timeout", "5"]] * 2
    processes = []
    for part in parts:
        command = [sys.executable, "-m", f"distributed.cli.{part[0]}", *part[1:]]
        processes.append(
            subprocess.Popen(
                command, env=environment, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        )
        while not file.exists():
            time.sleep(0.1)
    _SPARED.update(process.pid for process in processes)
    try:
        yield json.loads(file.read_text())["address"], processes[0]
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


_SPARED = set[int]()  # sessions of clusters


def _left(ground: Ground) -> list[str]:
    """Processes that outlive the command, by their command lines; they are ended."""
    deadline, named = time.monotonic() + GRACE_SECONDS, []
    while (left := _others(ground)) and time.monotonic() < deadline:
        bury()
        time.sleep(0.1)
    for pid in left:
        with suppress(OSError):
            named.append(Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")[:200])
            os.kill(pid, signal.SIGKILL)
    return named


def _others(ground: Ground) -> list[int]:
    """All processes below this one, except the server and clusters."""
    found = []
    for process in descendants(os.getpid()):
        with suppress(ProcessLookupError):
            if process.state != "Z" and process.pid != ground.server and os.getsid(process.pid) not in _SPARED:
                found.append(process.pid)
    return found


def _home(ground: Ground, name: str) -> Path:
    home = ground.work / name
    home.mkdir()
    (home / "models.toml").write_text(PRICE)
    return home


def _journal(home: Path) -> Path:
    (journal,) = (home / "journals").glob("*.jsonl")
    return journal


if __name__ == "__main__":
    main()
