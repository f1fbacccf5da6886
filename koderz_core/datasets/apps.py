"""APPS (Hendrycks et al., arXiv 2105.09938): problems of coding websites, with human solutions.

The format is that of the rows of ``codeparrot/apps``; the time limit is that of ``timeout`` in eval/testing_util.py of
the publisher's repository. That harness accepts outputs by several further rules, such as equal sets of lines, which
koderz does not apply.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

import msgspec

from koderz_core.datasets.lines import row_of
from koderz_core.datasets.programs import (
    LINES,
    call_tests,
    first_python,
    function_problem,
    kept,
    output_tests,
    program_problem,
)
from koderz_core.errors import DataError
from koderz_core.records import Facts, LeftOut, Problem, TestSet

NAME = "apps"
SECONDS = 4.0
"""Time limit of each test."""
TOLERANCE = 1e-5
"""For numbers in outputs: the harness calls ``numpy.allclose``, whose relative tolerance this is."""


class _Row(msgspec.Struct, frozen=True):
    """``solutions`` and ``input_output`` are JSON texts, empty if there are none."""

    question: str
    problem_id: int | str | None = None
    id: int | str | None = None
    solutions: str = ""
    input_output: str = ""
    difficulty: str = ""
    url: str = ""
    starter_code: str = ""


_MAY_BE_EMPTY = frozenset({"problem_id", "id", "solutions", "input_output", "difficulty", "url", "starter_code"})


def problem_of(line: bytes) -> Problem | LeftOut:
    """The problem of a line of the file that the user placed. Raises DataError naming the field."""
    row = row_of(line, _Row, _MAY_BE_EMPTY)
    number = row.id if row.problem_id is None else row.problem_id
    if number is None:
        raise DataError("field problem_id is missing")
    name = f"{NAME}/{number}"
    try:
        tests: Any = json.loads(row.input_output or "{}")
    except (ValueError, RecursionError) as error:  # among them numbers of thousands of digits
        return LeftOut(name, f"its tests cannot be read: {str(error)[:80]}")
    inputs, outputs = _columns(tests)
    function = tests.get("fn_name")
    solution = "" if function else first_python(_solutions(row.solutions))
    facts = Facts(row.difficulty, tags=tuple(filter(None, [urlsplit(row.url).hostname])))
    if function:
        calls, answers = (list(map(_restored, column)) for column in (inputs, outputs))
        set_of = call_tests(calls, answers, "values or first", SECONDS)
    else:
        set_of = _outputs(inputs, outputs)
    problem = kept(program_problem(name, row.question, set_of, TestSet(), facts, solution))
    if function and isinstance(problem, Problem):
        return function_problem(problem, row.starter_code, str(function))
    return problem


def _columns(tests: Any) -> tuple[list[Any], list[Any]]:  # Any: JSON
    inputs, outputs = (tests.get(key, []) if isinstance(tests, dict) else None for key in ("inputs", "outputs"))
    if not (isinstance(inputs, list) and isinstance(outputs, list) and len(inputs) == len(outputs)):
        raise DataError("field input_output must contain the lists inputs and outputs, which must have the same length")
    if tests.get("fn_name") and not all(isinstance(arguments, list) for arguments in inputs):
        raise DataError("field input_output has an input that is not a list of arguments")
    return inputs, outputs


def _restored(value: Any) -> Any:  # Any: JSON
    """The value with whole numbers as keys of a dict, or of the dict that begins a list: JSON has only texts as keys.

    A dict with any other key stays unchanged.
    """
    match value:
        case dict():
            try:
                return {int(key): item for key, item in value.items()}
            except ValueError:
                return value
        case [dict() as first, *others]:
            return [_restored(first), *others]
    return value


def _outputs(inputs: list[Any], outputs: list[Any]) -> TestSet:
    pairs = [(_text(given), _text(expected)) for given, expected in zip(inputs, outputs, strict=True)]
    return output_tests(pairs, LINES, TOLERANCE, SECONDS)


def _text(value: Any) -> str:
    """A text, or a list of lines."""
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def _solutions(text: str) -> list[str]:
    try:
        listed: Any = json.loads(text or "[]")
    except (ValueError, RecursionError) as error:
        raise DataError(f"field solutions is not JSON: {error}") from error
    return [solution for solution in listed if isinstance(solution, str)] if isinstance(listed, list) else []
