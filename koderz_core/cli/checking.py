"""Whether the solutions that a dataset brings along pass its own tests here, in the sandbox."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from koderz_core.errors import KoderzError
from koderz_core.grading.grader import Grader
from koderz_core.grading.samples import Sample
from koderz_core.records import Extracted, Problem
from koderz_core.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of a problem's own solution; ``passed`` None: it has none. ``message`` may be hostile."""

    problem: str
    passed: bool | None
    message: str = ""


def checked(opened: Workspace, problems: Sequence[Problem]) -> Iterator[Checked]:
    """Each problem's solution on its base and plus tests, in order."""
    workers = os.cpu_count() or 1
    with opened.judging.grader(workers) as grader, ThreadPoolExecutor(workers) as pool:
        yield from pool.map(lambda problem: _checked(grader, problem), problems)


def _checked(grader: Grader, problem: Problem) -> Checked:
    if not problem.canonical_solution:
        return Checked(problem.id, None)
    program = Extracted(problem.canonical_solution, "solution")
    try:
        tests = dict(grader.tests([problem], "plus" if problem.plus else "base"))
        (graded,) = grader.grade([Sample(1, problem, program, {})], tests)
    except KoderzError as error:  # of this problem; the others are still of interest
        return Checked(problem.id, False, str(error))
    verdict = graded.verdict
    return Checked(problem.id, verdict is not None and verdict.passed, verdict.message if verdict else graded.trouble)
