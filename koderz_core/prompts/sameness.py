"""Whether two programs are the same: what they say to Python, not how they are laid out or commented."""

from __future__ import annotations

import ast

from koderz_core.prompts.programs import Reader

DEEPEST = 200
"""Nodes within nodes, far more than programs that people read have. Whether Python parses what nests much deeper
depends on how deep whoever asks stands in calls of its own, and so would what is the same."""

_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def shape(code: str) -> str:
    """Equal for programs that differ in comments, docstrings and layout only.

    One that does not parse, or nests deeper than ``DEEPEST``, is its text.
    """
    program = Reader().parse(code)
    return "\n".join(_words(program.tree) if program else ()) or code.strip()


def _words(tree: ast.Module) -> list[str]:
    """The tree without positions, none of one too deep. No recursion, as ``ast.dump`` has: it may find no room."""
    words = list[str]()
    rest: list[tuple[int, object]] = [(0, tree)]
    while rest:
        depth, one = rest.pop()
        if depth > DEEPEST:
            return []
        if isinstance(one, ast.AST):
            words.append(type(one).__name__)
            rest += [(depth + 1, value) for _, value in reversed([*ast.iter_fields(_undocumented(one))])]
        elif isinstance(one, list):
            words.append(str(len(one)))
            rest += [(depth, value) for value in reversed(one)]
        else:  # Python refuses to write out the longest numbers in decimals
            words.append(hex(one) if type(one) is int else repr(one))
    return words


def _undocumented(node: ast.AST) -> ast.AST:
    if isinstance(node, _Documented) and ast.get_docstring(node, clean=False) is not None:
        node.body = node.body[1:]
    return node
