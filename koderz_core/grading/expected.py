"""What is expected of plus tests: computed once per problem from its canonical solution, kept in the cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from koderz_core.grading.kept import Kept
from koderz_core.records import Problem
from koderz_core.sandbox.reference import Answers

VERSION = "1"
"""Of how answers are computed and written down; another one leaves what was kept unused."""

Reference = Callable[[Problem, Sequence[str]], Answers]


class Expectations:
    """The answers of canonical solutions; ``folder`` may be removed at any time. Safe to use from several threads."""

    def __init__(self, folder: Path, reference: Reference) -> None:
        self._kept = Kept(folder)
        self._reference = reference

    def of(self, problem: Problem, calls: Sequence[str]) -> Answers:
        """Raises DataError if the canonical solution fails or the cache cannot be written, and SandboxError."""
        parts = [VERSION, problem.canonical_solution, problem.public.entry_point, *calls]
        answers = self._kept.get(parts, Answers)
        if answers is None or len(answers.outputs) != len(calls):
            answers = self._kept.put(parts, self._reference(problem, calls))
        return answers
