"""Python's parser, used by one thread at a time.

Before 3.11.8 and 3.12.2, CPython counts the depth of all trees under construction in one variable. Two threads that
parse at the same time can fail with "AST constructor recursion depth mismatch" (python/cpython#106905).
"""

from __future__ import annotations

import ast
import threading

_LOCK = threading.Lock()  # guards CPython's count, see above


def parse(source: str, filename: str = "<unknown>") -> ast.Module:
    """As ``ast.parse``, which raises SyntaxError, ValueError (null byte), RecursionError and MemoryError."""
    with _LOCK:
        return ast.parse(source, filename)
