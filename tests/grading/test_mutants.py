"""Mutants of a solution: one fault each, in the code that a program must write, and none that changes nothing."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from koderz_core.grading.mutants import mutants
from koderz_core.records import Problem, PublicProblem, TestSet

GIVEN = "def half(x):\n    return x // 2\n\n\n"


def problem(solution: str, preamble: str = "", name: str = "f") -> Problem:
    return Problem(PublicProblem("p/0", "", name, preamble), TestSet(), solution)


def changes(body: str) -> set[str]:
    return {mutant.change for mutant in mutants(problem(f"def f(a, b=None):\n    {body}\n"), None)}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return a < b", {"a < b -> a <= b", "a < b -> a >= b", "return a < b -> return True"}),
        ("return a[b:] if a and b else 1", {"a and b -> a or b", "1 -> 2", "1 -> 0", "b: -> b + 1:", "b: -> b:-1"}),
        ("a += 'x'; return a", {"removed: a += 'x'", "a += 'x' -> a = 'x'", "'x' -> ''"}),
        ("return [c for c in range(a) if not c]", {"range(a) -> range(a + 1)", "not c -> c", "range(a) -> a"}),
        ("return sorted(a.lower())", {"a.lower() -> a", "sorted(a.lower()) -> a.lower()"}),
    ],
)
def test_a_mutant_has_one_change_of_a_known_kind(body: str, expected: set[str]) -> None:
    assert expected <= changes(body)


def test_mutants_differ_from_the_solution_and_from_each_other_once_compiled() -> None:
    same = problem('def f(a):\n    """Text."""\n    x: int = 0\n    return a if a else a\n')
    codes = [mutant.code for mutant in mutants(same, None)]
    assert len(set(codes)) == len(codes) > 0
    assert all("Text." in code and ": int" in code for code in codes)
    assert "a if a else a -> a if a else a" not in {mutant.change for mutant in mutants(same, None)}


def test_given_code_and_the_guard_of_a_script_stay_unchanged() -> None:
    own = "def f(x):\n    return half(x)\n"
    found = mutants(problem(GIVEN + own + "\nif __name__ == '__main__':\n    print(f(4))\n", GIVEN), None)
    assert found
    assert all(ast.dump(ast.parse(mutant.code).body[0]) == ast.dump(ast.parse(GIVEN).body[0]) for mutant in found)
    assert all("print(f(4))" in mutant.code and "'__main__'" in mutant.code for mutant in found)


def test_a_sample_is_drawn_by_the_seed_and_a_solution_that_is_not_python_has_no_mutants() -> None:
    long = problem("def f(x):\n" + "".join(f"    x += {n}\n" for n in range(2, 40)) + "    return x\n")
    assert len(mutants(long)) == 30
    assert mutants(long) == mutants(long) != mutants(long, seed=1)
    assert mutants(replace(long, canonical_solution="def f(:")) == mutants(replace(long, canonical_solution="")) == ()
