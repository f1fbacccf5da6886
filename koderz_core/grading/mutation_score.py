"""The mutation score of a problem's tests: the share of mutants of its canonical solution that the tests kill.

A mutant that does the same as the solution on every input (equivalent) cannot be killed, and no program can recognise
all such mutants (Budd, Angluin, 1982). So a score is a lower bound of the share that ideal tests of the same problem
would be compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from koderz_core.grading.canonical import RecordCache
from koderz_core.grading.mutants import MOST_MUTANTS, Mutant, mutants
from koderz_core.grading.problem_tests import Divide
from koderz_core.grading.testsets import Outside, TestPolicy
from koderz_core.protocols import Judge
from koderz_core.records import Problem, TestSet, to_hash

SCORES_VERSION = "1"
"""Version of the cached scores. A change makes koderz ignore records of other versions."""
WEAK_SHARE = 1 / 3
"""Share of mutants that survive from which on tests are called weak."""
_NO_PROGRAM = "its canonical solution is a patch of a repository, but koderz makes mutants only of programs"
_NO_MUTANTS = "koderz found no possible mutation of the canonical solution"


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that passes all tests, as in ``Mutant``."""

    line: int
    change: str


@dataclass(frozen=True, slots=True)
class MutationScore:
    """``killed`` mutants fail a base or plus test, ``killed_by_base`` a base test.

    ``reason``: why there is no score, if there are no mutants.
    """

    mutants: int = 0
    killed: int = 0
    killed_by_base: int = 0
    survivors: tuple[Survivor, ...] = ()
    reason: str = ""

    @property
    def weak(self) -> bool:
        """Whether the tests kill no mutant, or a third of the mutants or more survives."""
        return self.mutants > 0 and self.mutants - self.killed >= WEAK_SHARE * self.mutants


class MutationScores:
    """Computes and caches scores. Safe to use from several threads."""

    def __init__(self, folder: Path, judge: Callable[[], Judge], divide: Divide) -> None:
        """``judge`` and ``divide`` are used only for scores that are not in the cache."""
        self._cache = RecordCache(folder)
        self._judge, self._divide = judge, divide

    def of(self, problem: Problem, policy: TestPolicy) -> MutationScore:
        """The score of all tests of a problem. Raises DataError, SandboxError."""
        if problem.repository:
            return MutationScore(reason=_NO_PROGRAM)
        parts = [SCORES_VERSION, MOST_MUTANTS, problem.canonical_solution, to_hash(problem.public)]
        parts += [to_hash(problem.tests), to_hash(problem.plus)]
        if cached := self._cache.get(parts, MutationScore):
            return cached
        tests = sound_tests(problem, self._judge(), self._divide, policy)
        left = found = mutants(problem) if not isinstance(tests, str) else ()
        if isinstance(tests, str) or not found:
            return MutationScore(reason=tests if isinstance(tests, str) else _NO_MUTANTS)
        numbers = []
        for test_set in tests:
            left = surviving(self._judge(), problem, left, test_set)
            numbers.append(len(found) - len(left))
        survivors = tuple(Survivor(mutant.line, mutant.change) for mutant in left)
        return self._cache.put(parts, MutationScore(len(found), numbers[-1], numbers[0], survivors))

    def keep(self, sha256: str, scores: Mapping[str, MutationScore]) -> None:
        """Add the scores of problems to those that are cached for the dataset with this SHA-256."""
        known = {name: score for name, score in scores.items() if not score.reason}
        self._cache.put(_parts_of_dataset(sha256), {**self.kept(sha256), **known})

    def kept(self, sha256: str) -> Mapping[str, MutationScore]:
        """The cached scores of a dataset by the id of the problem. Computes nothing."""
        return self._cache.get(_parts_of_dataset(sha256), dict[str, MutationScore]) or {}


def sound_tests(problem: Problem, judge: Judge, divide: Divide, policy: TestPolicy) -> tuple[TestSet, ...] | str:
    """The base tests and, if there are any, the plus tests; or why mutants cannot be run on them.

    Raises DataError, SandboxError.
    """
    if not problem.canonical_solution or problem.repository:
        return _NO_PROGRAM if problem.repository else "the problem has no canonical solution"
    split = divide(problem, policy)
    if isinstance(split, Outside):
        return split.reason
    tests = (split.base, split.plus) if split.plus else (split.base,)
    for test_set in tests:
        verdict = judge.check(problem, problem.canonical_solution, test_set)
        if not verdict.passed:
            return f"the canonical solution fails the tests: {verdict.message}"
    return tests


def surviving(judge: Judge, problem: Problem, candidates: Iterable[Mutant], tests: TestSet) -> tuple[Mutant, ...]:
    """The mutants that pass all tests. A mutant that exceeds the time limit has failed. Raises SandboxError."""
    return tuple(mutant for mutant in candidates if judge.check(problem, mutant.code, tests).passed)


def _parts_of_dataset(sha256: str) -> list[object]:
    return ["dataset", SCORES_VERSION, MOST_MUTANTS, sha256]
