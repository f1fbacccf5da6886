"""Python source that may be broken: parsing without raising, repair of its layout, and comparison of programs.

Repair changes only indentation, typographic characters and prompts of an interactive session. Two programs are the same
if they differ only in layout, comments and docstrings.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from koderz_core.python_parser import parse, silence

DEEPEST = 200
"""The deepest nesting of nodes, far more than usual programs have. Whether Python parses deeper ones depends on the
stack of the caller, and so would the comparison of programs."""

_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
MAX_PROGRAM_CHARS = 200_000
MAX_PARSED_CHARS = 2_000_000
"""The limit of characters parsed for one reply; each takes some microseconds in the worst case."""
MAX_CUTS = 24

_FILENAME = "<candidate>"
_SPACES = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_WITHOUT_WIDTH = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_IMPORT = re.compile(r"\s*(import|from)\b")
_PLAIN = {ord(mark): " " for mark in _SPACES} | {ord(mark): None for mark in _WITHOUT_WIDTH}


def shape(code: str) -> str:
    """A text that is equal for programs that differ only in comments, docstrings and layout.

    For a program that does not parse or nests deeper than ``DEEPEST``, its source.
    """
    program = Reader().parse(code)
    return "\n".join(_words(program.tree) if program else ()) or code.strip()


def _words(tree: ast.Module) -> list[str]:
    """The tree without positions; empty if it is too deep. Not recursive like ``ast.dump``, which may overflow."""
    words = list[str]()
    rest: list[tuple[int, object]] = [(0, tree)]
    while rest:
        depth, node = rest.pop()
        if depth > DEEPEST:
            return []
        if isinstance(node, ast.AST):
            words.append(type(node).__name__)
            rest += [(depth + 1, value) for _, value in reversed([*ast.iter_fields(_undocumented(node))])]
        elif isinstance(node, list):
            words.append(str(len(node)))
            rest += [(depth, value) for value in reversed(node)]
        else:  # Python refuses to write very long numbers in decimal
            words.append(hex(node) if type(node) is int else repr(node))
    return words


def _undocumented(node: ast.AST) -> ast.AST:
    if isinstance(node, _Documented) and ast.get_docstring(node, clean=False) is not None:
        node.body = node.body[1:]
    return node


@dataclass(frozen=True, slots=True)
class Program:
    """A source that parses, with its tree."""

    source: str
    tree: ast.Module


@dataclass(slots=True)
class Reader:
    """Parses the programs of one reply; the budget of characters limits the cost of a hostile reply."""

    budget: int = MAX_PARSED_CHARS

    def parse(self, source: str) -> Program | None:
        """The unchanged program; None if it does not parse."""
        result = self._attempt(source)
        return result if isinstance(result, Program) else None

    def repair(self, source: str) -> Program | None:
        """The unchanged program if it parses, else with repaired layout; None if that fails too."""
        variants = takewhile(lambda _: self.budget >= 0, _variants(source))
        return next((program for variant in variants if (program := self.parse(variant))), None)

    def longest(self, source: str) -> Program | None:
        """The longest program that a text begins with; the cut is never inside a function."""
        lines = source.split("\n")
        kept = len(lines)
        for _ in range(MAX_CUTS):
            result = self._attempt("\n".join(lines[:kept]))
            inside = kept < len(lines) and lines[kept][:1].isspace()
            if isinstance(result, Program) and (not inside or _ends_with_return(result.tree)):
                return result
            fault = kept if isinstance(result, Program) else result.line or kept
            kept = _last_cut(lines, min(fault, kept) - 1)
            if kept == 0:
                break
        return None

    def _attempt(self, source: str) -> Program | _Fault:
        self.budget -= len(source) + 50
        if self.budget < 0 or len(source) > MAX_PROGRAM_CHARS:
            return _Fault(0)
        silence(_FILENAME)
        try:
            return Program(source, parse(source, _FILENAME))
        except SyntaxError as error:
            return _Fault(error.lineno or 0)
        except (ValueError, RecursionError, MemoryError):  # null bytes or surrogates; nested too deeply
            return _Fault(0)


@dataclass(frozen=True, slots=True)
class _Fault:
    """The line at which parsing failed, from 1; 0: unknown."""

    line: int


def _last_cut(lines: list[str], last: int) -> int:
    """The last place, not after ``last``, where a line at column 0 or an indented paragraph begins; 0 if none."""
    for place in range(last, 0, -1):
        line = lines[place]
        if line.strip() and (not line[0].isspace() or not lines[place - 1].strip()):
            return place
    return 0


def _ends_with_return(tree: ast.Module) -> bool:
    last = tree.body[-1] if tree.body else None
    return isinstance(last, ast.FunctionDef | ast.AsyncFunctionDef) and isinstance(
        last.body[-1], ast.Return | ast.Raise
    )


def plain(text: str) -> str:
    """The text with plain spaces instead of typographic ones, and without zero-width characters."""
    return text.translate(_PLAIN)


def _variants(source: str) -> Iterator[str]:
    yield source  # nearly every program parses unchanged
    seen = {source}
    for text in (source, plain(source)):
        for variant in (
            text,
            unindented(text),
            without_prompts(text),
            unindented(text.expandtabs(4)),
            # Before any other statement it could turn a function's wrongly indented end into top-level code.
            unindented(with_first_line_indented(text)) if _IMPORT.match(text) else text,
        ):
            if variant not in seen:
                seen.add(variant)
                yield variant


def unindented(source: str) -> str:
    """The source with its first line at column 0, and all others moved by the same width as far as possible."""
    lines = source.split("\n")
    margin = next((_indent(line) for line in lines if line.strip()), 0)
    return "\n".join(line[min(margin, _indent(line)) :] for line in lines)


def with_first_line_indented(source: str) -> str:
    """The source with its first line, which may have lost its indentation, as far right as the leftmost other line."""
    first, *others = source.lstrip().split("\n")
    return "\n".join([" " * min((_indent(line) for line in others if line.strip()), default=0) + first, *others])


def without_prompts(source: str) -> str:
    """The input lines of an interactive session; the unchanged source if it does not begin like one."""
    if not source.lstrip().startswith(">>>"):
        return source
    lines = [line.lstrip() for line in source.split("\n")]
    return "\n".join(re.sub(r"^(>>>|\.\.\.) ?", "", line) for line in lines if line.startswith((">>>", "...")))


def indented(program: Program, columns: int) -> str:
    """The source, indented except within multi-line strings."""
    within: set[int] = set()
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Constant | ast.JoinedStr):
            within.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
    lines = program.source.split("\n")
    return "\n".join(
        line if number in within or not line.strip() else " " * columns + line
        for number, line in enumerate(lines, start=1)
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
