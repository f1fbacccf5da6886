"""BigCodeBench-Complete (Zhuo et al., arXiv 2406.15877, Apache-2.0): programs that use libraries, unittest tests.

Its program and tests are one module: tests replace parts of the program and seed its randomness. They therefore run in
the program's own process, which the verdict records (``shared``). Each of their methods is one test.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import msgspec

from koderz_core.config import Settings
from koderz_core.datasets.asserts import statements
from koderz_core.datasets.humaneval import preamble_of
from koderz_core.datasets.lines import row_of
from koderz_core.datasets.methods import check_of_methods, methods_of
from koderz_core.datasets.sources import load_published
from koderz_core.errors import DataError
from koderz_core.records import Dataset, Problem, PublicProblem, TestSet

CLASS = "TestCases"
SECONDS = 10.0
"""Wall time for all methods of a class. Source: ``min_time_limit`` in bigcodebench/eval/__init__.py."""


def load_bigcodebench(settings: Settings) -> Dataset:
    """All 1,140 problems, including those that need other libraries. Raises DataError naming file, line and field."""
    return load_published("bigcodebench", settings, _problem)


def load_bigcodebench_hard(settings: Settings) -> Dataset:
    """The 148 problems of the publisher's hard subset. Raises as ``load_bigcodebench``."""
    return load_published("bigcodebench-hard", settings, _problem)


class _Row(msgspec.Struct, frozen=True):
    """``libs`` is a Python list, as text."""

    task_id: str
    complete_prompt: str
    canonical_solution: str
    test: str
    entry_point: str
    libs: str


def _problem(line: bytes) -> Problem:
    row = row_of(line, _Row)
    preamble = preamble_of(row.complete_prompt, row.entry_point)
    if preamble is None:
        raise DataError(f"field complete_prompt does not define the entry point {row.entry_point!r}")
    public = PublicProblem(row.task_id, row.complete_prompt, row.entry_point, preamble)
    solution = row.complete_prompt + row.canonical_solution
    needs = {*_libraries(row.libs), *_imported(solution, "canonical_solution"), *_imported(row.test, "test")}
    return Problem(public, TestSet(_check(row.test), SECONDS, shared=True), solution, needs=tuple(sorted(needs)))


def _check(test: str) -> str:
    methods = methods_of(ast.Module(statements(test, "test"), [])).get(CLASS)
    if not methods:
        raise DataError(f"field test defines no class {CLASS} with a method whose name starts with 'test'")
    return check_of_methods(test, {CLASS: methods})


def _libraries(libs: str) -> list[str]:
    try:
        named = ast.literal_eval(libs)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"field libs is not a list of library names: {error}") from error
    if not (isinstance(named, list) and all(isinstance(name, str) and name for name in named)):
        raise DataError("field libs is not a list of library names")
    return [name.partition(".")[0] for name in named]


def _imported(source: str, field: str) -> Iterator[str]:
    """The modules that a program imports; ``libs`` may omit some of them."""
    for node in ast.walk(ast.Module(statements(source, field), [])):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
