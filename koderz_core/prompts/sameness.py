"""Whether two programs are the same: what they say to Python, not how they are laid out or commented."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from koderz_core.prompts.programs import Reader

_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def shape(code: str) -> str:
    """Equal for programs that differ in comments, docstrings and layout only; one that does not parse is its text."""
    program = Reader().parse(code)
    return code.strip() if program is None else "\n".join(_words(program.tree))


def _words(tree: ast.Module) -> Iterator[str]:
    """The tree without positions. ``ast.dump`` recurses: whether it can depends on how deep its caller already is."""
    rest: list[object] = [tree]
    while rest:
        one = rest.pop()
        if isinstance(one, ast.AST):
            yield type(one).__name__
            rest += [value for _, value in reversed([*ast.iter_fields(_undocumented(one))])]
        elif isinstance(one, list):
            yield str(len(one))
            rest += reversed(one)
        else:
            yield hex(one) if type(one) is int else repr(one)  # Python refuses to write out the longest in decimals


def _undocumented(node: ast.AST) -> ast.AST:
    if isinstance(node, _Documented) and ast.get_docstring(node, clean=False) is not None:
        node.body = node.body[1:]
    return node
