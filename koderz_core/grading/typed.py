"""A problem made of tests that somebody typed, for grading a program outside any dataset."""

from __future__ import annotations

import ast
import builtins
import textwrap

from koderz_core.errors import DataError
from koderz_core.records import Problem, PublicProblem, TestSet


def problem_of(tests: str, name: str = "typed/0") -> Problem:
    """A problem whose tests are plain asserts, or source that defines ``check(candidate)``.

    Plain asserts call the program's function by its name: the first function they call that Python itself has not.
    Raises DataError if there is no test in them.
    """
    tree = _parsed(tests)
    checks = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    entry_point = "candidate" if checks else _first_called(tree)
    source = tests if checks else f"def check(candidate):\n{textwrap.indent(tests, '    ')}\n"
    return Problem(PublicProblem(name, "", entry_point), TestSet(source), "")


def _parsed(tests: str) -> ast.Module:
    try:
        tree = ast.parse(tests)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"The tests are not Python: {error}. Write asserts such as `assert add(1, 2) == 3`.") from error
    if not any(isinstance(node, ast.Assert) for node in ast.walk(tree)):
        raise DataError("The tests hold no assert. Write asserts such as `assert add(1, 2) == 3`.")
    return tree


def _first_called(tree: ast.Module) -> str:
    builtin = set(dir(builtins))
    for statement in tree.body:
        for node in ast.walk(statement) if isinstance(statement, ast.Assert) else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in builtin:
                return node.func.id
    raise DataError("No assert calls a function by its name. Write asserts such as `assert add(1, 2) == 3`.")
