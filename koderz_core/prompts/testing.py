"""Prompts for the tester, the tests in its answers, and the calls in a problem's text.

What they say of a program is what a model believes: a strategy may go by it, a score never does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from koderz_core.prompts.extraction import answer
from koderz_core.prompts.fences import layout
from koderz_core.prompts.names import defined_names, lacking_names
from koderz_core.prompts.programs import Program, Reader, plain
from koderz_core.records import Message, PublicProblem

VERSION = "1"
MOST = 64  # tests of one answer, and calls of one text
_LONGEST = 2000  # characters of one test, or of one call
_MOST_BRACKETS = 16  # closed within the arguments of a call

_TASK = (
    "Write tests for the function below. Go by its text alone: others implement it, and you do not see how.\n"
    "Give {number} asserts in one ```python block, each on a line of its own that compares one call with the value "
    "that it must give, such as `assert {name}(...) == ...`, with literal values only. Plain cases first, then edge "
    "cases, as far as the text says what they must give. Be sure of every value: a wrong test is worse than none. No "
    "loops, no imports, no functions of your own."
)


@dataclass(frozen=True, slots=True)
class OwnTest:
    """A test that a model wrote, as expressions: the ``call`` in it, and ``holds``, True for a program that passes."""

    call: str
    holds: str

    @property
    def claim(self) -> str:
        """What it says of the function, as its writer put it."""
        return self.holds.removeprefix("bool(").removesuffix(")")


def write(problem: PublicProblem, number: int) -> tuple[Message, ...]:
    """Ask for so many tests of a problem's function."""
    task = _TASK.format(number=number, name=problem.entry_point)
    return (Message("user", f"{task}\n\n```python\n{problem.prompt.rstrip()}\n```"),)


def asserts_in(reply: str, problem: PublicProblem, most: int = MOST) -> tuple[OwnTest, ...]:
    """The first asserts on the problem's function in an answer, each once; what asks for more than it is left out."""
    reading = layout(plain(answer(reply)))
    sources = [block.source for block in reading.blocks if block.maybe_python] or [reading.prose]
    reader = Reader()
    before = reader.parse(problem.preamble)
    known = {problem.entry_point} | (defined_names(before) if before else set())
    found: dict[str, OwnTest] = {}
    for node in (node for source in sources for node in _asserts(source, reader)):
        with suppress(RecursionError):
            if test := _test(node, problem.entry_point, known):
                found.setdefault(test.holds, test)
    return tuple(found.values())[:most]


def calls_in(problem: PublicProblem) -> tuple[str, ...]:
    """The calls with literal arguments that a problem's text shows, each once."""
    reader, found = Reader(), dict[str, None]()
    for begin in re.finditer(rf"(?<![\w.])(?<!def ){re.escape(problem.entry_point)}\(", problem.prompt):
        shown = problem.prompt[begin.start() :][:_LONGEST]
        if call := _call_at(shown, begin.end() - begin.start(), reader):
            found.setdefault(call)
    return tuple(found)[:MOST]


def _asserts(source: str, reader: Reader) -> Iterator[ast.Assert]:
    """Of a source that does not parse, those on lines of their own."""
    whole = reader.mend(source)
    lines = [line.strip() for line in source.split("\n") if line.strip().startswith("assert")]
    programs = [whole] if whole else [reader.parse(line) for line in lines[: 4 * MOST]]
    for program in programs:
        nodes = ast.walk(program.tree) if program else ()
        yield from (node for node in nodes if isinstance(node, ast.Assert))


def _test(node: ast.Assert, name: str, known: set[str]) -> OwnTest | None:
    calls = (one for one in ast.walk(node.test) if isinstance(one, ast.Call) and _called(one) == name)
    call, alone = next(calls, None), Program("", ast.Module([ast.Expr(node.test)], []))
    if call is None or lacking_names(alone) - known:
        return None
    test = OwnTest(ast.unparse(call), f"bool({ast.unparse(node.test)})")
    return test if len(test.holds) <= _LONGEST else None


def _called(call: ast.Call) -> str | None:
    return call.func.id if isinstance(call.func, ast.Name) else None


def _call_at(text: str, start: int, reader: Reader) -> str | None:
    """The call that a text begins with, its bracket open at ``start``; None if its arguments are no literals."""
    ends = (start + place.end() for place in re.finditer(r"\)", text[start:]))
    programs = (reader.parse(text[:end]) for end in islice(ends, _MOST_BRACKETS))
    whole = next((program for program in programs if program), None)
    match whole and whole.tree.body:
        case [ast.Expr(ast.Call(keywords=[]) as call)]:
            with suppress(ValueError, TypeError, RecursionError, MemoryError):
                list(map(ast.literal_eval, call.args))
                return ast.unparse(call)
    return None
