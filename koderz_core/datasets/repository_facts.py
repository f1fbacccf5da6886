"""Facts about tasks of the kind ``repo`` that are read from their patches and trees, to list and to choose tasks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from koderz_core.datasets.repository_files import texts_of
from koderz_core.patches import FilePatch, read_patch
from koderz_core.python_parser import parse
from koderz_core.records import Problem, SourceTree

_Span = tuple[int, int]
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class RepositoryFacts:
    """``changed_lines``: those that the canonical patch removes and adds, in ``changed_files`` files.

    ``function_lines``: the length of the function, with its decorators, in which all changes are; None if they are in
    several functions or outside of functions, or if the file does not parse.
    """

    package: str
    licence: str
    tree: str
    failing: int
    passing: int
    changed_files: int
    changed_lines: int
    function_lines: int | None


def repository_facts(problem: Problem) -> RepositoryFacts | None:
    """The facts of a task; None for a problem of another kind."""
    repository = problem.repository
    if repository is None:
        return None
    tree, changes = repository.tree, read_patch(problem.canonical_solution)
    lines = sum(_size(change) for change in changes)
    # The fault is a patch of the tree, so its line numbers are those of the tree, whose functions are read only once.
    spans = {span for change in read_patch(repository.fault) or changes for span in _functions(tree, change)}
    only = spans.pop() if len(spans) == 1 else None
    return RepositoryFacts(
        tree.name,
        tree.licence,
        tree.sha256,
        len(repository.failing),
        len(repository.passing),
        len(changes),
        lines,
        only[2] - only[1] + 1 if only else None,
    )


def _size(change: FilePatch) -> int:
    return sum(len(removed) + len(added) for _, removed, added in _edits(change))


def _edits(change: FilePatch) -> Iterator[tuple[int, tuple[str, ...], tuple[str, ...]]]:
    """Of each hunk, without the unchanged lines around: the number of the first line, and the lines of both sides."""
    for hunk in change.hunks:
        before, after = list(hunk.before), list(hunk.after)
        same = 0
        while before and after and before[0] == after[0]:
            before, after, same = before[1:], after[1:], same + 1
        while before and after and before[-1] == after[-1]:
            before, after = before[:-1], after[:-1]
        yield hunk.start + same, tuple(before), tuple(after)


def _functions(tree: SourceTree, change: FilePatch) -> Iterator[tuple[str, int, int] | None]:
    """The innermost function around each edit, as path and lines; None outside of functions, and for a whole file."""
    if not change.hunks:
        yield None
    for start, removed, _ in _edits(change):
        end = start + max(0, len(removed) - 1)
        around = [span for span in _spans(tree, change.old or "") if span[0] <= start and end <= span[1]]
        yield (change.path, *max(around)) if around else None


@lru_cache(1024)
def _spans(tree: SourceTree, path: str) -> tuple[_Span, ...]:
    """The first and the last line of each function in a file."""
    try:
        nodes = ast.walk(parse(texts_of(tree).get(path, "")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    functions = (node for node in nodes if isinstance(node, _Function))
    return tuple(
        (min([node.lineno, *(name.lineno for name in node.decorator_list)]), node.end_lineno or node.lineno)
        for node in functions
    )
