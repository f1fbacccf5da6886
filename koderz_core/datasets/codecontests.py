"""CodeContests (Li et al., arXiv 2203.07814): contest problems with public, private and generated tests.

The fields are those of contest_problem.proto in the publisher's repository, as JSON lines: as Hugging Face serves them
(tests as two lists) or as the repository's convert_riegeli_to_json.py writes them (a list of tests).
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from koderz_core.datasets.lines import row_of
from koderz_core.datasets.programs import TOKENS, Pair, first_python, kept, output_tests, program_problem
from koderz_core.errors import DataError
from koderz_core.records import Facts, LeftOut, Problem

NAME = "codecontests"
TOLERANCE = 1e-5
"""``kDoublePrecision`` in execution/tester_sandboxer.cc."""
_PYTHON3 = 3  # of Solution.Language
_SITES = {1: "codechef", 2: "codeforces", 3: "hackerearth", 4: "codejam", 6: "atcoder", 7: "aizu"}
_LEVELS = {1: "easy", 2: "medium", 3: "hard", 4: "harder", 5: "hardest"}


class _Row(msgspec.Struct, frozen=True):
    name: str
    description: str
    public_tests: Any = None  # Any: JSON, in one of two forms
    private_tests: Any = None
    generated_tests: Any = None
    solutions: Any = None
    time_limit: Any = None
    source: int | str = 0
    difficulty: int | str = 0
    cf_rating: int = 0
    cf_tags: list[str] = []
    input_file: str = ""
    output_file: str = ""


_MAY_BE_EMPTY = frozenset({"input_file", "output_file", "description", "source", "difficulty"})


def problem_of(line: bytes) -> Problem | LeftOut:
    """The problem of a line of the file that the user placed. Raises DataError naming the field."""
    row = row_of(line, _Row, _MAY_BE_EMPTY)
    site = _SITES.get(row.source, "other") if isinstance(row.source, int) else row.source.lower()
    name = f"{NAME}/{site}-{re.sub(r'[^A-Za-z0-9_.-]+', '-', row.name).strip('-')}"
    if row.input_file or row.output_file:
        return LeftOut(name, "its programs read or write files")
    if not row.description.strip():
        return LeftOut(name, "its description is empty")
    public, private, generated = (
        _pairs(getattr(row, field), field) for field in ("public_tests", "private_tests", "generated_tests")
    )
    seconds = _seconds(row.time_limit)
    tests, samples = (
        output_tests(pairs, TOKENS, TOLERANCE, seconds) for pairs in ([*public, *private, *generated], public)
    )
    facts = Facts(_difficulty(row), tags=(*filter(None, row.cf_tags), site))
    return kept(program_problem(name, row.description, tests, samples, facts, first_python(_solutions(row.solutions))))


def _difficulty(row: _Row) -> str:
    """Codeforces' rating, else the level; other difficulties are letters within a contest."""
    if row.cf_rating > 0:
        return str(row.cf_rating)
    return _LEVELS.get(row.difficulty, "") if isinstance(row.difficulty, int) else row.difficulty.lower()


def _pairs(tests: Any, field: str) -> list[Pair]:
    match tests:
        case None:
            return []
        case {"input": list(inputs), "output": list(outputs)} if len(inputs) == len(outputs):
            pairs = list(zip(inputs, outputs, strict=True))
        case list():
            pairs = [
                (test.get("input"), test.get("output")) if isinstance(test, dict) else (None, None) for test in tests
            ]
        case _:
            pairs = [(None, None)]
    if not all(isinstance(text, str) for pair in pairs for text in pair):
        raise DataError(
            f"field {field} must contain either a list of tests, each with the strings input and output, or an object "
            "whose lists input and output contain the same number of strings"
        )
    return pairs


def _solutions(solutions: Any) -> list[str]:
    """The programs in Python 3, of solutions in either form."""
    match solutions:
        case {"language": list(languages), "solution": list(programs)}:
            every = list(zip(languages, programs, strict=False))
        case list():
            every = [
                (solution.get("language"), solution.get("solution"))
                for solution in solutions
                if isinstance(solution, dict)
            ]
        case _:
            every = []
    return [program for language, program in every if language in {_PYTHON3, "PYTHON3"} and isinstance(program, str)]


def _seconds(limit: Any) -> float:
    """A time limit in seconds, 0 if it is not stated: a number, a Duration as JSON, or its text form."""
    match limit:
        case bool():
            return 0.0
        case int() | float():
            return max(0.0, float(limit))
        case dict():
            parts = [limit.get(name) for name in ("seconds", "nanos")]
            seconds, nanos = (part if isinstance(part, int) else 0 for part in parts)
            return max(0.0, seconds + nanos / 1e9)
        case str():
            known = {name: int(digits) for name, digits in re.findall(r"(seconds|nanos): ([0-9]{1,9})", limit)}
            return known.get("seconds", 0) + known.get("nanos", 0) / 1e9
    return 0.0
