"""Turns test files into the source of ``check(candidate)``: each method of a unittest class, or function, is one test.

The names that a file imports from the tested module are given to the tests. Files for pytest may use bare asserts and
the few names of pytest that ``pytest_shim`` has.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from koderz_core.datasets import cases, pytest_shim
from koderz_core.datasets.asserts import statements
from koderz_core.datasets.module_imports import PYTEST, Imports, free_names
from koderz_core.errors import DataError
from koderz_core.records import PublicProblem

_PYTEST_NAMES = {"raises", "approx", "mark.parametrize", "mark.skip"}
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


@dataclass(frozen=True, slots=True)
class ModuleTests:
    """The source of ``check(candidate)``, and the names of the module that the tests use, in their order."""

    source: str
    names: tuple[str, ...]

    def problem(self, name: str, prompt: str, file: str, given: str) -> PublicProblem:
        """The problem called ``name`` of writing the tested file, from the code ``given``."""
        first, *names = self.names
        return PublicProblem(name, prompt, first, kind="module", names=tuple(names), file=file, given=given)


@lru_cache(256)  # pages load a dataset for each input of a user; ClassEval and Exercism need seconds to be read
def module_tests(
    test_file: str,
    module: str,
    field: str = "test",
    *,
    helpers: tuple[tuple[str, str], ...] = (),
    packages: frozenset[str] = frozenset(),
    names: tuple[str, ...] = (),
) -> ModuleTests:
    """The tests of a module, from the text of a file with ``unittest.TestCase`` classes or with pytest functions.

    ``helpers``: the names and sources of further modules that the file imports names from. ``packages``: packages
    outside the standard library that it may import. ``names``: names of the module that the tests may use without
    importing them. Raises DataError naming the field if the file is not Python, uses nothing of the module, has no
    test, or needs a part of pytest that koderz does not have.
    """
    imports = Imports(module, field, dict(helpers), packages)
    tree = imports.replace(ast.Module([node for node in statements(test_file, field) if not _is_main(node)], []))
    methods, functions = methods_of(tree), functions_of(tree)
    if not methods and not functions:
        raise DataError(f"field {field} must define a function or a method whose name starts with 'test'")
    used = [name for name in names if name in free_names(tree)]
    found = tuple(dict.fromkeys([*used, *imports.names]))
    if not found:
        raise DataError(f"field {field} does not import anything with `from {module} import ...`")
    _require_supported(tree, functions, field)
    bare = _Bare()
    tree = bare.visit(tree)
    source = "\n\n".join(ast.unparse(node) for node in tree.body if not isinstance(node, ast.Pass))
    if functions or imports.pytest or bare.found:
        source = f"{inspect.getsource(pytest_shim)}\n\n{source}"
    return ModuleTests(check_of_methods(source, methods, functions), found)


def methods_of(tree: ast.Module) -> dict[str, list[str]]:
    """The names of the test methods of each class, in unittest's order; later classes replace earlier ones."""
    named: dict[str, list[str]] = {}
    for node in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        bases = (base.id for base in node.bases if isinstance(base, ast.Name))
        named[node.name] = sorted({*_methods(node), *(name for base in bases for name in named.get(base, []))})
    return {name: methods for name, methods in named.items() if methods}


def functions_of(tree: ast.Module) -> list[str]:
    """The names of the test functions for pytest, in their order."""
    names = (node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test"))
    return list(dict.fromkeys(names))


def check_of_methods(source: str, methods: Mapping[str, Sequence[str]], functions: Sequence[str] = ()) -> str:
    """The tests' source, with a ``check(candidate)`` that runs these methods of its classes, then these functions."""
    lines = ["def check(candidate):\n"]
    for kind, names in methods.items():
        lines.append(f"    set_up_class_of_cases({kind})\n")
        lines += [f"    assert outcome_of_case({kind}, {name!r}) == {cases.PASSED!r}\n" for name in names]
        lines.append(f"    tear_down_class_of_cases({kind})\n")
    lines += [f"    assert outcome_of_function({name}) == {cases.PASSED!r}\n" for name in functions]
    return f"{source.rstrip()}\n\n\n{inspect.getsource(cases)}\n\n{''.join(lines)}"


def _methods(node: ast.ClassDef) -> Iterator[str]:
    """The test methods of a class, without those of its base classes."""
    yield from (part.name for part in node.body if isinstance(part, ast.FunctionDef) and part.name.startswith("test"))


def _require_supported(tree: ast.Module, functions: Sequence[str], field: str) -> None:
    """Raise DataError for tests that would silently not run, or that need more of pytest than there is."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.bases and any(_methods(node)):
            raise DataError(
                f"field {field}: {node.name} is not a unittest.TestCase; derive the class from "
                "unittest.TestCase, or write its tests as module-level functions"
            )
        if isinstance(node, ast.FunctionDef) and node.name in functions:
            _require_no_fixture(node, field)
    for part in ast.walk(tree):
        if isinstance(part, ast.AsyncFunctionDef) and part.name.startswith("test"):
            raise DataError(
                f"field {field}: {part.name} is an `async def`; write a plain `def` that runs the coroutine with "
                "asyncio.run"
            )
        name = _pytest_name(part)
        if name and not any(known == name or known.startswith(f"{name}.") for known in _PYTEST_NAMES):
            raise DataError(
                f"field {field} uses {PYTEST}.{name}, but koderz supports only these names of pytest: "
                f"{', '.join(sorted(_PYTEST_NAMES))}; write the test without {PYTEST}.{name}"
            )


def _require_no_fixture(node: ast.FunctionDef, field: str) -> None:
    """Raise DataError if a test function has a parameter that no ``parametrize`` sets."""
    given: set[str] = set()
    for mark in node.decorator_list:
        if isinstance(mark, ast.Call) and _pytest_name(mark.func) == "mark.parametrize" and mark.args:
            names = [part.value for part in ast.walk(mark.args[0]) if isinstance(part, ast.Constant)]
            given |= {name.strip() for text in names if isinstance(text, str) for name in text.split(",")}
    for parameter in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        if parameter.arg not in given:
            raise DataError(
                f"field {field}: {node.name} has the parameter {parameter.arg!r}; koderz does not support "
                "pytest fixtures; create the value in the test, or set the parameter with pytest.mark.parametrize"
            )


def _pytest_name(node: ast.AST) -> str:
    """``mark.skip`` for the node ``pytest.mark.skip``; "" for nodes that are not attributes of pytest."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join(reversed(names)) if isinstance(node, ast.Name) and node.id == PYTEST else ""


class _Bare(ast.NodeTransformer):
    """Replaces asserts by calls of the shim, so that only the asserts of ``check`` count as tests."""

    found = False

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        self.found = True
        test = node.test
        said = [ast.Lambda(ast.arguments([], [], None, [], [], None, []), node.msg)] if node.msg else []
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            arguments = [test.left, ast.Constant(_OPERATORS[type(test.ops[0])]), test.comparators[0], *said]
            return _called("require_compared", arguments)
        return _called("require", [test, ast.Constant(ast.unparse(test)), *said])


def _called(name: str, arguments: Sequence[ast.expr]) -> ast.stmt:
    return ast.Expr(ast.Call(ast.Name(name, ast.Load()), list(arguments), []))


def _is_main(node: ast.stmt) -> bool:
    """Whether it is ``if __name__ == "__main__": ...``, which would run the tests."""
    return isinstance(node, ast.If) and "__name__" in {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}
