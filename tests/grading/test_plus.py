"""Plus tests: what the canonical solution answers, computed once and kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from cases_as_asserts import as_asserts

from koderz_core.errors import DataError, UsageError
from koderz_core.grading.canonical import Expectations
from koderz_core.grading.suites import plus_tests
from koderz_core.records import Cases, PlusTests, Problem, PublicProblem, TestSet
from koderz_core.sandbox.reference import Answers, answers
from koderz_core.sandbox.tiers import number_of

HALF = "def half(x):\n    print('noise')\n    return x / 2\n"


def problem(solution: str, inputs: str, types: str = "", tolerance: float = 0.0, oracle: str = "") -> Problem:
    entry_point = solution.removeprefix("def ").partition("(")[0]
    return Problem(
        PublicProblem("p/0", "", entry_point), TestSet(), solution, PlusTests(inputs, types, tolerance, oracle)
    )


def plus_of(one: Problem, folder: Path) -> TestSet:
    return plus_tests(one, Expectations(folder, answers))


def accepts(tests: TestSet, program: str, entry_point: str) -> bool:
    scope: dict[str, object] = {}
    exec(program, scope)
    exec(as_asserts(tests).source, scope)
    try:
        scope["check"](scope[entry_point])  # type: ignore[operator]
    except AssertionError:
        return False
    return True


def test_each_input_is_a_case_with_what_the_canonical_solution_answers(tmp_path: Path) -> None:
    tests = plus_of(problem(HALF, "[[3], [4]]"), tmp_path)
    assert tests.cases == Cases("[3]\n[4]", "1.5\n2.0")
    assert (number_of(tests), tests.seconds) == (2, 4.0)
    assert as_asserts(tests).source.endswith(
        "    assert candidate(3) == like(1.5)\n    assert candidate(4) == like(2.0)\n"
    )


def test_of_a_search_it_only_counts_whether_something_was_found(tmp_path: Path) -> None:
    tests = plus_of(problem("def find(x):\n    return x\n", '[[null], [""], [true], [false]]', oracle="some"), tmp_path)
    assert tests.cases
    assert (tests.cases.answers, tests.cases.search) == ("false\ntrue\ntrue\nfalse", True)


@pytest.mark.parametrize(
    ("one", "wrong"),
    [
        (problem(HALF, "[[3], [Infinity]]"), "return x // 2"),
        (problem("def pairs(*x):\n    return list(x)\n", "[[[1], [2]]]", "tuples"), "return [[1], [2]]"),
        (problem("def many(x):\n    return [0] * x\n", "[[20000]]"), "return [0] * 19999 + [1]"),
        (problem("def long(x):\n    return 10 ** x\n", "[[9000]]"), "return 10 ** x + 1"),
        (problem("def search(x):\n    return object() if x else None\n", "[[0], [1]]", oracle="some"), "return x"),
        (problem("def bag(x):\n    return sorted(x)\n", "[[[2, 1]]]", oracle="set"), "return [1]"),
    ],
    ids=lambda value: value.public.entry_point if isinstance(value, Problem) else "",
)
def test_the_canonical_solution_passes_and_a_wrong_one_does_not(tmp_path: Path, one: Problem, wrong: str) -> None:
    tests, name = plus_of(one, tmp_path), one.public.entry_point
    assert accepts(tests, one.canonical_solution, name)
    parameters = "*x" if name == "pairs" else "x"
    assert not accepts(tests, f"def {name}({parameters}):\n    {wrong}\n", name)


def test_answers_are_computed_once_and_again_when_anything_changes(tmp_path: Path) -> None:
    asked: list[str] = []

    def reference(one: Problem, calls: Sequence[str]) -> Answers:
        asked.append(one.canonical_solution)
        return answers(one, calls)

    kept = Expectations(tmp_path, reference)
    same = [plus_tests(problem(HALF, "[[3]]"), kept) for _ in range(2)]
    plus_tests(problem(HALF, "[[4]]"), kept)
    plus_tests(problem(HALF.replace("2", "3"), "[[3]]"), kept)
    assert (same[0], len(asked)) == (same[1], 3)


def test_the_time_of_each_input_is_its_own() -> None:
    counting = problem("def count(x):\n    return sum(range(x))\n", "[]")
    quick, slow = answers(counting, ["[1]", "[3000000]"]).seconds
    assert slow > 10 * quick


def test_a_spoiled_cache_is_computed_anew(tmp_path: Path) -> None:
    tests = plus_of(problem(HALF, "[[3]]"), tmp_path)
    (kept,) = tmp_path.glob("*.json")
    kept.write_bytes(kept.read_bytes()[:9])
    assert plus_of(problem(HALF, "[[3]]"), tmp_path).cases == tests.cases


def test_in_a_box_a_canonical_solution_cannot_read_files(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    reading = problem(f"def f(x):\n    return open({str(tmp_path / 'secret')!r}).read()\n", "[[1]]")
    assert answers(reading, ["[1]"], boxed=False).outputs == ('"secret"',)
    with pytest.raises(DataError, match="PermissionError"):
        answers(reading, ["[1]"])


@pytest.mark.parametrize(
    ("solution", "said"),
    [
        ("def f(x):\n    return 1 / x\n", r"p/0.*ZeroDivisionError.*call 1"),
        ("def f(x:\n", "SyntaxError"),
        ("def f(x):\n    import os\n    os._exit(0)\n", "no answer"),
        ("def f(x):\n    return object()\n", "The plus tests of p/0 cannot be used"),
    ],
)
def test_a_canonical_solution_that_fails_is_told(tmp_path: Path, solution: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        plus_of(problem(solution, "[[1], [0]]"), tmp_path)


def test_problems_without_plus_tests_are_told_and_without_inputs_have_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"p/0 has no plus tests.*humaneval\+"):
        plus_of(Problem(PublicProblem("p/0", "", "f"), TestSet("x"), "x"), tmp_path)
    assert not plus_of(problem(HALF, "{}"), tmp_path)


def test_inputs_of_other_types_than_published_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="plus inputs of p/0"):
        plus_of(problem(HALF, "[[3]]", "lists of tuples"), tmp_path)
