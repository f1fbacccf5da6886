"""What the texts of tests tell without being run: how many they are, which names of a program they speak of."""

from __future__ import annotations

import ast
from functools import lru_cache

from koderz_core.parsing import parse
from koderz_core.records import Problem, TestSet
from koderz_core.sandbox.inside.instrument import tests_in


def count_tests(source: str) -> int:
    """How many tests the source of a test set holds: its asserts that depend on something.

    Raise SyntaxError (ValueError for a null byte) if it is not Python.
    """
    return tests_in(parse(source))


def number_of(tests: TestSet) -> int:
    """How many tests there are. Raise as ``count_tests``."""
    return len(tests.cases) if tests.cases else count_tests(tests.source)


def spoken_of(problem: Problem, tests: str) -> list[str]:
    """What the tests use of a program besides its function: names that the canonical solution defines."""
    public = problem.public
    names = _used(tests) & _defined(problem.canonical_solution)
    return sorted(names - _defined(public.preamble) - _defined(tests) - {public.entry_point})


@lru_cache(1024)
def _used(source: str) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(_parsed(source)) if isinstance(node, ast.Name))


@lru_cache(1024)
def _defined(source: str) -> frozenset[str]:
    """Functions, classes and constants at the top of a module."""
    names: set[str] = set()
    for top in _parsed(source).body:
        if isinstance(top, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(top.name)
        elif isinstance(top, ast.Assign):
            names |= {node.id for target in top.targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    return frozenset(names)


def _parsed(source: str) -> ast.Module:
    try:
        return parse(source)
    except (SyntaxError, ValueError):
        return ast.Module([], [])  # the worker says what is wrong with it
