"""What the canonical solution does on tests and how long it takes: found out once in the sandbox, and kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from koderz_core.grading.kept import Kept
from koderz_core.protocols import Judge
from koderz_core.records import Problem, TestSet

VERSION = "2"
"""Of what is kept; another one leaves what was kept unused."""
MOST_SECONDS = 60.0
"""What a canonical solution may take on its tests: the slowest of HumanEval and MBPP take a fraction of a second."""
LEAST_SECONDS = 4.0
_MOST_MEASURED = 3
TIMES_CANONICAL = 4.0
"""EvalPlus 0.3.1 gives each input 4 times what the canonical solution took, at least 1 s; here all share one limit."""


@dataclass(frozen=True, slots=True)
class Measure:
    """``marks`` as in a verdict; ``seconds`` is wall time, the least of several if it is long."""

    marks: str
    passed: bool
    seconds: float


class Canonical:
    """The canonical solutions on tests. Safe to use from several threads."""

    def __init__(self, folder: Path, judge: Callable[[], Judge]) -> None:
        """``judge`` is asked for when something is to be run: what is kept needs none."""
        self._kept = Kept(folder)
        self._judge = judge

    def on(self, problem: Problem, tests: TestSet) -> Measure | None:
        """None for a problem without a solution. Raises DataError for broken tests, SandboxError."""
        if not problem.canonical_solution:
            return None
        public = problem.public
        parts = [VERSION, problem.canonical_solution, public.preamble, public.entry_point, tests.source]
        return self._kept.get(parts, Measure) or self._kept.put(parts, self._measured(problem, tests))

    def _measured(self, problem: Problem, tests: TestSet) -> Measure:
        """A busy machine makes it longer: where a limit would depend on that, it is measured again."""
        tests = replace(tests, seconds=MOST_SECONDS)
        found = [self._judge().check(problem, problem.canonical_solution, tests)]
        while len(found) < _MOST_MEASURED and limit(min(one.seconds for one in found)) > LEAST_SECONDS:
            found.append(self._judge().check(problem, problem.canonical_solution, tests))
        best = min(found, key=lambda one: (not one.passed, one.seconds))
        return Measure(best.marks, best.passed, best.seconds)


def limit(seconds: float) -> float:
    """How long a program may take where the canonical solution took so long."""
    return max(LEAST_SECONDS, TIMES_CANONICAL * seconds)
