"""Problems with cases, made of texts: programs that read standard input, and functions with literal arguments.

A problem whose tests are missing or too large is left out of its dataset, which states the reason.
"""

from __future__ import annotations

import ast
import inspect
import json
import math
from collections.abc import Iterable, Sequence
from datetime import date
from functools import cache
from typing import Any

from koderz_core.datasets import output_comparison
from koderz_core.datasets.humaneval import preamble_of
from koderz_core.datasets.output_comparison import VALUES, Comparison, Like
from koderz_core.errors import DataError
from koderz_core.python_parser import parse
from koderz_core.records import Cases, Facts, LeftOut, Problem, PublicProblem, TestSet

ENTRY_POINT = "run"
"""The function that tests of a program call: it runs the program with an input and returns the output."""
LINES, TOKENS, EXACT = "lines", "tokens", "exact"
CHECKERS = (LINES, TOKENS, EXACT)
"""Names of the rules of ``output_comparison`` that compare outputs."""
MOST_TEST_BYTES = 14_000_000
"""The tests of one problem are sent to a worker in one JSON message of at most 16 MB, together with the program."""
IMPORTS = (
    "import bisect, collections, functools, heapq, itertools, math, re, string\n"
    "from typing import Any, Dict, List, Optional, Set, Tuple\n"
)
"""The beginning of the prompt of a published function: its signature may use these names."""
_METHOD = """

def {function}(*arguments):
    if "Solution" not in globals():
        raise NameError("the program defines no function {function!r}")
    return Solution().{function}(*arguments)
"""
"""The tested function, for programs that define it only as a method of ``Solution``. The publishers' harnesses accept
such programs. A program that defines the function replaces this one.
"""
_INT64 = 1 << 63

Pair = tuple[str, str]
"""A standard input and the expected standard output."""


def output_tests(pairs: Sequence[Pair], checker: str = LINES, tolerance: float = 0.0, seconds: float = 0.0) -> TestSet:
    """Tests of a program, one for each pair. ``seconds``: the time limit of each, 0 if it is not stated."""
    calls, answers = (
        ([json.dumps(text) for text in column] for column in zip(*pairs, strict=True)) if pairs else ((), ())
    )
    return _tests([f"[{call}]" for call in calls], answers, checker, tolerance, seconds)


def call_tests(calls: Sequence[Sequence[Any]], answers: Sequence[Any], checker: str, seconds: float) -> TestSet:
    """Tests of a function, one for each call. Arguments and answers are JSON values, which ``Any`` stands for."""
    made = [_line(list(arguments)) for arguments in calls]
    return _tests(made, list(map(_line, answers)), checker, 0.0, seconds)


def _tests(calls: Sequence[str], answers: Sequence[str], checker: str, tolerance: float, seconds: float) -> TestSet:
    if not calls:
        return TestSet()
    limits = "\n".join([f"{seconds:g}"] * len(calls)) if seconds else ""
    # Only the classes that a dataset needs: the recorded hash of ``humaneval-stdin`` is of a source without them.
    more: list[type] = [Tolerant] if tolerance else [Rows, WithRows] if checker == VALUES[1] else []
    kind = [Comparison, *more][-1].__name__
    sources = [_comparison(), *map(inspect.getsource, more), f"like = {kind}({checker!r}, {tolerance!r}).like\n"]
    return TestSet("\n\n".join(sources), cases=Cases("\n".join(calls), "\n".join(answers), limits=limits))


@cache
def _comparison() -> str:
    return inspect.getsource(output_comparison)


class Tolerant(Comparison):
    """A comparison with a tolerance, which does not apply to infinity: ``INF`` often means that there is no path."""

    def _same_numbers(self, seen: str, wanted: str) -> bool:
        if "inf" in wanted.lower():
            return Comparison(self.checker, 0.0)._same_numbers(seen, wanted)
        return super()._same_numbers(seen, wanted)


class Rows(Like):
    """Equal also to an answer with tuples in place of its lists."""

    __hash__ = None  # Python's way to make a class unhashable

    def __eq__(self, answer: object) -> bool:
        items = answer if isinstance(answer, list | tuple) else ()
        rows = [list(item) if isinstance(item, tuple) else item for item in items]
        return super().__eq__(answer) or (bool(rows) and super().__eq__(rows))


class WithRows(Comparison):
    """The comparison of APPS (eval/testing_util.py): JSON has turned the tuples in a list into lists."""

    def like(self, value: object) -> Like:
        return Rows(value, self)


def program_problem(
    name: str, text: str, tests: TestSet, samples: TestSet, facts: Facts, solution: str = ""
) -> Problem:
    """A problem of kind ``program``; ``text`` is its prompt."""
    public = PublicProblem(name, f"{text.strip()}\n", ENTRY_POINT, kind="program")
    return Problem(public, tests, solution, samples=samples, facts=facts)


def function_problem(problem: Problem, starter: str, function: str) -> Problem | LeftOut:
    """The problem as one that asks for a function. ``starter``: code with its signature, perhaps in a class."""
    signature = _signature(starter, function)
    if signature is None:
        return LeftOut(problem.id, f"its starter code does not define {function}")
    text = problem.public.prompt.strip().replace('"""', "'''")
    prefix = "r" if "\\" in text else ""
    lines = "".join(f"    {line}".rstrip() + "\n" for line in text.split("\n"))
    prompt = f'{IMPORTS}\n\n{signature}\n    {prefix}"""\n{lines}    """\n'
    preamble = preamble_of(prompt, function)
    if preamble is None:
        return LeftOut(problem.id, f"its text cannot be the docstring of {function}")
    public = PublicProblem(problem.id, prompt, function, preamble + _METHOD.format(function=function))
    return Problem(public, problem.tests, problem.canonical_solution, samples=problem.samples, facts=problem.facts)


def kept(problem: Problem) -> Problem | LeftOut:
    """The problem, if its tests can be run."""
    if not problem.tests:
        return LeftOut(problem.id, "the file contains no test for this problem")
    if problem.tests.cases and _sent_bytes(problem.tests.cases) > MOST_TEST_BYTES:
        return LeftOut(problem.id, f"its tests are larger than {MOST_TEST_BYTES // 10**6} MB")
    return problem


def _sent_bytes(cases: Cases) -> int:
    """The size of the cases in a message. Small ones are only estimated."""
    size = len(cases.calls) + len(cases.answers)
    return size if 2 * size < MOST_TEST_BYTES else len(json.dumps([cases.calls, cases.answers]))


def first_python(solutions: Iterable[str]) -> str:
    """The first text that is Python 3; "" if there is none."""
    return next((text for text in solutions if _is_python(text)), "")


def iso_date(text: str, field: str) -> str:
    """The day in a date or time in ISO form; "" for "". Raises DataError naming the field."""
    try:
        return date.fromisoformat(text.strip()[:10]).isoformat() if text.strip() else ""
    except ValueError as error:
        raise DataError(f"field {field} is not a date such as 2024-05-31: {text[:40]!r}") from error


def _is_python(text: str) -> bool:
    try:
        parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return bool(text.strip())


def _signature(starter: str, function: str) -> str | None:
    """``def function(...):`` without ``self``."""
    lines = starter.rstrip().split("\n")
    margin = lines[-1][: len(lines[-1]) - len(lines[-1].lstrip())]
    for body in ("", f"\n{margin}    pass", f"\n{margin}\tpass"):
        try:
            tree = parse(f"{starter.rstrip()}{body}\n")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == function:
                node.args.args = [arg for arg in node.args.args if arg.arg != "self"]
                node.body, node.decorator_list = [ast.Pass()], []
                return ast.unparse(node).removesuffix("\n    pass")
    return None


def _line(value: Any) -> str:  # Any: a JSON value
    """A line of ``records.Cases``. ``sandbox.inside.values`` defines its form, which ``_wired`` writes for JSON."""
    return json.dumps(_wired(value), allow_nan=False)


def _wired(value: Any) -> Any:
    match value:
        case list():
            return list(map(_wired, value))
        case dict():
            return {"dict": [[key, _wired(item)] for key, item in value.items()]}
        case int() if not -_INT64 <= value < _INT64:
            return {"int": hex(value)}
        case float() if not math.isfinite(value):
            return {"float": repr(value)}
    return value
