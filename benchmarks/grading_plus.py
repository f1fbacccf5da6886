"""How fast koderz grades on plus tests, compared with EvalPlus 0.3.1: HumanEval+'s 164 correct programs.

Run: ``python benchmarks/grading_plus.py --work FOLDER`` (Linux), with the folder of ``grading.py``. Base and plus
inputs are used. Both graders know the answers of the canonical solutions: warm, from their caches; cold, they compute
them first, which counts as preparation. The first grader changes from round to round. Memory is measured in a separate
round without timing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from grading_table import MOST_OTHERS
from peers import Peer
from process_tree import Meter, machine, tree_pss_bytes

from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.datasets.selection import select
from koderz_core.grading.canonical import Canonical, Expectations
from koderz_core.grading.grader import Grader, Sample
from koderz_core.grading.problem_tests import Divider
from koderz_core.grading.testsets import TestPolicy
from koderz_core.records import Extracted, Problem
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.local_judge import choose
from koderz_core.sandbox.reference import answers
from koderz_core.sandbox.tiers import probe

SEED = 5
WORKERS = 2
BWRAP = shutil.which("bwrap")
TARGET = 2.0
"""Times as fast as EvalPlus, by the clock."""


@dataclass(frozen=True, slots=True)
class Grading:
    """A grader that is ready. ``grade`` returns the number of programs that passed; ``pid`` and its children work."""

    grade: Callable[[], int]
    pid: int


Ready = Callable[[Path], AbstractContextManager[Grading]]
"""Makes a grader ready, with its cache in a folder."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """``ready_seconds``: until the first program can be graded. ``others``: the share of other processes."""

    grader: str
    cache: str
    ready_seconds: float
    ready_cpu_seconds: float
    seconds: float
    cpu_seconds: float
    others: float
    passed: int


def main() -> None:
    asked = _arguments()
    problems = select(load("humaneval+", load_settings()), asked.problems)
    order = random.Random(SEED).sample(problems, len(problems))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "programs.json")
        file.write_text(json.dumps([_for_evalplus(problem) for problem in order]))
        graders: dict[str, Ready] = {
            "koderz": lambda cache: _koderz(order, cache),
            "EvalPlus": lambda cache: _evalplus(asked.work.resolve(), file, len(order), cache),
        }
        warm = {name: Path(folder, f"{name}-cache") for name in graders}
        measurements = []
        for number in range(-1, asked.rounds):  # the first one fills the caches
            names = sorted(graders, reverse=bool(number % 2))
            for name in names:
                one = _measured(name, "cold" if number < 0 else "warm", graders[name], warm[name])
                print(_line(one), flush=True)
                measurements.append(one)
        memory = {name: _memory(graders[name], warm[name]) for name in graders}
    print(_summary(measurements, memory, len(order)))
    if asked.json:
        everything = {
            "machine": machine(),
            "memory_mb": memory,
            "measurements": [asdict(measurement) for measurement in measurements],
        }
        asked.json.write_text(json.dumps(everything, indent=1))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for the environment of EvalPlus")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--problems", default="all", help="for example 0:10")
    parser.add_argument("--json", type=Path, help="write every measurement here")
    return parser.parse_args()


@contextmanager
def _koderz(problems: Sequence[Problem], cache: Path) -> Iterator[Grading]:
    """As ``koderz grade --tests plus``; the first programs start the workers."""
    judge = BoxedJudge(choose("auto", probe(BWRAP)), BWRAP, workers=WORKERS)
    divider = Divider(Canonical(cache / "canonical", lambda: judge), lambda: Expectations(cache / "expected", answers))
    samples = [Sample(0, problem, Extracted(problem.canonical_solution, "solution"), {}) for problem in problems]
    try:
        with Grader(judge, divider.divide, WORKERS, lambda verdict: verdict, TestPolicy(by_canonical=True)) as grader:
            tests = dict(grader.tests(problems, "plus"))
            yield Grading(lambda: sum(result.error is None for result in grader.grade(samples, tests)), os.getpid())
    finally:
        judge.close()


@contextmanager
def _evalplus(work: Path, file: Path, number: int, cache: Path) -> Iterator[Grading]:
    """As ``evalplus.evaluate``."""
    peer = Peer("EvalPlus plus", work, file, WORKERS, cache)
    try:
        yield Grading(lambda: sum(peer.grade([*range(number)]).passed), peer.pid)
    finally:
        peer.close()


def _for_evalplus(problem: Problem) -> dict[str, Any]:  # Any: JSON
    public = problem.public
    completion = problem.canonical_solution.removeprefix(public.prompt)
    return {"id": public.id, "prompt": public.prompt, "completion": completion}


def _measured(name: str, cache_is: str, ready: Ready, cache: Path) -> Measurement:
    meter = Meter()
    with ready(cache) as grading:
        before, meter = meter.spent(), Meter()
        passed = grading.grade()
        spent = meter.spent()
    made_ready = (before.seconds, before.cpu_seconds)
    return Measurement(name, cache_is, *made_ready, spent.seconds, spent.cpu_seconds, spent.others, passed)


def _memory(ready: Ready, cache: Path) -> float:
    """Peak MB of all processes; shared memory counts once."""
    with ready(cache) as grading, ThreadPoolExecutor(1) as pool:
        graded, most = pool.submit(grading.grade), 0
        while not graded.done():
            most = max(most, tree_pss_bytes(grading.pid) or 0)
            time.sleep(0.05)
    return most / 1e6


def _line(measurement: Measurement) -> str:
    return (
        f"{measurement.cache} {measurement.grader:9} "
        f"ready {measurement.ready_seconds:6.2f} s, {measurement.ready_cpu_seconds:6.2f} s CPU  "
        f"graded {measurement.seconds:6.2f} s, {measurement.cpu_seconds:6.2f} s CPU  "
        f"{measurement.passed} passed  others {measurement.others:4.0%}"
        + ("  DISTURBED" if measurement.others > MOST_OTHERS else "")
    )


def _summary(measured: Sequence[Measurement], memory: dict[str, float], programs: int) -> str:
    """Markdown: medians by grader and cache, and the ratio of EvalPlus to koderz within a round."""
    rows = [
        f"{machine()}. {programs} programs; seconds by the clock / of processor time.",
        "",
        "| grader | cache | ready | graded | passed | MB |",
        "|---|---|---|---|---|---|",
    ]
    for grader, cache_is in dict.fromkeys((measurement.grader, measurement.cache) for measurement in measured):
        own = [measurement for measurement in measured if (measurement.grader, measurement.cache) == (grader, cache_is)]
        ready = _medians(own, "ready_seconds", "ready_cpu_seconds")
        graded = _medians(own, "seconds", "cpu_seconds")
        passed = min(measurement.passed for measurement in own)
        rows.append(f"| {grader} | {cache_is} | {ready} | {graded} | {passed} | {memory[grader]:.0f} |")
    warm = {
        name: [measurement for measurement in measured if (measurement.grader, measurement.cache) == (name, "warm")]
        for name in memory
    }
    pairs = list(zip(warm["EvalPlus"], warm["koderz"], strict=True))
    faster = statistics.median(theirs.seconds / ours.seconds for theirs, ours in pairs)
    cheaper = statistics.median(theirs.cpu_seconds / ours.cpu_seconds for theirs, ours in pairs)
    return "\n".join([*rows, "", f"x EvalPlus: {faster:.1f} by the clock (aimed at: {TARGET:g}), {cheaper:.1f} of CPU"])


def _medians(measured: Sequence[Measurement], *fields: str) -> str:
    return " / ".join(
        f"{statistics.median(getattr(measurement, field) for measurement in measured):.1f}" for field in fields
    )


if __name__ == "__main__":
    main()
