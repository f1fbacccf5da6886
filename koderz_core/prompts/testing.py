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
from koderz_core.prompts.kinds import statement, words
from koderz_core.prompts.markdown import layout
from koderz_core.prompts.names import defined_names, lacking_names
from koderz_core.prompts.programs import Program, Reader, plain
from koderz_core.records import Message, PublicProblem

VERSION = "1"
MOST = 64  # tests of one answer, and calls of one text
_LONGEST = 2000  # characters of one test, or of one call
_MOST_BRACKETS = 16  # closing brackets within the arguments of a call


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
    """The prompt for this number of tests of a problem."""
    task = words(problem).tests.format(number=number, name=problem.entry_point)
    return (Message("user", f"{task}\n\n{statement(problem)}"),)


def asserts_in(reply: str, problem: PublicProblem, most: int = MOST) -> tuple[OwnTest, ...]:
    """The first asserts on names that the problem asks for in an answer, without duplicates and other unknown names."""
    parts = layout(plain(answer(reply)))
    sources = [block.source for block in parts.blocks if block.maybe_python] or [parts.prose]
    reader = Reader()
    preamble = reader.parse(problem.preamble)
    asked = {problem.entry_point, *problem.names}
    known = asked | (defined_names(preamble) if preamble else set())
    tests: dict[str, OwnTest] = {}
    for node in (node for source in sources for node in _asserts(source, reader)):
        with suppress(ValueError, RecursionError):  # of ast.unparse, for example for a number with too many digits
            if test := _test(node, asked, known, of_module=problem.kind == "module"):
                tests.setdefault(test.holds, test)
    return tuple(tests.values())[:most]


def calls_in(problem: PublicProblem) -> tuple[str, ...]:
    """The calls with literal arguments in a problem's text, without duplicates."""
    reader, calls = Reader(), dict[str, None]()
    names = "|".join(map(re.escape, (problem.entry_point, *problem.names)))
    for begin in re.finditer(rf"(?<![\w.])(?<!def )(?<!class )(?:{names})\(", problem.prompt):
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


def _test(node: ast.Assert, names: set[str], known: set[str], *, of_module: bool) -> OwnTest | None:
    """The test in an assert. Of a module, its call is the whole expression, such as ``Clock(8, 0).minutes()``."""
    calls = [part for part in ast.walk(node.test) if isinstance(part, ast.Call)]
    own = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in names]
    holds, alone = f"bool({ast.unparse(node.test)})", Program("", ast.Module([ast.Expr(node.test)], []))
    if not own or lacking_names(alone) - known or len(holds) > _LONGEST:
        return None
    whole = (call for call in calls if not set(own).isdisjoint(ast.walk(call)))
    return OwnTest(ast.unparse(next(whole) if of_module else own[0]), holds)


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
