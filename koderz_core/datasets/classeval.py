"""ClassEval (Du et al., arXiv 2308.01861, MIT): 100 classes, each to be written whole from its skeleton.

The publisher runs tests in the module of the class, so they may use its imports. One test class covers each method, and
one the whole class. A split gate keeps the tests of one test class together.
"""

from __future__ import annotations

import ast
import re
from itertools import groupby

import msgspec

from koderz_core.datasets.asserts import imported_modules
from koderz_core.datasets.exercism import task
from koderz_core.datasets.lines import row_of
from koderz_core.datasets.methods import module_tests
from koderz_core.python_parser import parse
from koderz_core.records import Problem, TestSet

_FILES = "its published solution or its tests write files, which the sandbox does not allow"
OBSTACLES = {
    17: "its tests assume that certain dates are in the future, but these dates have passed",
    48: "its tests pass only in the publisher's own network",
    **dict.fromkeys((14, 25, 26, 50, 60, 83, 84, 92, 98, 99), _FILES),
}
"""By number. Of these, only the published solutions of 17, 48 and 50 also fail without a sandbox."""
SECONDS = 30.0
"""Time for all tests of a class. The publisher sets no limit; the slowest published solution (35) takes about 10 s."""


class _Row(msgspec.Struct, frozen=True):
    task_id: str
    skeleton: str
    test: str
    solution_code: str
    import_statement: list[str]
    class_name: str


def problem_of(item: bytes) -> Problem:
    """The problem of an item of the file. Raises DataError naming the field."""
    row = row_of(item, _Row)
    number = row.task_id.rpartition("_")[2]
    module = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", row.class_name).lower()
    needs = {*imported_modules(row.solution_code, "solution_code"), *imported_modules(row.test, "test")}
    test = "\n".join([*row.import_statement, row.test])
    tests = module_tests(test, module, packages=frozenset(needs), names=(row.class_name,))
    text = f"Write the class {row.class_name}. The file below has its methods with their descriptions, but no code."
    file = f"{module}.py"
    public = tests.problem(f"ClassEval/{number}", task(text, file, row.skeleton), file, row.skeleton)
    obstacle = OBSTACLES.get(int(number), "") if number.isdecimal() else ""
    source = by_class(tests.source)
    return Problem(public, TestSet(source, SECONDS), row.solution_code, needs=tuple(sorted(needs)), obstacle=obstacle)


def by_class(source: str) -> str:
    """The tests with the asserts of each test class in one statement, which a gate cannot divide."""
    start = source.rindex("def check(candidate):\n")
    check = parse(source[start:]).body[0]
    assert isinstance(check, ast.FunctionDef), "rindex found a definition"
    check.body = [ast.If(ast.Constant(value=True), list(parts), []) for _, parts in groupby(check.body, key=_class_of)]
    return f"{source[:start]}{ast.unparse(check)}\n"


def _class_of(node: ast.stmt) -> str:
    """The test class in ``set_up_class_of_cases(Kind)`` and ``assert outcome_of_case(Kind, 'test_a') == 'passed'``."""
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name)][-1]
