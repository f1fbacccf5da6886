"""LiveCodeBench, code generation (Jain et al., arXiv 2403.07974): contest problems with the date of each contest.

The format is that of ``CodeGenerationProblem`` in lcb_runner/benchmarks/code_generation.py, the time limit that of
``run_test`` in lcb_runner/evaluation/testing_util.py. A test is ``stdin`` or ``functional``; the latter calls a method
of a class in the starter code, which koderz asks for as a function.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from dataclasses import replace
from typing import Any

import msgspec

from koderz_core.datasets.lines import row_of
from koderz_core.datasets.programs import (
    LINES,
    call_tests,
    function_problem,
    iso_date,
    kept,
    output_tests,
    program_problem,
)
from koderz_core.errors import DataError
from koderz_core.records import Facts, LeftOut, Problem, TestSet

NAME = "livecodebench"
SECONDS = 6.0
"""Time limit of each test."""
MOST_UNPACKED_BYTES = 64 << 20
_DEEP = """import sys

if __name__ == "candidate":  # in the program's process only
    sys.setrecursionlimit(50000)
"""
"""The recursion limit in ``import_string`` of testing_util.py, whose imports koderz does not add."""
_FUNCTIONAL = "functional"
_TEXT_CODES = {"UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"}
_OTHER_CODES = {"PROTO", "FRAME", "MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT", "STOP"}


class _Row(msgspec.Struct, frozen=True):
    question_content: str
    platform: str
    question_id: str
    public_test_cases: str
    private_test_cases: str
    question_title: str = ""
    contest_date: str = ""
    starter_code: str = ""
    difficulty: str = ""
    metadata: str = ""


_MAY_BE_EMPTY = frozenset({"question_title", "contest_date", "starter_code", "difficulty", "metadata"})


class _Test(msgspec.Struct, frozen=True):
    input: str
    output: str
    testtype: str


def problem_of(line: bytes) -> Problem | LeftOut:
    """The problem of a line of the file that the user placed. Raises DataError naming the field."""
    row = row_of(line, _Row, _MAY_BE_EMPTY)
    public = _tests(row.public_test_cases, "public_test_cases")
    every = [*public, *_tests(_unpacked(row.private_test_cases), "private_test_cases")]
    functional = any(test.testtype == _FUNCTIONAL for test in every)
    tests, samples = (_calls(part) if functional else _outputs(part) for part in (every, public))
    facts = Facts(row.difficulty, "", iso_date(row.contest_date, "contest_date"), (row.platform,))
    problem = program_problem(f"{NAME}/{row.question_id}", row.question_content, tests, samples, facts)
    made = function_problem(problem, row.starter_code, _function(row.metadata)) if functional else problem
    if isinstance(made, LeftOut):
        return made
    return kept(replace(made, public=replace(made.public, preamble=made.public.preamble + _DEEP)))


def _outputs(tests: list[_Test]) -> TestSet:
    return output_tests([(test.input, test.output) for test in tests], LINES, seconds=SECONDS)


def _calls(tests: list[_Test]) -> TestSet:
    """Each line of an input is an argument, as JSON."""
    try:
        calls = [[json.loads(line) for line in test.input.split("\n")] for test in tests]
        answers = [json.loads(test.output) for test in tests]
    except (ValueError, RecursionError) as error:
        raise DataError(f"a functional test has an argument or an output that is not JSON: {error}") from error
    return call_tests(calls, answers, "values", SECONDS)


def _function(metadata: str) -> str:
    """The name of the function that functional tests call."""
    try:
        known: Any = json.loads(metadata or "{}")
    except (ValueError, RecursionError) as error:
        raise DataError(f"field metadata is not JSON: {error}") from error
    name = known.get("func_name") if isinstance(known, dict) else None
    if not (isinstance(name, str) and name.isidentifier()):
        raise DataError("field metadata does not name the function (func_name) that functional tests call")
    return name


def _tests(text: str, field: str) -> list[_Test]:
    try:
        return msgspec.json.decode(text, type=list[_Test])
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise DataError(f"field {field} is not a JSON list of tests: {error}") from error


def _unpacked(text: str) -> str:
    """JSON, which may be packed: as base64 of a zlib stream of a pickled text."""
    if text.lstrip().startswith("["):
        return text
    try:
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(base64.b64decode(text, validate=True), MOST_UNPACKED_BYTES)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise DataError(f"field private_test_cases is neither JSON nor packed JSON: {error}") from error
    if not unpacking.eof:
        raise DataError(
            f"field private_test_cases is incomplete, or unpacks to more than {MOST_UNPACKED_BYTES >> 20} MB"
        )
    return _pickled_text(content)


def _pickled_text(content: bytes) -> str:
    """The text in a pickle of one text. Nothing is unpickled: every code of another kind is refused."""
    import pickletools  # noqa: PLC0415 (only this format needs it)

    found: list[str] = []
    try:
        for code, argument, _place in pickletools.genops(content):
            if code.name in _TEXT_CODES:
                found.append(str(argument))
            elif code.name not in _OTHER_CODES:
                raise DataError(
                    f"field private_test_cases contains a pickle that is not a single string (opcode {code.name})"
                )
    except (ValueError, UnicodeError, EOFError) as error:
        raise DataError(f"field private_test_cases is not a pickled string: {error}") from error
    if len(found) != 1:
        raise DataError(f"field private_test_cases contains {len(found)} pickled strings instead of one")
    return found[0]
