"""Which tests a loop may see (the gate) and which give the score (held out).

Source: Stroebl, Kapoor, Narayanan, "The Limits of Inference Scaling Through Resampling", arXiv 2411.17501: who stops on
the tests that also score reports an oracle's number. So a score states its kind.
"""

from __future__ import annotations

from dataclasses import dataclass

from koderz_core.errors import DataError, UnknownNameError
from koderz_core.records import ErrorClass, Problem, ScoreKind, TestSet, Verdict
from koderz_core.sandbox.sources import count_tests

GATES = ("tests",)


@dataclass(frozen=True, slots=True)
class Split:
    """A problem's tests under a gate policy; ``held_out`` may be empty."""

    gate: TestSet
    held_out: TestSet


def check_tests(problem: Problem) -> None:
    """Raise DataError if a problem has no test that counts: no program could pass it, whatever its model does."""
    try:
        total = count_tests(problem.tests.source)
    except (SyntaxError, ValueError) as error:
        raise DataError(f"The tests of {problem.id} are not Python: {error}. Mend or omit that problem.") from error
    if total == 0:
        raise DataError(f"The tests of {problem.id} hold no assert that could fail. Mend or leave out that problem.")


def split(problem: Problem, gate: str) -> Split:
    """Gate and held-out tests of a problem. ``tests``: all base tests gate the loop (the original koderz)."""
    if gate not in GATES:
        raise UnknownNameError("gate", gate, GATES)
    return Split(gate=problem.tests, held_out=TestSet())


def scoring(tests: Split, *, gate_was_seen: bool) -> TestSet:
    """The tests that no iteration has seen; for a strategy that never ran the gate these are its tests too."""
    return tests.held_out if tests.held_out or gate_was_seen else tests.gate


def score_kind(held_out: TestSet) -> ScoreKind:
    """``held_out`` if there is something unseen to score on, else ``oracle``: the loop stopped on what scores it."""
    return "held_out" if held_out else "oracle"


def no_program(tests: TestSet, error: ErrorClass) -> Verdict:
    """The verdict on a reply that holds no program: every test not reached."""
    reasons = {"truncated": "The reply was cut at its token limit.", "refused": "The model refused."}
    message = f"No program was found in the reply. {reasons.get(error, '')}".strip()
    return Verdict("-" * count_tests(tests.source), (), False, error, message, 0.0, "none")
