"""However people write the tests of their own problems, a program that solves nothing does not pass them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from own_problems import EVEN, EVEN_FORMS, FORMS, MUTATING, ORDER, ORDER_FORMS, OTHERS, cheats
from small_problem import BWRAP, best_tier, checks, judged

from koderz_core.sandbox.judge import BoxedJudge


@pytest.fixture(scope="module")
def judge() -> Iterator[BoxedJudge]:
    judge = BoxedJudge(best_tier(), BWRAP, timeout_seconds=0.5, workers=1)
    yield judge
    judge.close()


def passing(form: str, programs: dict[str, str], judge: BoxedJudge, solution: str = "") -> list[str]:
    tests = checks(*FORMS[form])
    return [name for name, code in programs.items() if judged(code, tests, judge=judge, canonical=solution).passed]


@pytest.mark.parametrize("form", FORMS)
def test_only_a_program_that_solves_the_problem_passes(form: str, judge: BoxedJudge) -> None:
    honest = EVEN if form in EVEN_FORMS else ORDER
    assert passing(form, {"honest": honest, **cheats(form)}, judge) == ["honest"]


@pytest.mark.parametrize("form", ORDER_FORMS)
def test_a_solution_makes_no_difference_for_what_a_program_changes(form: str, judge: BoxedJudge) -> None:
    assert passing(form, {"honest": ORDER, **MUTATING}, judge, ORDER) == ["honest"]


TRUE_FOR_WRONG_ANSWERS = {
    "emptied argument": ("def double(a): a.clear()", ["a = [2, 1]", "candidate(a)", "assert a == sorted(a)"]),
    "membership": ("def double(x): return range(10**9)", ["assert 8 in candidate(4)"]),
    "membership without end": (
        "import itertools\ndef double(x): return itertools.count()",
        ["assert 8 in candidate(4)"],
    ),
    "no items": ("def double(x): return []", ["assert all(n > 0 for n in candidate(4))"]),
}


@pytest.mark.parametrize(("code", "lines"), TRUE_FOR_WRONG_ANSWERS.values(), ids=TRUE_FOR_WRONG_ANSWERS)
def test_what_the_documentation_warns_of_passes_as_in_one_process(
    code: str, lines: list[str], judge: BoxedJudge
) -> None:
    assert judged(code, checks(*lines), judge=judge).passed


def test_every_cheat_meets_some_form_and_there_are_hundreds_of_pairs() -> None:
    pairs = [(form, name) for form in FORMS for name in cheats(form)]
    assert {name for _, name in pairs} >= set(OTHERS)
    assert len(pairs) > 400
