"""More held-out inputs for problems of a user: new inputs whose answers the canonical solution gives.

The inputs that kill mutants which the given tests do not kill come first, chosen greedily (Chvatal, "A Greedy Heuristic
for the Set-Covering Problem", 1979), then inputs with different answers. The solution runs only in the sandbox.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Any

from koderz_core.grading.canonical import Canonical, Expectations
from koderz_core.grading.input_domain import Value
from koderz_core.grading.input_mutation import new_inputs
from koderz_core.grading.mutants import Mutant, mutants
from koderz_core.grading.mutation_score import sound_tests, surviving
from koderz_core.grading.problem_tests import Divide
from koderz_core.grading.suites import plus_tests
from koderz_core.grading.testsets import TestPolicy
from koderz_core.protocols import Judge
from koderz_core.records import PlusTests, Problem, TestSet, Verdict
from koderz_core.sandbox.inside.values import decode
from koderz_core.sandbox.inside.wire import WireError
from koderz_core.sandbox.reference import Answers

POOL = 200
"""New inputs of a problem from which the best are chosen."""

Trial = Callable[[Problem, Sequence[str], int], Answers]
"""``sandbox.reference.trial_answers``; the number is the hash seed."""


@dataclass(frozen=True, slots=True)
class Strengthened:
    """New inputs of a problem, each a list of arguments; ``reason``: why there are none.

    ``before`` and ``after`` mutants of ``mutants`` are killed by the given tests, and by these and the new inputs.
    """

    problem: str
    inputs: tuple[list[Value], ...] = ()
    mutants: int = 0
    before: int = 0
    after: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Strengthening:
    """Makes inputs. Safe to use from several threads."""

    judge: Judge
    canonical: Canonical
    divide: Divide
    expectations: Expectations
    trial: Trial
    mutants: Callable[[Problem], tuple[Mutant, ...]] = mutants

    def of(self, problem: Problem, policy: TestPolicy, most: int, seed: int, tolerance: float = 0.0) -> Strengthened:
        """At most ``most`` inputs for a problem whose results may differ by ``tolerance``.

        Raises DataError, also if the solution ends its process, and SandboxError.
        """
        tests = sound_tests(problem, self.judge, self.divide, policy)
        if isinstance(tests, str):
            return Strengthened(problem.id, reason=tests)
        found = left = self.mutants(problem)
        for test_set in tests:
            left = surviving(self.judge, problem, left, test_set)
        before = len(found) - len(left)
        made = self._inputs(problem, tests[0], seed)
        if isinstance(made, str):
            return Strengthened(problem.id, (), len(found), before, before, made)
        inputs, cases = self._sound(replace(problem, plus=PlusTests(json.dumps(made), tolerance=tolerance)), made)
        if not inputs:
            return Strengthened(problem.id, (), len(found), before, before, _NONE_SOUND)
        kills = [frozenset(_failed(self.judge.check(problem, mutant.code, cases))) for mutant in left]
        assert cases.cases, "they are plus tests"
        chosen = _choice(kills, cases.cases.answers.split("\n"), most)
        killed = sum(any(at in places for at in chosen) for places in kills)
        return Strengthened(problem.id, tuple(inputs[at] for at in chosen), len(found), before, before + killed)

    def _inputs(self, problem: Problem, tests: TestSet, seed: int) -> list[list[Value]] | str:
        """New inputs that the solution takes, or why there are none."""
        if problem.public.kind not in ("function", "repair"):
            return "inputs can be made only for problems that ask for one function"
        calls = self.canonical.arguments(problem, tests)
        given = [call for call in calls if isinstance(call, list) and call]
        if not given:
            kinds = sorted({call for call in calls if isinstance(call, str)})
            return (
                f"the tests use arguments that JSON cannot represent ({', '.join(kinds)[:100]})" if kinds else _NO_CALL
            )
        old = [call for call in json.loads(problem.plus.inputs) if call] if problem.plus else []
        return self._accepted(problem, new_inputs(problem, [*given, *old], POOL, seed))

    def _accepted(self, problem: Problem, inputs: Sequence[list[Value]]) -> list[list[Value]] | str:
        """The inputs with the same answer in two processes, which run them in opposite orders; or why there are none.

        A solution with a different answer to one input may have answered the others in the same way by chance.
        """
        calls = [json.dumps(call) for call in inputs]
        first = self.trial(problem, calls, 0).outputs
        second = self.trial(problem, calls[::-1], 1).outputs[::-1]
        answered = [
            (call, answer, repeated)
            for call, answer, repeated in zip(inputs, first, second, strict=True)
            if answer is not None and repeated is not None and '"large"' not in answer
        ]
        for call, answer, repeated in answered:
            if not _same(answer, repeated):
                return (
                    f"the canonical solution returned two different values for the arguments {json.dumps(call)[:100]}"
                )
        return [call for call, _, _ in answered] or _NONE_ACCEPTED

    def _sound(self, problem: Problem, inputs: Sequence[list[Value]]) -> tuple[list[list[Value]], TestSet]:
        """The inputs that the solution passes as plus tests, and these tests."""
        tests = plus_tests(problem, self.expectations, each_limited=True)
        marks = self.judge.check(problem, problem.canonical_solution, tests).marks
        if len(marks) != len(inputs) or "P" not in marks:
            return [], TestSet()
        passed = [call for call, mark in zip(inputs, marks, strict=True) if mark == "P"]
        if len(passed) == len(inputs):
            return passed, tests
        return self._sound(replace(problem, plus=replace(problem.plus or _EMPTY, inputs=json.dumps(passed))), passed)


_EMPTY = PlusTests("[]")
_NO_CALL = "the arguments of the calls in the tests could not be recorded"
_NONE_ACCEPTED = (
    "for each new input, the canonical solution fails, takes longer than 1 s or returns a value that koderz cannot "
    "store"
)
_NONE_SOUND = "the canonical solution passes no test with a new input"


def _same(one: str, other: str) -> bool:
    """Whether two answers are equal. Equal sets can be written in different orders."""
    try:
        return one == other or bool(decode(json.loads(one)) == decode(json.loads(other)))
    except (WireError, ValueError):
        return False


def _failed(verdict: Verdict) -> Iterator[int]:
    """The tests that a program failed, and the first that it did not reach if it was stopped or ended there."""
    yield from (at for at, mark in enumerate(verdict.marks) if mark == "F")
    if not verdict.passed and "-" in verdict.marks:
        yield verdict.marks.index("-")


def _choice(kills: Sequence[frozenset[int]], answers: Sequence[str], most: int) -> list[int]:
    """Places of inputs: first those that kill the most mutants that are left, then inputs with different answers."""
    chosen: list[int] = []
    left = [places for places in kills if places]
    while left and len(chosen) < most:
        counts = {at: sum(at in places for places in left) for at in sorted(frozenset().union(*left))}
        best = max(counts, key=counts.__getitem__)
        chosen.append(best)
        left = [places for places in left if best not in places]
    groups: dict[str, list[int]] = {}
    for at, answer in enumerate(answers):
        groups.setdefault(answer, []).append(at)
    in_turn = chain.from_iterable(zip_longest(*groups.values()))
    others = [at for at in in_turn if at is not None and at not in chosen]
    return [*chosen, *others[: most - len(chosen)]]


def with_inputs(row: Mapping[str, Any], found: Strengthened) -> dict[str, Any]:  # Any: JSON
    """The line of a file with the new inputs after its own."""
    return {**row, "plus_input": [*row.get("plus_input", []), *found.inputs]}
