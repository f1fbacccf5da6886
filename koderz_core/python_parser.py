"""Python's parser, for one thread at a time.

Before 3.11.8 and 3.12.2, CPython counts the depth of all trees under construction in one place, so that two threads
that parse at the same moment can fail with "AST constructor recursion depth mismatch" (python/cpython#106905).
"""

from __future__ import annotations

import ast
import threading

_ONE_AT_A_TIME = threading.Lock()  # guards CPython's count, see above


def parse(source: str, filename: str = "<unknown>") -> ast.Module:
    """As ``ast.parse``, which raises SyntaxError, ValueError for a null byte, and other errors for unusual sources."""
    with _ONE_AT_A_TIME:
        return ast.parse(source, filename)
