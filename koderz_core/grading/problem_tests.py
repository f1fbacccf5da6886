"""The tests of each problem, made once: its gate of true examples, its plus tests, and the time limits of programs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Generic, TypeVar

from koderz_core.errors import DataError
from koderz_core.grading.canonical import Calls, Canonical, Expectations, limit, limits_of_cases
from koderz_core.grading.case_split import arguments_of_call, calls_of_cases, cases_by_arguments
from koderz_core.grading.examples import Example, as_tests, examples_in
from koderz_core.grading.suites import plus_tests
from koderz_core.grading.test_split import call_of, calls_of, parameters_of
from koderz_core.grading.testsets import Outside, Split, TestPolicy, by_examples, split
from koderz_core.records import Problem, TestSet

Divide = Callable[[Problem, TestPolicy], Split | Outside]
Result = TypeVar("Result")
_KEPT = 64  # problems whose tests stay in memory: experiments proceed problem by problem


class Divider:
    """Divides the tests of problems. Several threads may use it; calls for the same problem share the work."""

    def __init__(self, canonical: Canonical, expectations: Callable[[], Expectations]) -> None:
        """``expectations`` is called only to make plus tests."""
        self._canonical = canonical
        self._expectations = expectations
        # One _Once per key: a second caller waits there. A failure is not kept, so the next caller tries again.
        self._gates = lru_cache(1024)(lambda problem, policy: _Once(lambda: self._gate(problem, policy)))
        self._whole = lru_cache(_KEPT)(lambda problem, policy: _Once(lambda: self._divided(problem, policy)))

    def gate(self, problem: Problem, policy: TestPolicy) -> Split | Outside:
        """As ``split``, but only with true examples. Raises DataError, SandboxError."""
        gate: Split | Outside = self._gates(problem, TestPolicy(policy.gate, policy.seed)).get()
        return gate

    def divide(self, problem: Problem, policy: TestPolicy) -> Split | Outside:
        """The gate, plus tests and time limits. Raises DataError if the canonical solution fails, SandboxError."""
        whole: Split | Outside = self._whole(problem, policy).get()
        return whole

    def untrue(self, problem: Problem) -> tuple[Example, ...]:
        """The examples in a problem's text that the canonical solution fails. Raises DataError, SandboxError."""
        examples = examples_in(problem.public)
        true = self._true(problem, examples)
        return tuple(example for example in examples if example not in true)

    def _gate(self, problem: Problem, policy: TestPolicy) -> Split | Outside:
        tests = self._gate_of(problem, policy)
        fault = self._fault(problem, tests.gate) if problem.variant and isinstance(tests, Split) else ""
        return Outside(fault) if fault else tests

    def _fault(self, problem: Problem, gate: TestSet) -> str:
        """Why a variant of a problem is not what its rule promises, "" if it is.

        The canonical solution must pass the gate. If the variant is impossible, it must fail one test only.
        """
        try:
            measure = self._canonical.on(problem, gate)
        except DataError as error:
            return f"the tests of this variant cannot be run: {error}"
        failed = measure.marks.count("P") < len(measure.marks) if measure else False
        if problem.variant == "impossible":
            only = measure is not None and measure.marks.count("P") == len(measure.marks) - 1
            fault = "the canonical solution must fail exactly one gate test of this variant, but does not"
            return "" if only else fault
        return "the canonical solution fails the gate of this variant" if failed or measure is None else ""

    def _gate_of(self, problem: Problem, policy: TestPolicy) -> Split | Outside:
        tests = split(problem, policy)
        if isinstance(tests, Outside) or tests.within_base or problem.samples.cases:
            return tests
        true = self._true(problem, examples_in(problem.public))
        if not true:
            return Outside("the canonical solution fails all examples in the text of the problem")
        return by_examples(problem, true)

    def _true(self, problem: Problem, examples: tuple[Example, ...]) -> tuple[Example, ...]:
        if not examples:
            return ()
        try:
            measure = self._canonical.on(problem, as_tests(problem, examples))
        except DataError:  # one example that cannot be run breaks the others
            alone = examples if len(examples) > 1 else ()
            return tuple(example for example in alone if self._true(problem, (example,)))
        if measure is None:
            return examples
        return tuple(example for example, mark in zip(examples, measure.marks, strict=True) if mark == "P")

    def _divided(self, problem: Problem, policy: TestPolicy) -> Split | Outside:
        problem = self._with_limits(problem, policy)
        tests = self.gate(problem, policy)
        if isinstance(tests, Outside):
            return tests
        plus = TestSet()
        if policy.plus and problem.plus:
            plus = plus_tests(problem, self._expectations(), each_limited=policy.each_limited)
        if policy.seconds is not None:
            plus = replace(plus, seconds=policy.seconds)
            tests = _limited(tests, policy.seconds, policy.seconds)
        elif policy.by_canonical:
            seconds = self._limit(problem, tests.base)
            tests = _limited(tests, seconds if tests.within_base else self._limit(problem, tests.gate), seconds)
        return self._with_plus(problem, tests, plus) if plus else tests

    def _with_limits(self, problem: Problem, policy: TestPolicy) -> Problem:
        """The problem with a time limit for each of the cases in its base tests and samples."""
        limited = [
            replace(tests, cases=replace(tests.cases, limits=self._limits(problem, tests, policy)))
            if tests.cases
            else tests
            for tests in (problem.tests, problem.samples)
        ]
        return replace(problem, tests=limited[0], samples=limited[1])

    def _limits(self, problem: Problem, tests: TestSet, policy: TestPolicy) -> str:
        """As ``records.Cases.limits``: the larger of the publisher's limit and that by the canonical solution's time.

        A limit that the user has set applies to each case of a whole program, or to all calls of a function together.
        """
        assert tests.cases is not None
        if policy.seconds is not None:
            each = problem.public.kind == "program"
            return "\n".join([f"{policy.seconds:g}"] * len(tests.cases)) if each else ""
        measure = self._canonical.on(problem, tests) if policy.by_canonical else None
        return limits_of_cases(tests.cases, measure)

    def _limit(self, problem: Problem, tests: TestSet) -> float | None:
        """The time limit; None, which means the judge's own, if no canonical solution passes.

        The judge of repositories measures the canonical solution itself.
        """
        if tests.ids:
            return None
        measure = self._canonical.on(problem, tests)
        return limit(measure.seconds) if measure and measure.passed else None

    def _with_plus(self, problem: Problem, tests: Split, plus: TestSet) -> Split:
        """Plus tests that make a call of the gate are not held out, because the gate shows the answers to its calls.

        The calls are recorded while the canonical solution runs the gate, and also read from the gate's source.
        """
        public, gate = problem.public, tests.gate
        recorded = Calls() if gate.cases else self._canonical.calls(problem, gate)
        made = (arguments for line in calls_of_cases(gate) if (arguments := arguments_of_call(line)) is not None)
        read = {*calls_of(gate.source, parameters_of(public), public.entry_point), *map(call_of, made)}
        shown, rest = cases_by_arguments(
            plus, lambda arguments: recorded.include(arguments) or call_of(arguments) in read
        )
        return replace(tests, plus=plus, plus_shown=shown, plus_rest=rest)


def _limited(tests: Split, gate_seconds: float | None, base_seconds: float | None) -> Split:
    return replace(
        tests,
        gate=replace(tests.gate, seconds=gate_seconds),
        base=replace(tests.base, seconds=base_seconds),
        rest=replace(tests.rest, seconds=base_seconds),
        shown=replace(tests.shown, seconds=base_seconds),
        hidden=tests.hidden and replace(tests.hidden, seconds=base_seconds),
    )


@dataclass(slots=True)
class _Once(Generic[Result]):
    """The result of ``make``, which the first caller of ``get`` computes."""

    make: Callable[[], Result]
    results: list[Result] = field(default_factory=list)
    guard: threading.Lock = field(default_factory=threading.Lock)  # guards results

    def get(self) -> Result:
        with self.guard:
            if not self.results:
                self.results.append(self.make())
            return self.results[0]
