"""Prompts for the tester, the tests in its answers, and the calls in a problem's text.

Tests of a tester may be wrong: a strategy may use their results, a score never does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from koderz_core.prompts.extraction import answer
from koderz_core.prompts.markdown import layout
from koderz_core.prompts.names import defined_names, lacking_names
from koderz_core.prompts.programs import Program, Reader, plain
from koderz_core.records import Message, PublicProblem

VERSION = "1"
MOST = 64  # tests of one answer, and calls of one text
_LONGEST = 2000  # characters of one test, or of one call
_MOST_BRACKETS = 16  # closing brackets within the arguments of a call

_TASK = (
    "Write tests for the function below. Go by its text alone: others implement it, and you do not see how.\n"
    "Give {number} asserts in one ```python block, each on a line of its own that compares one call with the value "
    "that it must give, such as `assert {name}(...) == ...`, with literal values only. Plain cases first, then edge "
    "cases, as far as the text says what they must give. Be sure of every value: a wrong test is worse than none. No "
    "loops, no imports, no functions of your own."
)


@dataclass(frozen=True, slots=True)
class OwnTest:
    """A test that a model wrote: the expression of its ``call``, and ``holds``, which is True if a program passes."""

    call: str
    holds: str

    @property
    def claim(self) -> str:
        """The asserted expression, as the tester wrote it."""
        return self.holds.removeprefix("bool(").removesuffix(")")


def write(problem: PublicProblem, number: int) -> tuple[Message, ...]:
    """The prompt for this number of tests of a problem's function."""
    task = _TASK.format(number=number, name=problem.entry_point)
    return (Message("user", f"{task}\n\n```python\n{problem.prompt.rstrip()}\n```"),)


def asserts_in(reply: str, problem: PublicProblem, most: int = MOST) -> tuple[OwnTest, ...]:
    """The first asserts on the problem's function in an answer, without duplicates and without other unknown names."""
    parts = layout(plain(answer(reply)))
    sources = [block.source for block in parts.blocks if block.maybe_python] or [parts.prose]
    reader = Reader()
    preamble = reader.parse(problem.preamble)
    known = {problem.entry_point} | (defined_names(preamble) if preamble else set())
    tests: dict[str, OwnTest] = {}
    for node in (node for source in sources for node in _asserts(source, reader)):
        with suppress(RecursionError):
            if test := _test(node, problem.entry_point, known):
                tests.setdefault(test.holds, test)
    return tuple(tests.values())[:most]


def calls_in(problem: PublicProblem) -> tuple[str, ...]:
    """The calls with literal arguments in a problem's text, without duplicates."""
    reader, calls = Reader(), dict[str, None]()
    for begin in re.finditer(rf"(?<![\w.])(?<!def ){re.escape(problem.entry_point)}\(", problem.prompt):
        shown = problem.prompt[begin.start() :][:_LONGEST]
        if call := _call_at(shown, begin.end() - begin.start(), reader):
            calls.setdefault(call)
    return tuple(calls)[:MOST]


def _asserts(source: str, reader: Reader) -> Iterator[ast.Assert]:
    """The asserts of a source; if it does not parse, only those on a line of their own."""
    whole = reader.repair(source)
    lines = [line.strip() for line in source.split("\n") if line.strip().startswith("assert")]
    programs = [whole] if whole else [reader.parse(line) for line in lines[: 4 * MOST]]
    for program in programs:
        nodes = ast.walk(program.tree) if program else ()
        yield from (node for node in nodes if isinstance(node, ast.Assert))


def _test(node: ast.Assert, name: str, known: set[str]) -> OwnTest | None:
    calls = (part for part in ast.walk(node.test) if isinstance(part, ast.Call))
    own = (call for call in calls if isinstance(call.func, ast.Name) and call.func.id == name)
    call, alone = next(own, None), Program("", ast.Module([ast.Expr(node.test)], []))
    if call is None or lacking_names(alone) - known:
        return None
    test = OwnTest(ast.unparse(call), f"bool({ast.unparse(node.test)})")
    return test if len(test.holds) <= _LONGEST else None


def _call_at(text: str, start: int, reader: Reader) -> str | None:
    """The call at the beginning of a text, its bracket open at ``start``; None if an argument is not a literal."""
    ends = (start + place.end() for place in re.finditer(r"\)", text[start:]))
    programs = (reader.parse(text[:end]) for end in islice(ends, _MOST_BRACKETS))
    whole = next((program for program in programs if program), None)
    match whole and whole.tree.body:
        case [ast.Expr(ast.Call(keywords=[]) as call)]:
            with suppress(ValueError, TypeError, RecursionError, MemoryError):
                list(map(ast.literal_eval, call.args))
                return ast.unparse(call)
    return None
