"""Changes of a syntax tree as edits of its text: comments, layout and all other lines stay as they are.

A fault that reformats a file would show its place, and its patch would be larger than the fault.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from koderz_core.grading.mutants import Change, fingerprint, with_fields
from koderz_core.python_parser import parse

_ATOMS = (ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Dict, ast.Set, ast.ListComp)
"""Expressions that need no parentheses anywhere."""
Function = ast.FunctionDef | ast.AsyncFunctionDef
_HOLE = re.compile(r"\bkoderz_hole_(\d+)_\b")


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Bytes ``start`` to ``end`` of a text in UTF-8 become ``text``."""

    start: int
    end: int
    text: str


class EditedModule:
    """The text of a module with its syntax tree. Raises SyntaxError, ValueError or RecursionError if it has none."""

    def __init__(self, text: str) -> None:
        if "\r" in text:
            raise ValueError("this text contains carriage returns")
        self.text, self.tree = text, parse(text)
        self._bytes = text.encode()
        self._starts = [0, *(found.end() for found in re.finditer(b"\n", self._bytes)), len(self._bytes)]

    def applied(self, edits: Iterable[Edit]) -> str:
        """The text after edits, which must not overlap."""
        content = self._bytes
        for edit in sorted(edits, reverse=True):
            content = content[: edit.start] + edit.text.encode() + content[edit.end :]
        return content.decode()

    def print_of(self, function: Function, edits: Iterable[Edit] = ()) -> object:
        """The fingerprint of a function after edits inside it, as ``mutants.fingerprint``; None if it has no syntax."""
        first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
        start, end = self._starts[first - 1], self._starts[function.end_lineno or first]
        content = self._bytes[start:end]
        for edit in sorted(edits, reverse=True):
            content = content[: edit.start - start] + edit.text.encode() + content[edit.end - start :]
        try:
            (only,) = parse(f"if 1:\n{content.decode()}" if content[:1] in b" \t" else content.decode()).body
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
        return self.without_lines(statement.lineno, statement.end_lineno or statement.lineno, statement)

    def without_lines(self, first: int, last: int, whole: ast.stmt | None = None) -> Edit | None:
        """The deletion of lines, counted from 1; None if code before or after ``whole`` is in them."""
        start, end = self._starts[first - 1], self._starts[last]
        if whole:
            before, after = self._bytes[start : self._at(whole)], self._bytes[self._end(whole) : end].strip()
            if before.strip() or not (after == b"" or after.startswith(b"#")):
                return None
        return Edit(start, end, "")

    def replacement(self, node: ast.AST, text: str) -> Edit:
        """The replacement of the whole text of a node."""
        return Edit(self._at(node), self._end(node), text)

    def indentation(self, statement: ast.stmt) -> str | None:
        """The blanks before a statement; None if other code precedes it in its line."""
        before = self._bytes[self._starts[statement.lineno - 1] : self._at(statement)].decode()
        return before if not before.strip() else None

    def _candidates(self, old: ast.AST, new: ast.AST) -> Iterator[Edit]:
        """Without parentheses around parts that are kept, and with them."""
        if hasattr(old, "lineno"):
            for careful in (False, True):
                yield self.replacement(old, self._rendered(new, careful=careful))

    def _rendered(self, new: ast.AST, *, careful: bool) -> str:
        """The source of a node, whose parts from this module keep their text."""
        parts: list[ast.AST] = []
        source = ast.unparse(self._masked(new, parts))

        def original(hole: re.Match[str]) -> str:
            part = parts[int(hole[1])]
            text = self._bytes[self._at(part) : self._end(part)].decode()
            return f"({text})" if careful and not isinstance(part, _ATOMS) else text

        return _HOLE.sub(original, source)

    def _masked(self, node: ast.AST, parts: list[ast.AST]) -> ast.AST:
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

    def _at(self, node: ast.AST) -> int:
        return self._starts[int(getattr(node, "lineno", 1)) - 1] + int(getattr(node, "col_offset", 0))

    def _end(self, node: ast.AST) -> int:
        return self._starts[int(getattr(node, "end_lineno", 1)) - 1] + int(getattr(node, "end_col_offset", 0))


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
