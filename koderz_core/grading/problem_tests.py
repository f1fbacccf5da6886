"""The tests of each problem, made once: its gate of true examples, its plus tests, and how long programs may take."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Generic, TypeVar

from koderz_core.errors import DataError
from koderz_core.grading.canonical import Canonical, Expectations, limit
from koderz_core.grading.examples import Example, as_tests, examples_in
from koderz_core.grading.suites import parted_plus, plus_tests
from koderz_core.grading.test_split import call_of, calls_of, parameters_of
from koderz_core.grading.testsets import Outside, Split, TestPolicy, by_examples, split
from koderz_core.records import Problem, TestSet

Divide = Callable[[Problem, TestPolicy], Split | Outside]
Made = TypeVar("Made")
_KEPT = 64  # problems whose tests stay in memory: experiments go on problem by problem


class Divider:
    """Safe to use from several threads: what two need at the same time is made once."""

    def __init__(self, canonical: Canonical, expectations: Callable[[], Expectations]) -> None:
        """``expectations`` are asked for when plus tests are to be made."""
        self._canonical = canonical
        self._expectations = expectations
        # One place per key: who comes second waits there. A failure is not kept, so the next one tries again.
        self._gates = lru_cache(1024)(lambda problem, policy: _Once(lambda: self._gate(problem, policy)))
        self._whole = lru_cache(_KEPT)(lambda problem, policy: _Once(lambda: self._divided(problem, policy)))

    def gate(self, problem: Problem, policy: TestPolicy) -> Split | Outside:
        """As ``split``, with the examples that are true. Raises DataError, SandboxError."""
        gate: Split | Outside = self._gates(problem, TestPolicy(policy.gate, policy.seed)).get()
        return gate

    def divide(self, problem: Problem, policy: TestPolicy) -> Split | Outside:
        """The gate, plus tests and limits. Raises DataError if the canonical solution fails, SandboxError."""
        whole: Split | Outside = self._whole(problem, policy).get()
        return whole

    def untrue(self, problem: Problem) -> tuple[Example, ...]:
        """The examples in its text that the canonical solution fails. Raises DataError, SandboxError."""
        examples = examples_in(problem.public)
        true = self._true(problem, examples)
        return tuple(example for example in examples if example not in true)

    def _gate(self, problem: Problem, policy: TestPolicy) -> Split | Outside:
        found = split(problem, policy)
        if isinstance(found, Outside) or found.within_base:
            return found
        true = self._true(problem, examples_in(problem.public))
        if not true:
            return Outside("its canonical solution fails all the examples in its text")
        return by_examples(problem, true)

    def _true(self, problem: Problem, examples: tuple[Example, ...]) -> tuple[Example, ...]:
        if not examples:
            return ()
        try:
            measure = self._canonical.on(problem, as_tests(problem, examples))
        except DataError:  # one that cannot be run breaks the others
            return (
                tuple(example for example in examples if self._true(problem, (example,))) if len(examples) > 1 else ()
            )
        if measure is None:
            return examples
        return tuple(example for example, mark in zip(examples, measure.marks, strict=True) if mark == "P")

    def _divided(self, problem: Problem, policy: TestPolicy) -> Split | Outside:
        found = self.gate(problem, policy)
        if isinstance(found, Outside):
            return found
        plus = plus_tests(problem, self._expectations()) if policy.plus and problem.plus else TestSet()
        if policy.seconds is not None:
            plus = replace(plus, seconds=policy.seconds)
            found = _limited(found, policy.seconds, policy.seconds)
        elif policy.by_canonical:
            seconds = self._limit(problem, found.base)
            found = _limited(found, seconds if found.within_base else self._limit(problem, found.gate), seconds)
        return self._with_plus(problem, found, plus) if plus else found

    def _limit(self, problem: Problem, tests: TestSet) -> float | None:
        """None, the judge's own, if there is no solution that passes to measure."""
        measure = self._canonical.on(problem, tests)
        return limit(measure.seconds) if measure and measure.passed else None

    def _with_plus(self, problem: Problem, tests: Split, plus: TestSet) -> Split:
        """Who runs the gate has seen what its calls give, so plus tests that make the same calls are not held out.

        Calls are recorded while the canonical solution runs the gate, and read from the gate's text as well.
        """
        public, made = problem.public, self._canonical.calls(problem, tests.gate)
        read = calls_of(tests.gate.source, parameters_of(public), public.entry_point)
        shown, rest = parted_plus(plus, lambda arguments: made.hold(arguments) or call_of(arguments) in read)
        return replace(tests, plus=plus, plus_shown=shown, plus_rest=rest)


def _limited(tests: Split, of_gate: float | None, of_base: float | None) -> Split:
    return replace(
        tests,
        gate=replace(tests.gate, seconds=of_gate),
        base=replace(tests.base, seconds=of_base),
        rest=replace(tests.rest, seconds=of_base),
        shown=replace(tests.shown, seconds=of_base),
    )


@dataclass(slots=True)
class _Once(Generic[Made]):
    """What ``make`` gives, made by the first who asks for it."""

    make: Callable[[], Made]
    made: list[Made] = field(default_factory=list)
    guard: threading.Lock = field(default_factory=threading.Lock)  # guards made

    def get(self) -> Made:
        with self.guard:
            if not self.made:
                self.made.append(self.make())
            return self.made[0]
