"""Runs of tokens in a program, to find text that two programs share; without comments, docstrings and imports.

``anonymous``: one token for all names except keywords and builtins, so that programs in other names share runs.
"""

from __future__ import annotations

import builtins
import io
import keyword
import tokenize
from collections.abc import Collection, Iterator, Sequence

from koderz_core.prompts.programs import Reader

PYTHON = frozenset({*keyword.kwlist, *vars(builtins)})  # in every program
TOKENS = 5
"""The length of a run of tokens."""
Line = tuple[str, ...]
_LAYOUT = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})


def token_lines(program: str, *, anonymous: bool) -> Iterator[Line]:
    """The tokens of each statement or block header, without those that do not affect what a program does.

    Yields nothing for a program that does not parse.
    """
    if Reader().parse(program) is None:
        return
    line: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(program).readline):
        if token.type == tokenize.NEWLINE:
            if line and line[0].string not in ("import", "from") and [part.type for part in line] != [tokenize.STRING]:
                yield tuple(
                    "_" if anonymous and part.type == tokenize.NAME and part.string not in PYTHON else part.string
                    for part in line
                )
            line = []
        elif token.type not in _LAYOUT:
            line.append(token)


def token_runs(program: str, *, anonymous: bool, without: Collection[Line] = ()) -> frozenset[Line]:
    """All runs of ``TOKENS`` tokens of a program, except in the lines ``without``."""
    lines = token_lines(program, anonymous=anonymous)
    return runs([word for line in lines if line not in without for word in line], TOKENS)


def runs(words: Sequence[str], length: int) -> frozenset[Line]:
    """All runs of ``length`` words. Fewer words are one run; no words have no run."""
    return frozenset(tuple(words[at : at + length]) for at in range(max(1, len(words) - length + 1)) if words)
