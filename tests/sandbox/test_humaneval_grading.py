"""All of HumanEval: the publisher's solutions pass, and solutions changed for the worse do not.

Which changes are for the worse is decided by a plain interpreter, not by koderz.
"""

import ast
import json
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from small_problem import best_tier, judge_of

from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.sandbox.inside.instrument import count_tests

PLAIN = """
import json, os, signal, sys
def fails(source):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            signal.alarm(1)
            exec(source, {})
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1] == 256
chosen = []
for programs in json.load(sys.stdin):
    chosen.append(next((place for place, source in enumerate(programs) if fails(source)), None))
print(json.dumps(chosen))
"""
OPPOSITE = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Mod: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@pytest.fixture(scope="module")
def problems():
    return load("humaneval", load_settings()).problems


@pytest.fixture(scope="module")
def mutants(problems):
    """For each problem a solution that a plain interpreter finds wrong."""
    programs = [changed(problem) for problem in problems]
    sources = [
        [
            f"{problem.public.preamble}\n{code}\n{problem.tests.source}\ncheck({problem.public.entry_point})"
            for code in codes
        ]
        for problem, codes in zip(problems, programs, strict=True)
    ]
    plain = subprocess.run(
        [sys.executable, "-I", "-c", PLAIN], check=True, input=json.dumps(sources), capture_output=True, text=True
    )
    return [codes[place] for codes, place in zip(programs, json.loads(plain.stdout), strict=True)]


@pytest.fixture(scope="module")
def verdicts(problems):
    return judged(problems, [problem.canonical_solution for problem in problems])


def test_every_solution_of_the_publisher_passes(problems, verdicts):
    assert [problem.id for problem, verdict in zip(problems, verdicts, strict=True) if not verdict.passed] == []
    assert len(verdicts) == 164


def test_no_solution_changed_for_the_worse_passes(problems, mutants):
    verdicts = judged(problems, mutants)
    assert [problem.id for problem, verdict in zip(problems, verdicts, strict=True) if verdict.passed] == []
    assert len({*mutants} - {problem.canonical_solution for problem in problems}) == 164
    assert {verdict.error for verdict in verdicts} >= {"assertion", "exception", "type"}


def test_host_and_judge_count_the_same_tests(problems, verdicts):
    assert [len(verdict.marks) for verdict in verdicts] == [count_tests(problem.tests.source) for problem in problems]


def judged(problems, codes):
    judge = judge_of(best_tier(), 20.0)
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda problem, code: judge.check(problem, code, problem.tests), problems, codes))


def changed(problem, at_most=6):
    """Up to ``at_most`` programs with one change each in the function asked for, then one that returns nothing."""
    tree = ast.parse(problem.canonical_solution)
    places = range(len(changeable(tree, problem.public.entry_point)))
    chosen = random.Random(problem.id).sample(places, min(at_most, len(places)))
    programs = [with_change(problem, place) for place in chosen]
    return [
        *programs,
        f"{problem.canonical_solution}\n\ndef {problem.public.entry_point}(*arguments):\n    return None\n",
    ]


def with_change(problem, place):
    tree = ast.parse(problem.canonical_solution)
    changeable(tree, problem.public.entry_point)[place].apply()
    return ast.unparse(tree)


@dataclass(frozen=True)
class Change:
    node: ast.AST
    field: str
    new: object

    def apply(self):
        setattr(self.node, self.field, self.new)


def changeable(tree, entry_point):
    """Every change that can be made to the function: other constants, opposite comparisons and operators."""
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == entry_point)
    body = [part for statement in function.body if not is_docstring(statement) for part in ast.walk(statement)]
    return [change for node in body if (change := change_of(node))]


def is_docstring(statement):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def change_of(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return Change(node, "value", not node.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
        return Change(node, "value", node.value + ("x" if isinstance(node.value, str) else 1))
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in OPPOSITE:
        return Change(node, "op", OPPOSITE[type(node.op)]())
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPPOSITE:
        return Change(node, "ops", [OPPOSITE[type(node.ops[0])](), *node.ops[1:]])
    return None
