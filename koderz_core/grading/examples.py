"""The examples in a problem's text, as tests: ``>>> f(1)`` with its answer, ``f(1) == 2``, ``f(1) => 2`` and similar.

Kapoor, Stroebl et al., "AI Agents That Matter", arXiv 2407.01502, let agents stop on the examples of HumanEval's
docstrings. The reader is lenient, because false examples are removed later: the canonical solution fails them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from koderz_core.datasets.asserts import Renaming, has_float
from koderz_core.datasets.evalplus import NEED_ARGUMENTS, with_like
from koderz_core.prompts.names import defined_names, lacking_names
from koderz_core.prompts.programs import Program, Reader
from koderz_core.python_parser import parse
from koderz_core.records import PlusTests, Problem, PublicProblem, TestSet

MOST = 64  # examples of one problem
_LEADS_TO = re.compile(r"[`'\"]?\s*#?\s*(?:=*[=⇒]>?|[-—]+>|➞|→|(?:should )?(?:returns?|be)\b:?)\s*[`]?\s*")
_PROMPT = re.compile(r"^[ \t]*(?:\"\"\"|''')?[ \t]*>>>[ \t]?(.*)$", re.MULTILINE)
_NEXT_LINE = re.compile(r"\n[ \t]*")
_SCALAR = re.compile(
    r"(?:[Tt]rue|[Ff]alse|None)\b|[-+]?(?:[0-9][0-9_]*\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?[jJ]?(?![\w.]\w)"
)
_LONGEST = 2000  # characters of a call or an answer
_DEEPEST = 50  # nesting of nodes in a call or an answer: the stack of every later step has room for them


@dataclass(frozen=True, slots=True)
class Example:
    """A call of the problem's function and its answer, as source.

    ``arguments`` is None if the expression is more than one call.
    """

    call: str
    answer: str
    arguments: str | None = None

    def __str__(self) -> str:
        return f"{self.call} == {self.answer}"


def examples_in(problem: PublicProblem) -> tuple[Example, ...]:
    """Every readable example, each once, in the order of the text; none without a function to call."""
    if not problem.entry_point:
        return ()
    reader = _Reader(problem)
    examples = sorted([*reader.calls(), *reader.doctests()], key=lambda placed: placed[0])
    return tuple(dict.fromkeys(example for _, example in examples))[:MOST]


def as_tests(problem: Problem, examples: Sequence[Example]) -> TestSet:
    """One assert per example, with the comparison of the problem's other tests."""
    plus = problem.plus or PlusTests("[]")
    loose = bool(plus.tolerance or plus.oracle) or (
        problem.plus is not None and any(has_float(parse(example.answer)) for example in examples)
    )
    asserts = "".join(f"    assert {_expression(example, plus if loose else None)}\n" for example in examples)
    check = f"def check(candidate):\n{asserts}"
    return TestSet(with_like(check, plus.tolerance, plus.oracle) if loose else check)


def _expression(example: Example, plus: PlusTests | None) -> str:
    if plus is None or example.arguments is None:
        return f"{example.call} == {example.answer}"
    if plus.oracle == "some":
        truth = example.answer if example.answer in ("True", "False") else str(example.answer != "None")
        return f"some({example.call}) == {truth}"
    like = f"{example.answer}, {example.arguments}" if plus.oracle in NEED_ARGUMENTS else example.answer
    return f"{example.call} == like({like})"


class _Reader:
    """Finds examples in a text, each with its position."""

    def __init__(self, problem: PublicProblem) -> None:
        self._text, self._name = problem.prompt, problem.entry_point
        before = Reader().parse(problem.preamble)
        self._known = {self._name} | (defined_names(before) if before else set())

    def calls(self) -> Iterator[tuple[int, Example]]:
        """Yield examples of the form: a call of the function, a sign such as ``==`` or ``returns``, a literal."""
        for begin in re.finditer(rf"(?<![\w.]){re.escape(self._name)}\s*\(", self._text):
            call = _bracketed(self._text, begin.end() - 1)
            lead = call and _LEADS_TO.match(self._text, begin.end() - 1 + len(call))
            if lead:
                yield from self._examples(begin.start(), f"{self._name}{call}", lead.end())

    def doctests(self) -> Iterator[tuple[int, Example]]:
        """Yield examples of the form ``>>> expression`` with a literal on the next line."""
        for prompt in _PROMPT.finditer(self._text):
            if following := _NEXT_LINE.match(self._text, prompt.end()):
                yield from self._examples(prompt.start(1), prompt[1].strip(), following.end())

    def _examples(self, place: int, expression: str, answer_at: int) -> Iterator[tuple[int, Example]]:
        """Yield at most one example: nothing if it is not Python, is nested too deeply or names something unknown."""
        answer = _literal(self._text, answer_at)
        try:
            tree, literal = parse(f"({expression}\n)"), parse(answer or "")
            value = ast.literal_eval(_expression_in(literal))
            whole = _expression_in(tree)
        except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            return
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        known = self._name in used and lacking_names(Program(expression, tree)) <= self._known
        if not known or _is_deep(tree) or _is_deep(literal):
            return
        try:
            arguments, call = self._arguments(whole), ast.unparse(Renaming(self._name).visit(whole))
        except ValueError:  # a number with too many digits
            return
        yield place, Example(call, repr(value), arguments)

    def _arguments(self, whole: ast.expr) -> str | None:
        match whole:
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name == self._name:
                return ", ".join(map(ast.unparse, arguments))
        return None


def _expression_in(tree: ast.Module) -> ast.expr:
    """The expression of a module. Raises ValueError if the module is not one expression."""
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
        raise ValueError("not an expression")
    return tree.body[0].value


def _is_deep(tree: ast.AST) -> bool:
    """Whether its nodes nest deeper than ``_DEEPEST``. Not recursive, unlike ``ast.unparse``, which would overflow."""
    nodes = [tree]
    for _ in range(_DEEPEST):
        nodes = [child for node in nodes for child in ast.iter_child_nodes(node)]
    return bool(nodes)


def _literal(text: str, start: int) -> str | None:
    """The Python literal that begins at ``start``."""
    if text[start : start + 1] in tuple("([{"):
        return _bracketed(text, start)
    if quoted := re.compile(r"(?!'''|\"\"\")[rbuf]?('(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")").match(text, start):
        return quoted[0]
    scalar = _SCALAR.match(text, start)
    return scalar and scalar[0].replace("true", "True").replace("false", "False")


def _bracketed(text: str, start: int) -> str | None:
    """The text from a bracket to the closing one; strings in between may contain brackets."""
    depth, place = 0, start
    token = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|[^'\"]|['\"]")
    while place < min(len(text), start + _LONGEST):
        match = token.match(text, place)
        if match is None:
            return None
        depth += (match[0] in tuple("([{")) - (match[0] in tuple(")]}"))
        place = match.end()
        if depth == 0:
            return text[start:place]
    return None
