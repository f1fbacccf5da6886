"""The guard against leaks: what was learnt from a problem never reaches a prompt about the same one, or its twin.

Two problems count as one if they share their id (HumanEval and HumanEval+ do, and MBPP and MBPP+), if their functions
have the same name, or if their texts are near-duplicates: the sets of their words taken five at a time resemble each
other by 0.2 or more. Resemblance: Broder, "On the resemblance and containment of documents", 1997; five words: Lee et
al. 2021, arXiv 2107.06499, appendix A. Deduplication uses 0.8; here a wrong refusal costs a hint and a wrong admission
the result, so a fifth is enough. Problems that mean the same in other words under other names are recognised by their
programs only: by their text here, by their behaviour on the tests of the other problem where examples are chosen.

Programs are compared whatever their names are: by runs of five tokens, with one word for all names but keywords and
builtins, without comments, docstrings and imports. Of the 293,222 ordered pairs of right programs of HumanEval and
MBPP+ this takes 2.5 % for twins, among them those whose problems are told in other words under other names, such as
MBPP's 281 and 394, or 412 and 629.
"""

from __future__ import annotations

import ast
import builtins
import io
import keyword
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from koderz_core.prompts.programs import Reader
from koderz_core.records import Problem, PublicProblem

WORDS = 5
NEAR = 0.2
SHARED_NAMES = frozenset({"taskfunc"})
"""Names that a whole dataset gives all of its functions: BigCodeBench's ``task_func`` (arXiv 2406.15877)."""
TOKENS = 5
ALIKE = 0.2
"""Of the runs of both programs those that are in both (Jaccard)."""
HELD = 0.5
"""Of the runs of the solution those that are in the program, which may be much longer."""
_PYTHON = frozenset({*keyword.kwlist, *vars(builtins)})  # what every program says
_HARNESS = _PYTHON | {"candidate", "check"}
_LAYOUT = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})


@dataclass(frozen=True, slots=True)
class SourcedText:
    """A text that is to be shown, every problem that something in it is from, and the program that it holds, if any."""

    text: str
    sources: tuple[PublicProblem, ...]
    program: str = ""


def admissible(learnt: SourcedText, problem: Problem) -> bool:
    """Whether it may be shown to who solves this problem."""
    return not (
        any(same_problem(source, problem.public) for source in learnt.sources)
        or containment(problem.public.prompt, learnt.text) >= NEAR
        or _names(problem, learnt.text)
        or gives_away(learnt.program, problem.canonical_solution)
    )


@lru_cache(65536)
def same_problem(one: PublicProblem, other: PublicProblem) -> bool:
    """Whether two problems count as one."""
    return (
        one.id.casefold() == other.id.casefold()
        or _plain_name(one.entry_point) == _plain_name(other.entry_point) not in SHARED_NAMES
        or resemblance(one.prompt, other.prompt) >= NEAR
    )


def resemblance(one: str, other: str) -> float:
    """How many of the runs of five words that two texts have are in both, from 0 to 1 (Jaccard)."""
    first, second = _word_runs(one), _word_runs(other)
    either = len(first | second)
    return len(first & second) / either if either else 0.0


def containment(prompt: str, text: str) -> float:
    """How many of a prompt's runs of five words are in a text that may be much longer, from 0 to 1 (containment)."""
    asked = _word_runs(prompt)
    return len(asked & _word_runs(text)) / len(asked) if asked else 0.0


def named_in_tests(problem: Problem) -> frozenset[str]:
    """Names of three letters and more that a problem's tests mean, its function's included.

    What Python itself or the tests define is not among them: it says nothing of the problem.
    """
    program = Reader().parse(problem.tests.source)
    named = _free(program.tree) if program else set(re.findall(r"\w+", problem.tests.source))
    found = {problem.public.entry_point, *named} - _HARNESS
    return frozenset(name for name in found if len(name) > 2 and _plain_name(name) not in SHARED_NAMES)


def _names(problem: Problem, text: str) -> bool:
    """Whether a text has a name that the problem's tests use, or its function's in whatever spelling."""
    words, function = set(re.findall(r"\w+", text)), _plain_name(problem.public.entry_point)
    spelt = function in map(_plain_name, words) and len(function) > 2 and function not in SHARED_NAMES
    return spelt or bool(named_in_tests(problem) & words)


def _free(tree: ast.Module) -> set[str]:
    """Names and attributes that are used and nowhere defined."""
    used, defined = set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else defined).add(node.id)
        elif isinstance(node, ast.Attribute):
            used.add(node.attr)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
    return used - defined


def _plain_name(name: str) -> str:
    return name.casefold().replace("_", "")


@lru_cache(4096)
def _word_runs(text: str) -> frozenset[tuple[str, ...]]:
    return _runs(re.findall(r"[^\W_]+", text.casefold()), WORDS)


def gives_away(program: str, solution: str) -> bool:
    """Whether it is much like the solution, or holds much of it. What does not parse is told from nothing."""
    ours, theirs = _token_runs(program), _token_runs(solution)
    if not ours or not theirs:
        return bool(program and solution)
    both = len(ours & theirs)
    return both / len(ours | theirs) >= ALIKE or both / len(theirs) >= HELD


def renamed_programs(name: str, source: PublicProblem, program: str) -> Iterator[str]:
    """A program that solves ``source``, once for each function that it defines, with that function as ``name``.

    The function that solves it comes first. What ``source`` gives to its programs is part of them; no program where
    that does not parse.
    """
    parsed = Reader().parse(program)
    if parsed is None:
        return
    nodes = parsed.tree.body
    futures = [
        node.end_lineno or 0 for node in nodes if isinstance(node, ast.ImportFrom) and node.module == "__future__"
    ]
    first, lines = max(futures, default=0), program.split("\n")  # such imports stand before everything else
    whole = "\n".join([*lines[:first], source.preamble, *lines[first:]])
    defined = [node.name for node in nodes if isinstance(node, ast.FunctionDef)]
    for function in dict.fromkeys([source.entry_point, *defined]):
        yield f"{whole}\n\n{name} = {function}\n"


@lru_cache(4096)
def _token_runs(program: str) -> frozenset[tuple[str, ...]]:
    return _runs([word for line in _lines(program) for word in line], TOKENS)


def _runs(words: Sequence[str], length: int) -> frozenset[tuple[str, ...]]:
    """All runs of ``length`` words; fewer words are one run, no words none."""
    return frozenset(tuple(words[at : at + length]) for at in range(max(1, len(words) - length + 1)) if words)


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
    return token.string if token.type != tokenize.NAME or token.string in _PYTHON else "_"
