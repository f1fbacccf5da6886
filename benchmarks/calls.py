"""The cost of a call besides the model: koderz, a naive pool of threads and Inspect AI on the same server.

Run: ``python benchmarks/calls.py`` (Linux; Inspect gets its own environment with pinned packages, in ``--work``). Each
program sends HumanEval samples to a scripted server that takes 300 ms, 64 at a time, from a process of its own. A short
round is subtracted from a long one, which removes the start-up time. The table shows, per sample, the CPU of the whole
process tree and the wall time relative to the ideal (whole waves of 64 times the latency). ``graded``: programs are
judged. koderz writes its journal in every kind, and reads its index in ``graded``.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from calls_serving import serving, write_answers
from environments import environment
from process_tree import ADOPT_ORPHANS, Meter, bury, descendants, machine

from koderz_core.config import load_settings
from koderz_core.datasets import load

HERE = Path(__file__).parent
AT_ONCE = 64
LATENCY_MS = 300
PROBLEMS = 164
KINDS = ("calls", "streamed", "graded")
INSPECT = ("inspect_ai==0.3.285", "openai==3.52.0")
WALL_LEAST = 0.95  # share of the ideal
CPU_MOST_MS = {"calls": 2.0, "graded": 10.0}


@dataclass(frozen=True, slots=True)
class Round:
    """What a program used for its samples. ``others``: the share of the machine that all other processes used."""

    samples: int
    ideal_seconds: float
    seconds: float
    cpu_seconds: float
    others: float


@dataclass(frozen=True, slots=True)
class Ground:
    """What all programs use: the server's port, the problems' file, a folder."""

    port: int
    problems: Path
    work: Path


Command = tuple[list[str], Mapping[str, str]]
"""The arguments, and what is added to the environment."""
Party = Callable[[Ground, str, int], Command]
"""Of a kind, with so many repeats."""


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        work = options.work or Path(folder)
        work.mkdir(parents=True, exist_ok=True)
        answers, problems = _written(work)
        print(f"{machine()}\n{options.long - options.short} x {PROBLEMS} samples, {LATENCY_MS} ms, {AT_ONCE} at once\n")
        print(f"{'':10}{'kind':10}{'CPU ms':>8}{'x koderz':>10}{'wall':>8}{'of ideal':>10}{'others':>8}")
        missed = [fault for kind in options.kinds for fault in _compare(kind, options, answers, problems, work)]
    print("", *missed, sep="\n")
    sys.exit(bool(missed))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--short", type=int, default=2, help="repeats of the 164 problems")
    parser.add_argument("--long", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", type=Path, help="folder that keeps the environments between runs")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--parties", nargs="+", choices=list(PARTIES), default=list(PARTIES))
    return parser.parse_args()


def _compare(kind: str, options: argparse.Namespace, answers: Path, problems: Path, work: Path) -> Iterator[str]:
    """All programs in turn, round by round, so that a busy moment affects each; the targets that koderz missed."""
    costs: dict[str, list[Round]] = {name: [] for name in options.parties}
    for _ in range(options.rounds):
        for name in options.parties:
            short, long = (
                _round(name, kind, times, answers, problems, work) for times in (options.short, options.long)
            )
            costs[name].append(_difference(short, long))
    medians = {name: _median(rounds) for name, rounds in costs.items()}
    own = medians.get("koderz")
    for name, cost in medians.items():
        print(_line(name, kind, cost, own))
    if own:
        yield from _missed(kind, own)


def _round(name: str, kind: str, times: int, answers: Path, problems: Path, work: Path) -> Round:
    with serving(answers, LATENCY_MS) as server, tempfile.TemporaryDirectory(dir=work) as folder:
        arguments, more = PARTIES[name](Ground(server.port, problems, Path(folder)), kind, times)
        log = work / f"{name}.log"
        with log.open("w") as output:
            meter, of_server = Meter(), _cpu_seconds(server.pid)
            code = subprocess.run(
                arguments, env=os.environ | more, stdout=output, stderr=output, check=False
            ).returncode
            bury()
            spent, of_server = meter.spent(), _cpu_seconds(server.pid) - of_server
    if code:
        raise SystemExit(f"{name} ended with {code}: {log.read_text()[-2000:]}")
    samples = PROBLEMS * times
    ideal = math.ceil(samples / AT_ONCE) * LATENCY_MS / 1000
    return Round(samples, ideal, spent.seconds, spent.cpu_seconds - of_server, spent.others)


def _cpu_seconds(pid: int) -> float:
    """The processor time of a process below this one."""
    return sum(process.cpu_seconds for process in descendants(os.getpid()) if process.pid == pid)


def _difference(short: Round, long: Round) -> Round:
    return Round(
        long.samples - short.samples,
        long.ideal_seconds - short.ideal_seconds,
        long.seconds - short.seconds,
        long.cpu_seconds - short.cpu_seconds,
        max(short.others, long.others),
    )


def _median(rounds: list[Round]) -> Round:
    middle = statistics.median
    cpu, wall = (
        middle(measurement.cpu_seconds for measurement in rounds),
        middle(measurement.seconds for measurement in rounds),
    )
    return replace(rounds[0], seconds=wall, cpu_seconds=cpu, others=max(measurement.others for measurement in rounds))


def _line(name: str, kind: str, cost: Round, own: Round | None) -> str:
    cpu = 1000 * cost.cpu_seconds / cost.samples
    times = f"{cost.cpu_seconds / own.cpu_seconds:.2f}" if own else "?"
    share = cost.ideal_seconds / cost.seconds
    return f"{name:10}{kind:10}{cpu:8.2f}{times:>10}{cost.seconds:8.2f}{share:10.2f}{cost.others:8.0%}"


def _missed(kind: str, own: Round) -> Iterator[str]:
    cpu, share = 1000 * own.cpu_seconds / own.samples, own.ideal_seconds / own.seconds
    if kind in CPU_MOST_MS and cpu > CPU_MOST_MS[kind]:
        yield f"koderz takes {cpu:.2f} ms of CPU per sample ({kind}), at most {CPU_MOST_MS[kind]:g} are wanted"
    if kind == "calls" and share < WALL_LEAST:
        yield f"koderz reaches {share:.2f} of the ideal wall time, at least {WALL_LEAST:g} is wanted"


def _written(work: Path) -> tuple[Path, Path]:
    """The server's answers and the problems of the other programs, as files."""
    found = load("humaneval", load_settings()).problems
    problems = work / "problems.json"
    told = [
        {"prompt": problem.public.prompt, "tests": problem.tests.source, "entry_point": problem.public.entry_point}
        for problem in found
    ]
    problems.write_text(json.dumps(told))
    return write_answers(found, work), problems


def _koderz(ground: Ground, kind: str, times: int) -> Command:
    script = [sys.executable, str(HERE / "calls_koderz.py")]
    return [*script, str(ground.port), str(times), str(AT_ONCE), kind, str(ground.work)], {}


def _naive(ground: Ground, kind: str, times: int) -> Command:
    script = [sys.executable, str(HERE / "calls_naive.py")]
    return [*script, str(ground.port), str(times), str(AT_ONCE), kind, str(ground.problems)], {}


def _inspect(ground: Ground, kind: str, times: int) -> Command:
    """Inspect does not stream unless somebody watches, so its ``streamed`` equals its ``calls``."""
    python = environment("Inspect", INSPECT, ground.work.parent / "inspect")
    task = f"{HERE / 'calls_inspect.py'}@{'graded' if kind == 'graded' else 'calls'}"
    limits = ["--max-connections", str(AT_ONCE), "--max-samples", str(AT_ONCE)]
    quiet = ["--display", "none", "--log-dir", str(ground.work / "log")]
    command = [str(python.parent / "inspect"), "eval", task, "--model", "openai/gpt-4o-mini", "--epochs", str(times)]
    address = {"OPENAI_BASE_URL": f"http://127.0.0.1:{ground.port}/v1", "OPENAI_API_KEY": "none"}
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    return [*command, *limits, *quiet], {**address, "PROBLEMS": str(ground.problems), "PATH": path}


PARTIES: Mapping[str, Party] = {"koderz": _koderz, "naive": _naive, "Inspect": _inspect}

if __name__ == "__main__":
    ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)  # so that this process knows their CPU
    main()
