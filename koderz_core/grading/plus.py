"""The plus tests of a problem as a test set: one assert per input, inputs and expected answers as literals."""

from __future__ import annotations

import inspect

from koderz_core.datasets.evalplus import NEED_ARGUMENTS, with_like
from koderz_core.datasets.types import Arguments, arguments_of
from koderz_core.errors import DataError, UsageError
from koderz_core.grading.canonical import limit
from koderz_core.grading.expected import Expectations
from koderz_core.records import PlusTests, Problem, TestSet
from koderz_core.sandbox.inside import literals
from koderz_core.sandbox.inside.literals import literal

# Only the head of a file may import from the future.
_LARGE = inspect.getsource(literals).replace("from __future__ import annotations\n", "")


def plus_tests(problem: Problem, expectations: Expectations) -> TestSet:
    """Inputs whose right answer is too large to be judged are left out (5 of Mbpp/255's 109); no input, no tests.

    Raises UsageError if the problem has no plus tests, DataError and SandboxError as ``Expectations.of``.
    """
    plus = require_plus(problem)
    given = _arguments(problem, plus)
    if not given:  # as Mbpp/793
        return TestSet()
    calls = [literal(arguments) for arguments in given]
    answers = expectations.of(problem, calls)
    asserts = [
        _assert(arguments, value, plus)
        for arguments, output in zip(given, answers.outputs, strict=True)
        if (value := _value(output, plus)) is not None
    ]
    if not asserts:
        raise DataError(f"No plus test of {problem.id} has an answer that can be judged. Leave out that problem.")
    large = any("Large(" in (output or "") for output in answers.outputs)
    check = f"def check(candidate):\n{''.join(asserts)}"
    source = with_like(f"{_LARGE}\n\n{check}" if large else check, plus.tolerance, plus.oracle)
    return TestSet(source, limit(answers.seconds))


def require_plus(problem: Problem) -> PlusTests:
    """Its plus tests. Raises UsageError if it has none."""
    if problem.plus is None:
        raise UsageError(f"{problem.id} has no plus tests. Use --tests base, or --dataset humaneval+ or mbpp+.")
    return problem.plus


def _arguments(problem: Problem, plus: PlusTests) -> list[Arguments]:
    try:
        return arguments_of(plus)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise DataError(
            f"The plus inputs of {problem.id} are not as published: {error}. Place the file anew."
        ) from error


def _value(output: str | None, plus: PlusTests) -> str | None:
    if plus.oracle == "some":
        return output if output in ("True", "False") else str(output != "None")
    return output


def _assert(arguments: Arguments, value: str, plus: PlusTests) -> str:
    called = ", ".join(literal(argument) for argument in arguments)
    answer = f"some(candidate({called}))" if plus.oracle == "some" else f"candidate({called})"
    like = f"{value}, {called}" if plus.oracle in NEED_ARGUMENTS else value
    return f"    assert {answer} == like({like})\n"
