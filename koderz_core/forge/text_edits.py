"""Changes of a syntax tree as edits of its text: comments, layout and all other lines stay as they are.

A fault that reformats a file would show its place, and its patch would be larger than the fault.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from koderz_core.grading.mutants import Change, fingerprint, with_fields
from koderz_core.python_parser import parse
from koderz_core.sandbox.repository.names import Function
from koderz_core.sandbox.repository.rewriting import Edit, Text

_ATOMS = (ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Dict, ast.Set, ast.ListComp)
"""Expressions that need no parentheses anywhere."""
_HOLE = re.compile(r"\bkoderz_hole_(\d+)_\b")


class EditedModule:
    """The text of a module with its syntax tree. Raises SyntaxError, ValueError or RecursionError if it has none."""

    def __init__(self, text: str) -> None:
        if "\r" in text:
            raise ValueError("this text contains carriage returns")
        self.tree, self._text = parse(text), Text(text)

    def applied(self, edits: Iterable[Edit]) -> str:
        """The text after edits, which must not overlap."""
        return self._text.edited(edits)

    def print_of(self, function: Function, edits: Iterable[Edit] = ()) -> object:
        """The fingerprint of a function after edits inside it, as ``mutants.fingerprint``; None if it has no syntax."""
        end = self._text.line_start((function.end_lineno or function.lineno) + 1)
        try:
            content = self._text.edited(edits, self._text.top(function), end)  # Python misplaces parts of f-strings
            (only,) = parse(f"if 1:\n{content}" if content[:1] in " \t" else content).body
            (node,) = only.body if isinstance(only, ast.If) else (only,)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        return fingerprint(ast.unparse(node))

    def edit_of(self, change: Change, function: Function) -> Edit | None:
        """The edit that has the same effect as a change of a function; None if no edit is known to have it."""
        if isinstance(change.new, ast.Pass) and isinstance(change.old, ast.stmt):
            block: Sequence[ast.stmt] = getattr(change.parent, change.field)
            return self.removal(change.old) if len(block) > 1 else self.replacement(change.old, "pass")
        wanted = fingerprint(change.apply(function))
        if wanted is None:
            return None
        for edit in self._candidates(*_narrowed(change)):
            if self.print_of(function, [edit]) == wanted:
                return edit
        return None

    def removal(self, statement: ast.stmt) -> Edit | None:
        """The deletion of all lines of a statement; None if other code is in these lines."""
        lines, data = self.without_lines(statement.lineno, statement.end_lineno or statement.lineno), self._text.data
        before = data[lines.start : self._text.start(statement)].strip()
        after = data[self._text.end(statement) : lines.end].strip()
        return None if before or not (after == b"" or after.startswith(b"#")) else lines

    def without_lines(self, first: int, last: int) -> Edit:
        """The deletion of lines, counted from 1."""
        return Edit(self._text.line_start(first), self._text.line_start(last + 1), "")

    def replacement(self, node: ast.stmt | ast.expr, text: str) -> Edit:
        """The replacement of the whole text of a node."""
        return Edit(self._text.start(node), self._text.end(node), text)

    def indentation(self, statement: ast.stmt) -> str | None:
        """The blanks before a statement; None if other code precedes it in its line."""
        before = self._text.data[self._text.line_start(statement.lineno) : self._text.start(statement)].decode()
        return before if not before.strip() else None

    def _candidates(self, old: ast.AST, new: ast.AST) -> Iterator[Edit]:
        """Without parentheses around parts that are kept, and with them."""
        if isinstance(old, ast.stmt | ast.expr):
            for careful in (False, True):
                yield self.replacement(old, self._rendered(new, careful=careful))

    def _rendered(self, new: ast.AST, *, careful: bool) -> str:
        """The source of a node, whose parts from this module keep their text."""
        parts: list[ast.expr] = []
        source = ast.unparse(self._masked(new, parts))

        def original(hole: re.Match[str]) -> str:
            part = parts[int(hole[1])]
            text = self._text.of(part)
            return f"({text})" if careful and not isinstance(part, _ATOMS) else text

        return _HOLE.sub(original, source)

    def _masked(self, node: ast.AST, parts: list[ast.expr]) -> ast.AST:
        """The node with a name in place of every expression of this module; ``parts`` receives these expressions."""
        if isinstance(node, ast.expr) and id(node) in self._own:
            parts.append(node)
            return ast.Name(f"koderz_hole_{len(parts) - 1}_", ast.Load())
        fields: dict[str, Any] = {}  # Any: one value per field
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                fields[name] = [self._masked(item, parts) if isinstance(item, ast.AST) else item for item in value]
            elif isinstance(value, ast.AST):
                fields[name] = self._masked(value, parts)
        return with_fields(node, **fields)

    @cached_property
    def _own(self) -> frozenset[int]:
        """The ids of the expressions of the tree, which lives as long as this object."""
        return frozenset(id(node) for node in ast.walk(self.tree) if isinstance(node, ast.expr))


def _narrowed(change: Change) -> tuple[ast.AST, ast.AST]:
    """The smallest node with a place in the text that contains the whole change, before and after it."""
    old, new = change.old, change.new
    if not hasattr(old, "lineno"):  # such as the filter of a comprehension
        content = getattr(change.parent, change.field)
        changed = [new if item is old else item for item in content] if isinstance(content, list) else new
        return change.parent, with_fields(change.parent, **{change.field: changed})
    while (inner := _only_difference(old, new)) is not None:
        old, new = inner
    return old, new


def _only_difference(old: ast.AST, new: ast.AST) -> tuple[ast.AST, ast.AST] | None:
    if type(old) is not type(new):
        return None
    pairs = [(value, getattr(new, name)) for name, value in ast.iter_fields(old) if getattr(new, name) is not value]
    if len(pairs) != 1:
        return None
    before, after = pairs[0]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        differing = [pair for pair in zip(before, after, strict=True) if pair[0] is not pair[1]]
        if len(differing) != 1:
            return None
        before, after = differing[0]
    if isinstance(before, ast.AST) and isinstance(after, ast.AST) and hasattr(before, "lineno"):
        return before, after
    return None
