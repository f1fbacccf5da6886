"""Which tests a loop may see (the gate) and which give the score (held out).

Source: Stroebl, Kapoor, Narayanan, "The Limits of Inference Scaling Through Resampling", arXiv 2411.17501: who stops on
the tests that also score reports an oracle's number. So a score states its kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from koderz_core.errors import DataError
from koderz_core.grading.examples import Example, as_tests, examples_in
from koderz_core.grading.gates import EXAMPLES, SPLIT, gate_of
from koderz_core.grading.test_split import Parted, calls_of, parameters_of, parted, parted_by_calls
from koderz_core.records import ErrorClass, Problem, ScoreKind, TestSet, Verdict
from koderz_core.sandbox.tiers import count_tests, number_of


@dataclass(frozen=True, slots=True)
class TestPolicy:
    """How a problem's tests are used. ``gate`` as ``gates.gate_of`` reads it; ``seed`` draws the part that gates.

    ``seconds``: what a program may take on each test set, where a person has said so; ``by_canonical``: else it is
    what the canonical solution takes, times four. ``plus``: plus tests, where there are some, are part of the score.
    """

    __test__ = False  # pytest: not a test class
    gate: str = "tests"
    seed: int = 0
    seconds: float | None = None
    by_canonical: bool = False
    plus: bool = False


_NONE = TestSet()


@dataclass(frozen=True, slots=True)
class Split:
    """A problem's tests under a policy. ``rest``: the base tests outside the gate; it and ``plus`` may be empty.

    ``within_base``: the gate is a part of the base tests, and so of the score; examples are not. ``shown``: base tests
    that make an example's call, where the gate is of examples. They count, but nobody may say they were held out.
    ``plus_shown`` and ``plus_rest`` are the plus tests that make a call of the gate, which count in the same way, and
    all others.
    """

    gate: TestSet
    base: TestSet
    rest: TestSet = _NONE
    plus: TestSet = _NONE
    within_base: bool = True
    shown: TestSet = _NONE
    plus_shown: TestSet = _NONE
    plus_rest: TestSet = _NONE


@dataclass(frozen=True, slots=True)
class Outside:
    """A problem that a gate cannot be made of."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unseen:
    """The tests that no iteration has seen; either may be empty."""

    base: TestSet
    plus: TestSet

    def __bool__(self) -> bool:
        return bool(self.base or self.plus)


def check_tests(problem: Problem) -> None:
    """Raise DataError if a problem has no test that counts: no program could pass it, whatever its model does."""
    try:
        total = count_tests(problem.tests.source)
    except (SyntaxError, ValueError) as error:
        raise DataError(f"The tests of {problem.id} are not Python: {error}. Mend or omit that problem.") from error
    if total == 0:
        raise DataError(f"The tests of {problem.id} hold no assert that could fail. Mend or leave out that problem.")


def split(problem: Problem, policy: TestPolicy) -> Split | Outside:
    """Gate and base tests of a problem, without plus tests and limits.

    ``tests``: all base tests gate the loop (the original koderz); ``examples``: those in the problem's text, true or
    not; ``split:f``: a fraction of the base asserts. Raises UnknownNameError, PlanError for a gate that there is none
    of.
    """
    gate = gate_of(policy.gate)
    if gate.kind == EXAMPLES:
        examples = examples_in(problem.public)
        if not examples:
            return Outside("its text holds no example that can be read")
        return by_examples(problem, examples)
    if gate.kind == SPLIT:
        lot, parameters = f"{policy.seed}/{problem.id}", parameters_of(problem.public)
        parts = parted(problem.tests.source, gate.fraction, lot, parameters)
        if not isinstance(parts, Parted):
            return Outside(parts)
        gate_tests, rest = (replace(problem.tests, source=source) for source in (parts.gate, parts.rest))
        return Split(gate_tests, problem.tests, rest)
    return Split(problem.tests, problem.tests)


def by_examples(problem: Problem, examples: Sequence[Example]) -> Split:
    """These examples as the gate. What calls as one of them does is no more held out than the example is.

    Raises SyntaxError, ValueError if the problem's tests are not Python.
    """
    parameters, gate = parameters_of(problem.public), as_tests(problem, examples)
    calls = calls_of(gate.source, parameters)
    parts = parted_by_calls(problem.tests.source, calls, parameters, problem.public.entry_point)
    shown, rest = (replace(problem.tests, source=source) for source in (parts.gate, parts.rest))
    return Split(gate, problem.tests, rest, within_base=False, shown=shown)


def unseen(tests: Split, *, gate_was_seen: bool) -> Unseen:
    """For a strategy that never ran the gate, all tests are among them."""
    return Unseen(tests.rest, tests.plus_rest) if gate_was_seen else Unseen(tests.base, tests.plus)


def score_kind(held_out: Unseen) -> ScoreKind:
    """``held_out`` if there is something unseen to score on, else ``oracle``: the loop stopped on what scores it."""
    return "held_out" if held_out else "oracle"


def no_program(tests: TestSet, error: ErrorClass) -> Verdict:
    """The verdict on a reply that holds no program: every test not reached."""
    reasons = {"truncated": "The reply was cut at its token limit.", "refused": "The model refused."}
    message = f"No program was found in the reply. {reasons.get(error, '')}".strip()
    return Verdict("-" * number_of(tests), (), False, error, message, 0.0, "none")
