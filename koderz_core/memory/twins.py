"""Whether a program gives a solution away: by what it says, or by what it does under another name.

What it says is compared whatever its names are: runs of five tokens, with one word for all names but keywords and
builtins, without comments, docstrings and imports. Of the 293,222 ordered pairs of right programs of HumanEval and
MBPP+ this takes 2.5 % for twins, among them those whose problems are told in other words under other names, such as
MBPP's 281 and 394, or 412 and 629. What it does is found out by running it on the tests of the other problem.
"""

from __future__ import annotations

import ast
import builtins
import io
import keyword
import tokenize
from collections.abc import Iterator
from functools import lru_cache

from koderz_core.prompts.programs import Reader
from koderz_core.records import PublicProblem

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


def under_name(name: str, source: PublicProblem, program: str) -> Iterator[str]:
    """A program that solves ``source``, once for each function that it defines, with that function as ``name``.

    The function that solves it comes first. What ``source`` gives to its programs is part of them; no program where
    that does not parse.
    """
    parsed = Reader().parse(program)
    if parsed is None:
        return
    nodes = parsed.tree.body
    futures = [one.end_lineno or 0 for one in nodes if isinstance(one, ast.ImportFrom) and one.module == "__future__"]
    first, lines = max(futures, default=0), program.split("\n")  # such imports stand before everything else
    whole = "\n".join([*lines[:first], source.preamble, *lines[first:]])
    defined = [one.name for one in nodes if isinstance(one, ast.FunctionDef)]
    for function in dict.fromkeys([source.entry_point, *defined]):
        yield f"{whole}\n\n{name} = {function}\n"


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
