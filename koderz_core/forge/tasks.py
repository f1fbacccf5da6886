"""Repository tasks of a tree: faults that its tests notice, spread over its functions and over kinds of faults.

The same tree and the same seed give the same tasks, however many trials run at the same time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from typing import Any

from koderz_core.forge.instructions import instruction
from koderz_core.forge.mutations import SHORT_FUNCTION, Mutation, Mutator, Place
from koderz_core.forge.trials import Base, RepositoryTests, Trial, TrialLog, key_of, patches_of, run_trial

PER_FUNCTION = 3
"""Tasks whose faults are in the same function, at most."""
SHORT_SECONDS = 20
"""A file does not state the time of tests that take less, so that it does not depend on the speed of the machine.

Their time limit is at least 60 s (``sandbox.repository.judge``). A longer time is rounded up to a multiple of this.
"""
_MISSES = 2
"""Faults of a function that no test notices, after which it gets no more."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task. ``fault`` puts the correct tree into its beginning, ``solution`` removes the fault."""

    base: Base
    mutation: Mutation
    trial: Trial
    fault: str
    solution: str

    @property
    def id(self) -> str:
        """It does not tell the place of the fault."""
        return f"{self.base.tree.name}/{self.trial.key[:10]}"

    def row(self, prompt: str = "", archive: str = "") -> dict[str, Any]:  # Any: JSON
        """The line of a dataset file. ``prompt`` empty: by template. ``archive``: SHA-256 of the source distribution.

        The failing test that the prompt describes is the first.
        """
        base, place, mutation = self.base, self.mutation.place, self.mutation
        failing = self.trial.failing
        absent = {*failing, *self.trial.left_out}
        short = "short function" if place.lines <= SHORT_FUNCTION else "long function"
        return {
            "kind": "repo",
            "task_id": self.id,
            "prompt": prompt or instruction(base.tree.name, self.trial),
            "tree": base.tree.sha256,
            "name": base.tree.name,
            "licence": base.tree.licence,
            "archive": archive,
            "fault": self.fault,
            "canonical_solution": self.solution,
            "editable": base.layout.editable,
            "FAIL_TO_PASS": _with_first(failing, self.trial),
            "PASS_TO_PASS": [test for test in base.passing if test not in absent],
            "roots": base.layout.roots,
            "needs": base.layout.needs,
            "seconds": 0 if base.seconds < SHORT_SECONDS else SHORT_SECONDS * ceil(base.seconds / SHORT_SECONDS),
            "topic": base.tree.name,
            "tags": [mutation.operator, short],
            "function": {"path": place.path, "name": place.name, "line": place.line, "lines": place.lines},
        }


def _with_first(failing: tuple[str, ...], trial: Trial) -> list[str]:
    first = trial.symptoms[0].test if trial.symptoms else ""
    return sorted(failing, key=lambda test: test != first)


@dataclass(frozen=True, slots=True)
class Progress:
    """``tried``: trials so far, ``usable``: those that made tasks; ``reasons``: how often faults made none, and why."""

    tried: int
    usable: int
    reasons: Counter[str]


Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Forge:
    """Makes the tasks of one tree. ``workers``: trials at the same time. ``log`` keeps trials."""

    base: Base
    judge: RepositoryTests
    log: TrialLog
    workers: int
    seed: int = 0
    least_failing: int = 2

    def tasks(self, report: Report = lambda _progress: None) -> Generator[Task]:
        """All tasks, which are made while they are read; ``report`` is called after each trial. Raises SandboxError.

        The judge is closed at the end, or when the iterator is closed.
        """
        made: Counter[Place] = Counter()
        missed: Counter[Place] = Counter()
        tried, usable, reasons = 0, 0, Counter[str]()
        mutator = Mutator(self.base.texts, f"{self.seed}/{self.base.tree.name}")
        with _pool(self.workers, self.judge) as pool:
            for group in mutator.rounds():
                mutations = [
                    mutation
                    for mutation in group
                    if made[mutation.place] < PER_FUNCTION and missed[mutation.place] < _MISSES
                ]
                for mutation, trial in zip(mutations, pool.map(self._trial, mutations), strict=True):
                    tried, usable = tried + 1, usable + (not trial.reason)
                    made[mutation.place] += not trial.reason
                    missed[mutation.place] += not trial.noticed
                    reasons[trial.reason] += bool(trial.reason)
                    report(Progress(tried, usable, +reasons))
                    if not trial.reason:
                        yield Task(self.base, mutation, trial, *patches_of(self.base, mutation))

    def _trial(self, mutation: Mutation) -> Trial:
        fault, _ = patches_of(self.base, mutation)
        known = self.log.get(key_of(fault, self.least_failing))
        return known or self.log.add(run_trial(self.base, mutation, self.judge, self.least_failing))


@contextmanager
def _pool(workers: int, judge: RepositoryTests) -> Iterator[ThreadPoolExecutor]:
    """Threads for trials. At the end, trials that still run or wait are given up."""
    pool = ThreadPoolExecutor(workers)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        judge.close()
        pool.shutdown(wait=True)
