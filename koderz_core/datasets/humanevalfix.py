"""HumanEvalFix (HumanEvalPack, Muennighoff et al., arXiv 2308.07124, MIT): HumanEval's functions, each with one bug.

The prompt has the docstring and no tests, as the paper's variant HumanEvalFixDocs. ``humanevalfix+`` adds EvalPlus'
inputs, whose correct answers are those of EvalPlus' solutions: the published corrections fail some of them. In
``humanevalfix+tests`` the text also shows the first base test that the faulty program fails.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import replace

import msgspec

from koderz_core.config import Settings
from koderz_core.datasets.archives import contents_sha256
from koderz_core.datasets.asserts import names_in, statements
from koderz_core.datasets.humaneval import plus_problem_of, preamble_of
from koderz_core.datasets.lines import row_of
from koderz_core.datasets.sources import load_published
from koderz_core.errors import DataError
from koderz_core.python_parser import parse
from koderz_core.records import Dataset, DatasetOrigin, Facts, Problem, PublicProblem, TestSet

BEYOND = "beyond the correction"
"""Tag of the problems whose published correction fails plus tests, so that fixing the given bug is not enough."""
BEYOND_CORRECTION = frozenset(
    (22, 31, 32, 39, 44, 49, 55, 63, 64, 76, 91, 95, 97, 111, 122, 123, 124, 125, 127, 132, 140, 150)
)
"""Measured with the limits of EvalPlus: 31, 39, 55, 63 and 127 are too slow, the others also return wrong answers."""
_LATER: Mapping[int, tuple[int, ...]] = {
    1: (
        *(0, 3, 5, 7, 9, 12, 14, 17, 18, 22, 26, 27, 28, 29, 31, 36, 37, 42, 47),
        *(48, 66, 73, 74, 76, 83, 85, 93, 95, 99, 108, 115, 124, 125, 127, 134, 140, 151),
    ),
    2: (10, 16, 40, 69, 88, 91, 107, 118, 141, 146, 157),
    3: (19, 33, 39, 64, 77, 80, 81, 131, 138, 144, 154),
    4: (61, 86, 89, 90),
    5: (137,),
    6: (51, 111, 149),
    9: (126,),
    11: (82,),
}
FIRST_FAILURES = {number: place for place, numbers in _LATER.items() for number in numbers}
"""The place of the first assert that the faulty program fails, from 0, by problem; 0 for all other problems."""


def load_humanevalfix_plus(name: str, settings: Settings) -> Dataset:
    """All 164 problems with HumanEval's tests and EvalPlus' inputs. Raises DataError naming file, line and field."""
    fix = load_published("humanevalfix", settings, problem_of)
    plus = load_published("humaneval+", settings, plus_problem_of)
    # By number and name: several problems of HumanEval have functions of the same name.
    inputs = {(_number(problem), problem.public.entry_point): problem for problem in plus.problems}
    known = [(problem, inputs.get((_number(problem), problem.public.entry_point))) for problem in fix.problems]
    unknown = [problem.id for problem, more in known if more is None]
    if unknown:
        raise DataError(
            f"The file of humaneval+ has no inputs for {unknown[0]}. Download the files of humanevalfix and humaneval+ "
            "again."
        )
    problems = tuple(_with_plus(problem, more) for problem, more in known if more)
    sha256 = contents_sha256({dataset.origin.name: dataset.origin.sha256.encode() for dataset in (fix, plus)})
    licence = f"{fix.origin.licence}, {plus.origin.licence}"
    return Dataset(DatasetOrigin(name, sha256, licence), problems)


def load_humanevalfix_plus_tests(name: str, settings: Settings) -> Dataset:
    """As ``load_humanevalfix_plus``, and the text of each problem shows a base test that the faulty program fails."""
    plus = load_humanevalfix_plus(name, settings)
    return Dataset(plus.origin, tuple(map(_with_test, plus.problems)))


class _Row(msgspec.Struct, frozen=True):
    task_id: str
    prompt: str
    entry_point: str
    canonical_solution: str
    buggy_solution: str
    test: str
    bug_type: str = ""
    failure_symptoms: str = ""


def problem_of(line: bytes) -> Problem:
    """The problem of a line, with HumanEval's tests. Raises DataError naming the field."""
    row = row_of(line, _Row, frozenset({"bug_type", "failure_symptoms"}))
    preamble = preamble_of(row.prompt, row.entry_point)
    if preamble is None:
        raise DataError(f"field prompt does not define the entry point {row.entry_point!r}")
    given = f"{(row.prompt + row.buggy_solution).strip(chr(10))}\n"
    name = f"HumanEvalFix/{row.task_id.rpartition('/')[2]}"
    public = PublicProblem(name, task(row.entry_point) + given, row.entry_point, preamble, kind="repair", given=given)
    facts = Facts(tags=tuple(filter(None, (row.bug_type, row.failure_symptoms))))
    return Problem(public, TestSet(_check(row)), row.prompt + row.canonical_solution, facts=facts)


def task(entry_point: str) -> str:
    """What to do, as a comment that precedes the faulty program."""
    return f"# The function {entry_point} contains a bug. Fix the bug, and return the whole corrected program.\n\n"


def _check(row: _Row) -> str:
    """The published tests without the call of ``check`` at their end."""
    if not re.search(r"^def check\(", row.test, re.MULTILINE):
        raise DataError("field test does not define check(...)")
    last = statements(row.test, "test")[-1]
    lines = row.test.split("\n")
    return "\n".join(lines[: last.lineno - 1] if isinstance(last, ast.Expr) else lines).strip("\n") + "\n"


def _with_plus(problem: Problem, plus: Problem) -> Problem:
    tags = (BEYOND,) if _number(problem) in BEYOND_CORRECTION else ()
    facts = replace(problem.facts, tags=problem.facts.tags + tags)
    return replace(problem, canonical_solution=plus.canonical_solution, plus=plus.plus, facts=facts)


def _with_test(problem: Problem) -> Problem:
    """The problem with the test in its text and as its sample."""
    check = next(node for node in parse(problem.tests.source).body if isinstance(node, ast.FunctionDef))
    shown = _statements_of(check, FIRST_FAILURES.get(_number(problem), 0))
    test = "\n".join(map(ast.unparse, shown))
    comment = "".join(f"# {line}\n" for line in test.split("\n"))
    prompt = f"{problem.public.prompt}\n# The program fails this test:\n{comment}"
    check.body = shown
    return replace(problem, public=replace(problem.public, prompt=prompt), samples=TestSet(f"{ast.unparse(check)}\n"))


def _statements_of(check: ast.FunctionDef, place: int) -> list[ast.stmt]:
    """The statement with the assert at this place, without its message, after the statements that it may depend on."""
    before: list[ast.stmt] = []
    for node in check.body:
        asserts = sum(isinstance(part, ast.Assert) and bool(names_in([part.test])) for part in ast.walk(node))
        if place < asserts:
            if isinstance(node, ast.Assert):
                node.msg = None
            depends = not isinstance(node, ast.Assert) or names_in([node]) & names_in(before)
            return [*before, node] if depends else [node]
        place -= asserts
        before += [] if asserts or isinstance(node, ast.Expr | ast.Assert) else [node]
    raise DataError(
        "In your file of humanevalfix, the tests of at least one problem contain fewer asserts than in the published "
        "file. Download the file of humanevalfix again."
    )


def _number(problem: Problem) -> int:
    digits = problem.id.rpartition("/")[2]
    return int(digits) if digits.isdecimal() else -1
