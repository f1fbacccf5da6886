"""QuixBugs (Lin et al., SPLASH Companion 2017, MIT): 40 classic algorithms in Python, each with one faulty line.

31 programs have cases in JSON. The other nine, about graphs and lists, have a file of test functions. Like the
publisher's own tests, koderz compares the items of a generator, steps of ``hanoi`` as tuples, and square roots with the
tolerance that the call asks for, and it omits two cases that take minutes.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from koderz_core.datasets.archives import Files, text_of
from koderz_core.datasets.asserts import Renaming, check_source, names_in, statements
from koderz_core.datasets.humanevalfix import task
from koderz_core.errors import DataError
from koderz_core.records import Problem, PublicProblem, TestSet

SLOW = {"knapsack": 6404180, "levenshtein": "amanaplanacanalpanama"}
"""The first argument of a case that the publisher's own tests skip, because the corrected program takes minutes."""
_NODE = "python_testcases/node.py"


def problems_of(files: Files) -> Iterator[Problem]:
    """All 40 problems. Raises DataError naming the file in the archive."""
    names = sorted(path.split("/")[1].removesuffix(".py") for path in files if path.startswith("python_programs/"))
    for name in names:
        yield _problem(name, files)


def _problem(name: str, files: Files) -> Problem:
    program = f"{text_of(files, f'python_programs/{name}.py').strip()}\n"
    solution = text_of(files, f"correct_python_programs/{name}.py")
    cases, node, preamble = f"json_testcases/{name}.json", "", ""
    if cases in files:
        check = "".join(f"    {line}\n" for line in _asserts(name, text_of(files, cases)))
        tests = f"def check(candidate):\n{check}"
    else:
        path = f"python_testcases/test_{name}.py"
        body = statements(text_of(files, path), f"of {path}")
        tests = check_source(map(Renaming(name).visit, _inlined(body, name)), "candidate")
        if any(isinstance(part, ast.ImportFrom) and part.module == "node" for part in body):
            preamble = f"{text_of(files, _NODE).strip()}\n\n\n"
            node = preamble
    given = node + program
    public = PublicProblem(f"QuixBugs/{name}", task(name) + given, name, preamble, kind="repair", given=given)
    return Problem(public, TestSet(tests), preamble + solution)


def _asserts(name: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            arguments, answer = json.loads(line)
            call = f"candidate({', '.join(map(repr, arguments))})"
        except (ValueError, TypeError, RecursionError) as error:
            raise DataError(f"file json_testcases/{name}.json, line {number} is not a test case: {error}") from error
        if not (name in SLOW and arguments[:1] == [SLOW[name]]):
            yield f"assert {_comparison(name, call, answer, arguments)}"


def _comparison(name: str, call: str, answer: Any, arguments: Any) -> str:  # Any: of any program
    """As the publisher's own tests compare."""
    match name:
        case "flatten" | "kheapsort":
            return f"list({call}) == {answer!r}"
        case "hanoi":
            return f"{call} == {[tuple(step) for step in answer]!r}"
        case "sqrt":
            return f"abs({call} - {answer!r}) <= {arguments[-1]!r}"
    return f"{call} == {answer!r}"


def _inlined(body: Iterable[ast.stmt], function: str) -> Iterator[ast.stmt]:
    """The statements of a file of test functions, in order. A name of a test function gets the number of that one."""
    number = 0
    for node in body:
        if isinstance(node, ast.FunctionDef):
            number += 1
            names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and _is_stored(part)}
            own = _substituted([part for part in node.body if not _is_text(part)], function)
            yield from map(_Replacing({name: ast.Name(f"{name}_{number}") for name in names}).visit, own)
        elif not isinstance(node, ast.Import | ast.ImportFrom | ast.If):
            yield node


def _substituted(body: list[ast.stmt], function: str) -> list[ast.stmt]:
    """The statements, with calls of the function and literals moved to the assert that uses them."""
    read = [part.id for node in body for part in ast.walk(node) if isinstance(part, ast.Name) and not _is_stored(part)]
    kept: list[ast.stmt] = []
    values: dict[str, ast.expr] = {}
    for part in body:
        node = _Replacing(values).visit(part)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if read.count(name) == 1:
                if function in names_in([value]) or not names_in([value]) - {"float"}:
                    values[name] = value
                    continue
        kept.append(node)
    return kept


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


class _Replacing(ast.NodeTransformer):
    """Puts expressions in the place of names."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values.get(node.id, node)
