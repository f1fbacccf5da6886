"""The words that a search sends: those of a problem's title. Code, tests, answers and other text are never sent.

The title is the name of the function or class to write. A name without a meaning, such as ``task_func``, gives no
words, and then no request is sent.
"""

from __future__ import annotations

import re

from koderz_core.records import PublicProblem

MOST_WORDS = 8
_LONGEST_WORD = 24  # characters; a longer part of a name is no word
_MEANINGLESS = frozenset(
    {"task", "func", "function", "solve", "solution", "run", "main", "check", "candidate", "answer", "test", "foo", "f"}
)
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


def title_words(problem: PublicProblem) -> tuple[str, ...]:
    """The words of a problem's title, in lower case; empty if the title says nothing."""
    words = [word.lower() for word in _WORD.findall(problem.entry_point) if len(word) <= _LONGEST_WORD]
    if problem.kind == "program" or not set(words) - _MEANINGLESS:
        return ()
    return tuple(words[:MOST_WORDS])
