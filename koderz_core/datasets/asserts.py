"""Builds the source of ``check(candidate)`` from single asserts."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from koderz_core.errors import DataError
from koderz_core.python_parser import parse


def statements(source: str, field: str) -> list[ast.stmt]:
    """The statements of a text. Raises DataError naming the field if it is not Python."""
    try:
        return parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"field {field} is not Python: {str(error) or 'it is nested too deeply'}") from error


def one_assert(source: str, field: str) -> ast.Assert:
    """A text as an assert. Raises DataError naming the field if the text is anything else."""
    match statements(source.strip(), field):
        case [ast.Assert() as statement]:
            return statement
    raise DataError(f"field {field} contains text that is not an assert statement: {source[:80]!r}")


def check_source(body: Iterable[ast.stmt], entry_point: str, head: str = "") -> str:
    """Source that defines ``check(candidate)`` with these statements; ``head`` precedes the definition."""
    # The tests define a function ``check`` themselves.
    nodes = map(Renaming("check").visit, body) if entry_point == "check" else body
    # An unparsed string literal is on one line, so indenting changes none.
    lines = [f"    {line}\n" for node in nodes for line in ast.unparse(node).split("\n")]
    return f"{head}\n\ndef check(candidate):\n{''.join(lines)}".lstrip("\n")


def names_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Every name that occurs in these."""
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def imported_modules(source: str, field: str) -> Iterator[str]:
    """The modules that a program imports, without their submodules. Raises DataError naming the field."""
    for node in ast.walk(ast.Module(statements(source, field), [])):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def has_float(node: ast.AST) -> bool:
    """Whether a float constant occurs in a tree."""
    return any(isinstance(part, ast.Constant) and isinstance(part.value, float) for part in ast.walk(node))


class Renaming(ast.NodeTransformer):
    """Replaces a function's name by ``candidate``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name("candidate", node.ctx) if node.id == self._name else node
