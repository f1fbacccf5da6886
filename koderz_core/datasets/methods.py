"""Turns files of unittest methods into the source of ``check(candidate)``: each method is one test.

The names that a file imports from the tested module are given to the tests, so its import of that module is removed.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from koderz_core.datasets import cases
from koderz_core.datasets.asserts import statements
from koderz_core.errors import DataError


@dataclass(frozen=True, slots=True)
class ModuleTests:
    """The source of ``check(candidate)``, and the names that the tests import from the module, in their order."""

    source: str
    names: tuple[str, ...]


def module_tests(test_file: str, module: str, field: str = "test") -> ModuleTests:
    """The tests of a module, from the text of a file with ``unittest.TestCase`` classes.

    Raises DataError naming the field if the file is not Python, imports nothing from the module or has no test.
    """
    tree = ast.Module(statements(test_file, field), [])
    methods = methods_of(tree)
    if not methods:
        raise DataError(f"field {field} defines no class with a method whose name starts with 'test'")
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and _is_of(node, module)]
    names = [alias.name for node in imports for alias in node.names]
    if not names:
        raise DataError(f"field {field} does not import anything with `from {module} import ...`")
    kept = [node for node in tree.body if node not in imports and not _is_main(node)]
    source = "\n\n".join(ast.unparse(node) for node in kept)
    return ModuleTests(check_of_methods(source, methods), tuple(dict.fromkeys(names)))


def methods_of(tree: ast.Module) -> dict[str, list[str]]:
    """The names of the test methods of each class, in unittest's order; later classes replace earlier ones."""
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    named = {name: sorted(set(_methods(node, classes))) for name, node in classes.items()}
    return {name: methods for name, methods in named.items() if methods}


def check_of_methods(source: str, methods: Mapping[str, Sequence[str]]) -> str:
    """The tests' source, with a ``check(candidate)`` that runs these methods of its classes."""
    lines = ["def check(candidate):\n"]
    for kind, names in methods.items():
        lines.append(f"    {kind}.setUpClass()\n")
        lines += [f"    assert outcome_of_case({kind}, {name!r}) == {cases.PASSED!r}\n" for name in names]
        lines.append(f"    {kind}.tearDownClass()\n")
    return f"{source.rstrip()}\n\n\n{inspect.getsource(cases)}\n\n{''.join(lines)}"


def _methods(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> Iterator[str]:
    """The test methods of a class and of its base classes in the same file."""
    yield from (part.name for part in node.body if isinstance(part, ast.FunctionDef) and part.name.startswith("test"))
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in classes and base.id != node.name:
            yield from _methods(classes[base.id], classes)


def _is_of(node: ast.ImportFrom, module: str) -> bool:
    return node.module == module and not node.level


def _is_main(node: ast.stmt) -> bool:
    """Whether it is ``if __name__ == "__main__": ...``, which would run the tests."""
    return isinstance(node, ast.If) and "__name__" in {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}
