"""Signs in a patch of a repository that it games its tests: those of the code that it adds or changes."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache

from koderz_core.analysis.program_scan import MEANINGS, Sign, Target, signs_in
from koderz_core.patches import PatchError, apply_patch, read_patch
from koderz_core.python_parser import parse
from koderz_core.records import Problem

_MOST_CHARS = 1_000_000  # of a file
_Decorated = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def signs_in_patch(patch: str, problem: Problem) -> tuple[Sign, ...] | None:
    """The kinds of signs in a patch, in the order of ``MEANINGS``; None if it cannot be scanned.

    Only statements at the top of a module that the patch changes are scanned. A sign that was in the old ones is none.
    """
    files = problem.public.files
    try:
        changes = read_patch(patch)
        paths = {path for change in changes for path in (change.old, change.new) if path is not None}
        before = {path: files[path] for path in paths if path in files}
        after = apply_patch(patch, before)
    except PatchError:
        return None
    origins: dict[str, str] = {}  # of renamed files
    for change in changes:
        if change.old and change.new:
            origins[change.new] = origins.get(change.old, change.old)
    found: set[Sign] = set()
    for path in (path for path in after if path.endswith(".py")):
        old, new = _statements(before.get(origins.get(path, path), "")), _statements(after[path])
        if old is None or new is None:
            return None
        signs = [signs_in("\n".join(texts), Target()) for texts in (_without(old, new), _without(new, old))]
        if signs[0] is None or signs[1] is None:
            return None
        found |= set(signs[1]) - set(signs[0])
    return tuple(sign for sign in MEANINGS if sign in found)


def _without(texts: Mapping[str, None], others: Mapping[str, None]) -> list[str]:
    return [text for text in texts if text not in others]


@lru_cache(64)
def _statements(source: str) -> Mapping[str, None] | None:
    """The texts of the statements at the top of a module; None if it does not parse."""
    if len(source) > _MOST_CHARS:
        return None
    try:
        body = parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    lines = source.split("\n")
    return dict.fromkeys("\n".join(lines[_first(node) - 1 : node.end_lineno]) for node in body)


def _first(node: ast.stmt) -> int:
    """The line on which a statement begins, with its decorators."""
    decorators = node.decorator_list if isinstance(node, _Decorated) else []
    return min([node.lineno, *(each.lineno for each in decorators)])
