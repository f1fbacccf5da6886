"""Correct modules of Exercism raise no alarm, however they are written: variants of the published solutions."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from attacks.judges import open_judge
from sample import thinned

from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.datasets.sources import placed, sources_of
from koderz_core.records import Problem
from koderz_core.sandbox.judge import BoxedJudge

SETTINGS = load_settings(datasets_dir=Path(os.environ.get("KODERZ_TEST_DATA", "/nowhere")))
PROBLEMS = list(load("exercism", SETTINGS).problems) if placed(sources_of("exercism")[0], SETTINGS) else []
SLOW = {"exercism/paasio", "exercism/killer-sudoku-helper", "exercism/alphametics"}
SHARED = {"exercism/accumulate", "exercism/gigasecond", "exercism/react"}
SECONDS = 30.0
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the tier is of Linux"),
    pytest.mark.skipif(not PROBLEMS, reason="KODERZ_TEST_DATA has no archive of Exercism"),
]


@pytest.fixture(scope="module")
def judge() -> Iterator[BoxedJudge]:
    opened = open_judge("strong")
    yield opened
    opened.close()


def annotated(code: str) -> str:
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = node.returns or ast.Constant("object")
    return ast.unparse(ast.fix_missing_locations(tree))


def reordered(code: str) -> str:
    """Methods without decorators in the reverse order."""
    tree = ast.parse(code)
    for kind in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        plain = [node for node in kind.body if isinstance(node, ast.FunctionDef) and not node.decorator_list]
        turned = iter(reversed(plain))
        kind.body = [next(turned) if node in plain else node for node in kind.body]
    return ast.unparse(tree)


def renamed(code: str) -> str:
    """Variables of functions without inner scopes have other names."""
    tree = ast.parse(code)
    inner = (ast.Global, ast.Nonlocal, ast.Lambda, ast.FunctionDef, ast.ClassDef, ast.comprehension)
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        if any(isinstance(part, inner) for node in function.body for part in ast.walk(node)):
            continue
        names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
        given = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
        own = {node.id for node in names if isinstance(node.ctx, ast.Store)} - given
        for node in names:
            node.id = f"other_{node.id}" if node.id in own else node.id
    return ast.unparse(tree)


VARIANTS = (annotated, reordered, renamed)
TRIED = thinned(
    [problem for problem in PROBLEMS if problem.id not in SLOW],
    "exercises whose variants are judged",
    always=[problem for problem in PROBLEMS if problem.id in SHARED],
)


@pytest.mark.parametrize(
    ("problem", "variant"),
    thinned(
        list(product(TRIED, VARIANTS)),
        "variants of the other exercises",
        always=[(problem, renamed) for problem in TRIED if problem.id in SHARED],
    ),
    ids=lambda part: part.id if isinstance(part, Problem) else part.__name__,
)
def test_a_variant_of_a_solution_passes_in_both_ways(
    judge: BoxedJudge, problem: Problem, variant: Callable[[str], str]
) -> None:
    code = variant(problem.canonical_solution)
    for shared in (False, True):
        verdict = judge.check(problem, code, replace(problem.tests, shared=shared, seconds=SECONDS))
        assert verdict.passed, verdict.message
