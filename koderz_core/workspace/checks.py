"""Checks of single programs, for other programs that grade: on tests as text, or on a problem of a dataset.

Each check is made once and then kept, so that grading the next program of a problem costs only its run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

from koderz_core.errors import DataError, UnknownNameError, UsageError, listed
from koderz_core.grading.grader import Graded, Grader, Sample, as_program
from koderz_core.grading.own_tests import problem_of
from koderz_core.grading.testsets import Split
from koderz_core.records import Problem
from koderz_core.workspace.datasets import Datasets
from koderz_core.workspace.grading import Grading

Item = TypeVar("Item")
Result = TypeVar("Result")
TYPED = "typed"


@dataclass(frozen=True, slots=True)
class Check:
    """A problem, and the tests that a program must pass. May be used from any thread."""

    problem: Problem
    tests: Split
    grader: Grader

    def grade(self, kind: str, text: str, name: str = "") -> Graded:
        """Grade a program, which is a ``solution``, a ``completion`` or a model's ``answer``; ``name``: in its row.

        A result without a verdict says why the program could not be judged. Raises DataError for a completion that
        the problem cannot have.
        """
        program = as_program(kind, text, self.problem)
        sample = Sample(1, self.problem, program, {"id": name})
        try:
            return self.grader.grade_one(sample, self.tests)
        except DataError as error:  # the tests cannot be run, perhaps because of the program
            return Graded(sample, None, trouble=str(error))


class Checks:
    """Makes checks. May be used from any thread."""

    def __init__(self, datasets: Datasets, grading: Grading) -> None:
        self._datasets, self._grading = datasets, grading
        self._grader = grading.grader(1)  # only its methods for the caller's thread are used
        self.of_tests = lru_cache(256)(self._of_tests)
        self.of_problem = lru_cache(4096)(self._of_problem)
        self._problems = lru_cache(8)(self._load)

    def in_parallel(self, work: Callable[[Item], Result], items: Sequence[Item], workers: int) -> list[Result]:
        """Return the result of ``work`` for each item, in order. Raises what ``work`` raised first."""
        with ThreadPoolExecutor(workers, thread_name_prefix="check") as threads:
            try:
                return list(threads.map(work, items))
            except BaseException:
                threads.shutdown(cancel_futures=True)
                raise

    def _of_tests(self, tests: str, seconds: float | None = None, sender: str = TYPED) -> Check:
        """Return the check of tests: asserts, or source that defines ``check``. Raises DataError.

        ``seconds``: the time limit of a program; None for the default of the settings. ``sender``: tests, unlike
        programs, could change the worker that runs them, so the tests of each sender have their own workers.
        """
        problem = problem_of(tests, f"{sender}/0")
        limited = replace(problem.tests, seconds=seconds)
        return Check(replace(problem, tests=limited), Split(limited, limited), self._grader)

    def _of_problem(self, dataset: str, name: str | int) -> Check:
        """Return the check of all tests of a problem, named by its id or the number at its end.

        Raises UnknownNameError, UsageError for a number of several problems, DataError, SandboxError.
        """
        name = str(name)  # the ids in some published datasets, such as MBPP, are numbers
        problems = self._problems(dataset)
        ids = [name] if name in problems else [id_ for id_ in problems if id_.rpartition("/")[2] == name]
        if not ids:
            raise UnknownNameError("problem", name, problems)
        if len(ids) > 1:
            raise UsageError(f"The ids of several problems end with {name!r}: {listed(ids, 5)}. Give the whole id.")
        problem = problems[ids[0]]
        self._grading.require_gradable([problem])
        return Check(problem, self._grader.tests_of(problem, "plus" if problem.plus else "base"), self._grader)

    def _load(self, dataset: str) -> dict[str, Problem]:
        return {problem.id: problem for problem in self._datasets.load(dataset).problems}
