"""Whether a program says much the same as a solution, whatever its names are: it would give the solution away.

Compared are runs of five tokens, with one word for all names but keywords and builtins, without comments, docstrings
and imports. Of the 293,222 ordered pairs of right programs of HumanEval and MBPP+ this takes 2.5 % for twins, among
them those whose problems are told in other words under other names, such as MBPP's 281 and 394, or 412 and 629.
"""

from __future__ import annotations

import builtins
import io
import keyword
import tokenize
from collections.abc import Iterator
from functools import lru_cache

from koderz_core.prompts.programs import Reader

TOKENS = 5
ALIKE = 0.2
"""Of the runs of both programs those that are in both (Jaccard)."""
HELD = 0.5
"""Of the runs of the solution those that are in the program, which may be much longer."""
_SAID = frozenset({*keyword.kwlist, *vars(builtins)})
_LAYOUT = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})


def gives_away(program: str, solution: str) -> bool:
    """Whether it is much like the solution, or holds much of it. What does not parse is told from nothing."""
    ours, theirs = _runs(program), _runs(solution)
    if not ours or not theirs:
        return bool(program and solution)
    both = len(ours & theirs)
    return both / len(ours | theirs) >= ALIKE or both / len(theirs) >= HELD


@lru_cache(4096)
def _runs(program: str) -> frozenset[tuple[str, ...]]:
    words = [word for line in _lines(program) for word in line]
    return frozenset(tuple(words[at : at + TOKENS]) for at in range(max(1, len(words) - TOKENS + 1)) if words)


def _lines(program: str) -> Iterator[list[str]]:
    """The tokens of each statement or head of one, without those that say nothing of how a program works."""
    if Reader().parse(program) is None:
        return
    line: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(program).readline):
        if token.type == tokenize.NEWLINE:
            if line[0].string not in ("import", "from") and [one.type for one in line] != [tokenize.STRING]:
                yield [_word(one) for one in line]
            line = []
        elif token.type not in _LAYOUT:
            line.append(token)


def _word(token: tokenize.TokenInfo) -> str:
    return token.string if token.type != tokenize.NAME or token.string in _SAID else "_"
