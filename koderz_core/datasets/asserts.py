"""Asserts, as publishers and people write them down one by one, made a check of a candidate."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from koderz_core.errors import DataError
from koderz_core.python_parser import parse


def statements(source: str, field: str) -> list[ast.stmt]:
    """The statements of a text. Raises DataError naming the field if it is not Python."""
    try:
        return parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"field {field} is not Python: {error}") from error


def one_assert(source: str, field: str) -> ast.Assert:
    """The assert that a text is. Raises DataError naming the field if it is anything else."""
    match statements(source.strip(), field):
        case [ast.Assert() as found]:
            return found
    raise DataError(f"field {field} holds something that is not one assert: {source[:80]!r}")


def check_source(body: Iterable[ast.stmt], entry_point: str, head: str = "") -> str:
    """Source that defines ``check(candidate)`` with these statements; ``head`` stands before it."""
    renamed = (_Renamed().visit(node) if entry_point == "check" else node for node in body)  # that name is the tests'
    lines = [f"    {line}\n" for node in renamed for line in _unparsed(node)]
    return f"{head}\n\ndef check(candidate):\n{''.join(lines)}".lstrip("\n")


def names_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Every name that occurs in these."""
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


def _unparsed(node: ast.AST) -> list[str]:
    """Its lines: none of them is within a text, since an unparsed text is on one line."""
    return ast.unparse(node).split("\n")


class _Renamed(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name("candidate", node.ctx) if node.id == "check" else node
