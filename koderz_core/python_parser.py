"""Python's parser, used by one thread at a time.

Before 3.11.8 and 3.12.2, CPython counts the depth of all trees under construction in one variable. Two threads that
parse at the same time can fail with "AST constructor recursion depth mismatch" (python/cpython#106905).
"""

from __future__ import annotations

import ast
import threading
import warnings
from typing import Any

_LOCK = threading.Lock()  # guards CPython's count, see above


def parse(source: str, filename: str = "<unknown>") -> ast.Module:
    """As ``ast.parse``, which raises SyntaxError, ValueError (null byte), RecursionError and MemoryError."""
    with _LOCK:
        return ast.parse(source, filename)


def literal(source: str) -> Any:  # Any: as ``ast.literal_eval``
    """As ``ast.literal_eval`` of a text, which also raises TypeError."""
    with _LOCK:
        return ast.literal_eval(source)


def silence(filename: str) -> None:
    """Hide the warnings of ``parse`` for this file name: invalid escapes in a program are not faults of koderz.

    ``catch_warnings`` would replace the filters of all threads; a filter for one file name has no other effect.
    """
    if not any(getattr(entry[3], "pattern", None) == filename for entry in warnings.filters):
        warnings.filterwarnings("ignore", module=filename)
