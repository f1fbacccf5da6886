"""The tests that a loop may see (the gate) and the tests that give the score (held out).

Stroebl, Kapoor, Narayanan, "The Limits of Inference Scaling Through Resampling", arXiv 2411.17501: a loop that stops on
the tests that also score it reports an oracle's rate. So each score states its kind.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from koderz_core.errors import DataError
from koderz_core.grading.case_split import calls_of_cases, cases_at_random, cases_by_arguments, cases_by_calls
from koderz_core.grading.examples import Example, as_tests, examples_in
from koderz_core.grading.gates import EXAMPLES, SPLIT, Gate, gate_of
from koderz_core.grading.test_split import (
    SplitSource,
    call_of,
    calls_of,
    draw,
    parameters_of,
    split_at_random,
    split_by_calls,
)
from koderz_core.records import QUESTION, ErrorClass, Problem, Repository, ScoreKind, TestSet, Verdict
from koderz_core.sandbox.tiers import number_of


@dataclass(frozen=True, slots=True)
class TestPolicy:
    """The use of a problem's tests.

    ``gate`` is a name that ``gates.gate_of`` reads, and ``seed`` draws the part of a ``split`` gate. ``seconds`` is the
    user's time limit for a program on each test set. Without it, ``by_canonical`` sets the limit to four times the
    canonical solution's time. With ``plus``, the plus tests of a problem are part of the score, and with
    ``each_limited``, each of them has its own time limit as well.
    """

    __test__ = False  # pytest: not a test class
    gate: str = "tests"
    seed: int = 0
    seconds: float | None = None
    by_canonical: bool = False
    plus: bool = False
    each_limited: bool = False


_NONE = TestSet()


@dataclass(frozen=True, slots=True)
class Split:
    """A problem's tests under a policy. ``rest`` are the base tests outside the gate; it and ``plus`` may be empty.

    ``within_base``: the gate is a part of the base tests and so of the score, unlike examples. ``shown``: base tests
    that make the call of an example, for a gate of examples, or that the text shows. They are part of the score but not
    held out. ``plus_shown`` are the plus tests that make a call of the gate, with the same rule, and ``plus_rest`` all
    others. ``hidden``: the base tests that the text does not show, None if the text of the problem shows no base test.
    """

    gate: TestSet
    base: TestSet
    rest: TestSet = _NONE
    plus: TestSet = _NONE
    within_base: bool = True
    shown: TestSet = _NONE
    plus_shown: TestSet = _NONE
    plus_rest: TestSet = _NONE
    hidden: TestSet | None = None

    @property
    def in_text(self) -> TestSet:
        """The base tests that the text of the problem shows."""
        return _NONE if self.hidden is None else self.shown


@dataclass(frozen=True, slots=True)
class Outside:
    """The reason why a problem has no gate under a policy."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unseen:
    """The tests that no iteration has seen; either may be empty."""

    base: TestSet
    plus: TestSet

    def __bool__(self) -> bool:
        return bool(self.base or self.plus)


def check_tests(problem: Problem) -> None:
    """Raise DataError if a problem has no test that counts, since no program could pass it. A question needs none."""
    if problem.public.kind == QUESTION:
        return
    try:
        total = number_of(problem.tests)
    except (SyntaxError, ValueError) as error:
        raise DataError(
            f"The tests of {problem.id} are not valid Python: {error}. Fix or omit that problem."
        ) from error
    if total == 0:
        raise DataError(f"The tests of {problem.id} contain no assert that can fail. Fix or omit that problem.")


def split(problem: Problem, policy: TestPolicy) -> Split | Outside:
    """Gate and base tests of a problem, without plus tests and time limits.

    ``tests``: all base tests gate the loop, as in the original koderz; ``examples``: the problem's sample cases, or
    else the examples in its text, true or false; ``split:f``: a fraction of the base tests. Raises UnknownNameError
    and PlanError for an unknown gate.
    """
    gate = gate_of(policy.gate)
    if problem.repository:
        return _of_repository(problem, problem.repository, gate, f"{policy.seed}/{problem.id}")
    if gate.kind == EXAMPLES:
        return _of_text(problem)
    if gate.kind == SPLIT:
        parts = _at_random(problem, gate.fraction, f"{policy.seed}/{problem.id}")
        if isinstance(parts, str):
            return Outside(parts)
        return _without_shown(problem, Split(parts[0], problem.tests, parts[1]))
    return _without_shown(problem, Split(problem.tests, problem.tests))


def _of_repository(problem: Problem, repository: Repository, gate: Gate, lot: str) -> Split | Outside:
    """All tests of a repository as the gate, those that the text shows, or a fraction of the failing and passing ones.

    Each part of a fraction has failing tests: without one, the faulty program would pass. Tests that the text shows are
    in the gate.
    """
    failing, passing, shown = repository.failing, repository.passing, frozenset(problem.samples.ids)
    if gate.kind == EXAMPLES:
        if not shown:
            return Outside("its text shows none of its tests: use gate=split:0.5 or gate=tests")
        return Split(*_of_ids(problem, shown))
    parts = Split(problem.tests, problem.tests)
    if gate.kind == SPLIT:
        if len(failing) < 2:
            return Outside(
                "only one of its tests fails without the correct patch, but the gate and the held-out tests each need "
                "such a test"
            )
        if shown.issuperset(failing):
            return Outside("its text shows all tests that fail without the correct patch, so none can be held out")
        fixed = [place for place, test in enumerate(failing) if test in shown]
        chosen = {failing[place] for place in draw(len(failing), gate.fraction, f"{lot}/failing", fixed)[0]}
        if len(passing) > 1:
            chosen |= {passing[place] for place in draw(len(passing), gate.fraction, f"{lot}/passing")[0]}
        parts = Split(*_of_ids(problem, chosen))
    if not shown:
        return parts
    in_text, _, hidden = _of_ids(problem, shown)
    return replace(parts, shown=in_text, hidden=hidden)


def _of_ids(problem: Problem, first: Collection[str]) -> tuple[TestSet, TestSet, TestSet]:
    """The tests of a repository with these ids, all its tests, and all others, in their order."""
    tests = problem.tests
    parts = [tuple(test for test in tests.ids if (test in first) == wanted) for wanted in (True, False)]
    return replace(tests, ids=parts[0]), tests, replace(tests, ids=parts[1])


def _in_text(problem: Problem) -> frozenset[str]:
    """The calls of the samples, if these are asserts."""
    if problem.samples.cases or not problem.samples:
        return frozenset()
    return calls_of(problem.samples.source, parameters_of(problem.public), problem.public.entry_point)


def _without_shown(problem: Problem, tests: Split) -> Split:
    """The tests, without those that the text shows in ``hidden``, if it shows base tests."""
    calls = _in_text(problem)
    if not calls:
        return tests
    public = problem.public
    parts = split_by_calls(problem.tests.source, calls, parameters_of(public), public.entry_point)
    shown, hidden = (replace(problem.tests, source=source) for source in (parts.gate, parts.rest))
    return replace(tests, shown=shown, hidden=hidden)


def _at_random(problem: Problem, fraction: float, lot: str) -> tuple[TestSet, TestSet] | str:
    """A part of the base tests and the rest, or why a split is impossible."""
    if problem.tests.cases:
        return cases_at_random(problem.tests, fraction, lot)
    parts = split_at_random(problem.tests.source, fraction, lot, parameters_of(problem.public), _in_text(problem))
    if not isinstance(parts, SplitSource):
        return parts
    return replace(problem.tests, source=parts.gate), replace(problem.tests, source=parts.rest)


def _of_text(problem: Problem) -> Split | Outside:
    """The problem's samples as the gate, or else the examples in its text."""
    if problem.samples.cases:
        return _by_samples(problem)
    examples = examples_in(problem.public)
    if not examples:
        return Outside("the text of the problem contains no example that koderz can read")
    return by_examples(problem, examples)


def _by_samples(problem: Problem) -> Split:
    """The problem's samples as the gate. A base test that makes the call of a sample is not held out."""
    shown, rest = cases_by_calls(problem.tests, frozenset(calls_of_cases(problem.samples)))
    return Split(problem.samples, problem.tests, rest, within_base=False, shown=shown)


def by_examples(problem: Problem, examples: Sequence[Example]) -> Split:
    """These examples as the gate. A base test that makes the call of an example is not held out.

    Raises SyntaxError, ValueError if the problem's tests are not Python.
    """
    parameters, gate = parameters_of(problem.public), as_tests(problem, examples)
    calls = calls_of(gate.source, parameters) | _in_text(problem)
    if problem.tests.cases:
        shown, rest = cases_by_arguments(problem.tests, lambda arguments: call_of(arguments) in calls)
        return Split(gate, problem.tests, rest, within_base=False, shown=shown)
    parts = split_by_calls(problem.tests.source, calls, parameters, problem.public.entry_point)
    shown, rest = (replace(problem.tests, source=source) for source in (parts.gate, parts.rest))
    hidden = rest if _in_text(problem) else None
    return Split(gate, problem.tests, rest, within_base=False, shown=shown, hidden=hidden)


def unseen(tests: Split, *, gate_was_seen: bool) -> Unseen:
    """The tests that no model has seen. If the strategy never ran the gate, only the text may have shown some."""
    if gate_was_seen:
        return Unseen(tests.rest, tests.plus_rest)
    return Unseen(tests.base if tests.hidden is None else tests.hidden, tests.plus)


def deciding(tests: Split, *, gate_was_seen: bool) -> tuple[TestSet, ...]:
    """All tests that decide whether a program solves its problem, each set with its own time limit; at least one."""
    held_out = unseen(tests, gate_was_seen=gate_was_seen)
    if not gate_was_seen:
        return tuple(filter(None, (tests.in_text, held_out.base, held_out.plus)))
    shown = tests.gate if tests.within_base else tests.shown
    return tuple(filter(None, (shown, tests.plus_shown, held_out.base, held_out.plus)))


def score_kind(held_out: Unseen) -> ScoreKind:
    """``held_out`` if unseen tests score the program, else ``oracle``: the tests that stop the loop also score it."""
    return "held_out" if held_out else "oracle"


def no_program(tests: TestSet, error: ErrorClass, reason: str = "") -> Verdict:
    """The verdict on a reply without a program: no test was reached. ``reason``: as in ``Extracted``."""
    reasons = {
        "truncated": "The reply was cut at its token limit.",
        "refused": "The model refused.",
        "turn_timeout": "The reply was not complete within its time limit.",
    }
    found = f"No program was found in the reply{': ' if reason else ''}{reason}."
    message = f"{found} {reasons.get(error, '')}".strip()
    return Verdict("-" * number_of(tests), (), False, error, message, 0.0, "none")
