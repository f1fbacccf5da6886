"""BigCodeBench-Complete (Zhuo et al., arXiv 2406.15877, Apache-2.0): programs that use libraries, unittest tests.

Its program and tests are one module: tests replace parts of the program and seed its randomness. They therefore run in
the program's own process, which the verdict records (``shared``). Each of their methods is one test.
"""

from __future__ import annotations

import ast

import msgspec

from koderz_core.datasets.asserts import imported_modules, statements
from koderz_core.datasets.humaneval import preamble_of
from koderz_core.datasets.lines import row_of
from koderz_core.datasets.methods import check_of_methods, methods_of
from koderz_core.errors import DataError
from koderz_core.python_parser import literal
from koderz_core.records import Problem, PublicProblem, TestSet

CLASS = "TestCases"
SECONDS = 10.0
"""Wall time for all methods of a class. Source: ``min_time_limit`` in bigcodebench/eval/__init__.py."""

OBSTACLE = (
    "its published solution exceeds the time limit, or needs something that the sandbox does not allow: files, network "
    "access, threads or other processes"
)
_FAILING = frozenset(
    (
        *(0, 7, 13, 14, 15, 16, 18, 19, 30, 113, 118, 125, 127, 145, 147, 176, 195, 205, 206, 220, 229, 260),
        *(263, 265, 266, 281, 283, 288, 306, 310, 314, 324, 325, 327, 329, 336, 344, 346, 350, 363, 365, 368),
        *(370, 380, 389, 391, 398, 400, 454, 459, 508, 510, 539, 541, 562, 563, 565, 577, 592, 594, 604, 642),
        *(644, 665, 671, 672, 673, 675, 708, 711, 712, 713, 714, 716, 717, 720, 721, 724, 725, 729, 745, 755),
        *(756, 762, 765, 768, 781, 783, 785, 796, 812, 814, 817, 819, 828, 832, 847, 853, 857, 876, 905, 906),
        *(907, 939, 961, 962, 963, 965, 971, 973, 974, 988, 992, 997, 998, 1005, 1009, 1028, 1038, 1040, 1041),
        *(1050, 1091, 1093, 1101, 1103, 1104, 1105, 1106, 1112, 1113, 1127, 1128, 1130, 1134),
    )
)
"""The numbers of the problems with this obstacle, of the 300 that need only the standard library. Measured with Python
3.11 at the tier hardened; ``benchmark`` runs the published solutions again before it refuses a problem."""


class _Row(msgspec.Struct, frozen=True):
    """``libs`` is a Python list, as text."""

    task_id: str
    complete_prompt: str
    canonical_solution: str
    test: str
    entry_point: str
    libs: str


def problem_of(line: bytes) -> Problem:
    """One of all 1,140 problems, or of the 148 of the publisher's hard subset. Raises DataError naming the field."""
    row = row_of(line, _Row)
    preamble = preamble_of(row.complete_prompt, row.entry_point)
    if preamble is None:
        raise DataError(f"field complete_prompt does not define the entry point {row.entry_point!r}")
    public = PublicProblem(row.task_id, row.complete_prompt, row.entry_point, preamble)
    solution = row.complete_prompt + row.canonical_solution
    # ``libs`` may omit some modules.
    needs = {
        *_libraries(row.libs),
        *imported_modules(solution, "canonical_solution"),
        *imported_modules(row.test, "test"),
    }
    number = row.task_id.rpartition("/")[2]
    obstacle = OBSTACLE if number.isdecimal() and int(number) in _FAILING else ""
    tests = TestSet(_check(row.test), SECONDS, shared=True)
    return Problem(public, tests, solution, needs=tuple(sorted(needs)), obstacle=obstacle)


def _check(test: str) -> str:
    methods = methods_of(ast.Module(statements(test, "test"), [])).get(CLASS)
    if not methods:
        raise DataError(f"field test defines no class {CLASS} with a method whose name starts with 'test'")
    return check_of_methods(test, {CLASS: methods})


def _libraries(libs: str) -> list[str]:
    try:
        named = literal(libs)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"field libs is not a list of library names: {error}") from error
    if not (isinstance(named, list) and all(isinstance(name, str) and name for name in named)):
        raise DataError("field libs is not a list of library names")
    return [name.partition(".")[0] for name in named]
