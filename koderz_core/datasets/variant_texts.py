"""The variant ``rephrased`` of a problem: its text in other words and another order, with the same meaning.

Three rules change the docstring that describes the task, or the comment if the text is one. The examples come first:
from the first line that announces or makes a call of the function to the end. Words of ``WORDS`` in the prose are
replaced, outside of quotes and never a name of the function or a parameter. A docstring gets the other kind of quotes.
Tests, names and the solution stay the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from koderz_core.datasets.variant_names import docstrings, parameters_of
from koderz_core.python_parser import parse
from koderz_core.records import LeftOut, Problem

WORDS: Mapping[str, str] = {
    "write a python function": "implement a Python function",
    "write a function": "implement a function",
    "create a function": "define a function",
    "your task is": "your job is",
    "check if": "determine whether",
    "check whether": "determine whether",
    "returns": "gives back",
    "return": "give back",
    "find": "determine",
    "finds": "determines",
    "calculate": "compute",
    "calculates": "computes",
    "takes": "accepts",
    "remove": "delete",
    "removing": "deleting",
    "element": "item",
    "elements": "items",
    "largest": "biggest",
    "greater than": "larger than",
    "each": "every",
    "ascending": "increasing",
    "descending": "decreasing",
    "consisting of": "made up of",
    "for example": "for instance",
}
"""Phrases and their replacements, in lower case; a capital at the start stays one."""
_PHRASE = re.compile(rf"(?<!\w)({'|'.join(sorted(WORDS, key=len, reverse=True))})(?!\w)", re.IGNORECASE)
_QUOTED = re.compile(r"(?<!\w)(\"[^\"\n]*\"|'[^'\n]*'|`[^`\n]*`)(?!\w)")
_HEADING = re.compile(r"\s*(>>>|(for )?(example|instance)s?\b|e\.g\.)", re.IGNORECASE)
_CODE = re.compile(r">>>|[=<>!]=|[-=]>|➞|\bassert\b")


def rephrased(problem: Problem) -> Problem | LeftOut:
    """The problem with a rephrased text; left out if the rules do not change it."""
    public = problem.public
    try:
        tree, solution = parse(public.prompt), parse(problem.canonical_solution)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return LeftOut(problem.id, f"its text cannot be changed ({type(error).__name__})")
    names = frozenset((public.entry_point, *parameters_of(solution, public.entry_point)))
    if found := list(docstrings(tree)):
        prompt = _with_docstring(public.prompt, found[-1], names)
    else:
        lines = _rephrased([line.removeprefix("# ") for line in public.prompt.splitlines()], names)
        prompt = "".join(f"# {line}\n" for line in lines) if public.prompt.startswith("# ") else public.prompt
    if prompt == public.prompt:
        return LeftOut(problem.id, "none of the rules for rephrasing changes its text")
    return replace(problem, public=replace(public, prompt=prompt), variant="rephrased")


def _with_docstring(prompt: str, node: ast.expr, names: frozenset[str]) -> str:
    """The prompt with a rephrased docstring. The text before it, such as the signature, does not change."""
    segment = ast.get_source_segment(prompt, node) or ""
    parts = re.fullmatch(r"([rR]?)(\"\"\"|''')(.*)\2", segment, re.DOTALL)
    if not parts or prompt.count(segment) != 1:
        return prompt
    raw, quotes, text = parts.groups()
    margin = " " * node.col_offset
    lines = [line.rstrip() for line in text.strip().split("\n")]
    other = "'''" if quotes == '"""' else '"""'
    quotes = quotes if other in text else other
    body = "\n".join(_rephrased([margin + lines[0], *lines[1:]], names))
    return prompt.replace(segment, f"{raw}{quotes}\n{body}\n{margin}{quotes}")


def _rephrased(lines: Sequence[str], names: frozenset[str]) -> list[str]:
    """The examples, then the prose in other words."""
    made = (place for place, line in enumerate(lines) if _HEADING.match(line) or _shows(line, names))
    place = next(made, len(lines))
    prose, examples = lines[:place], lines[place:]
    if not any(_shows(line, names) for line in examples) or not "".join(prose).strip():
        prose, examples = lines, []
    worded = [line if _shows(line, names) else _worded(line, names) for line in prose]
    return [*_stripped(examples), *([""] if examples else []), *_stripped(worded)]


def _shows(line: str, names: frozenset[str]) -> bool:
    """Whether a line is code, an example, or part of one."""
    calls = any(re.search(rf"(?<![\w.]){re.escape(name)}\s?\(", line) for name in names)
    return calls or _CODE.search(line) is not None


def _stripped(lines: Sequence[str]) -> Iterator[str]:
    """The lines without empty ones at both ends."""
    filled = [place for place, line in enumerate(lines) if line.strip()]
    yield from lines[filled[0] : filled[-1] + 1] if filled else ()


def _worded(line: str, names: frozenset[str]) -> str:
    def other(match: re.Match[str]) -> str:
        word = match[0]
        if word in names:
            return word
        new = WORDS[word.lower()]
        return new[0].upper() + new[1:] if word[0].isupper() else new

    parts = _QUOTED.split(line)
    return "".join(part if place % 2 else _PHRASE.sub(other, part) for place, part in enumerate(parts))
