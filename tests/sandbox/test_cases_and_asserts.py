"""Plus tests as cases give every program, right or one change away from it, the verdict that asserts give it."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from cases_as_asserts import as_asserts
from mutants import changed
from small_problem import best_tier, judge_of

from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.grading.canonical import Expectations
from koderz_core.grading.suites import plus_tests
from koderz_core.sandbox.reference import answers

CHOSEN = {
    "humaneval+": (2, 3, 7, 20, 32, 33, 112, 115, 136, 148),
    "mbpp+": (2, 63, 75, 106, 124, 125, 223, 252, 401, 404, 580, 722, 769),
}
"""Plain ones, floats, tuples, an answer out of arguments, sets of answers, complex numbers, large answers."""
MOST_INPUTS = 150


def shortened(tests):
    calls, right = ("\n".join(column.split("\n")[:MOST_INPUTS]) for column in (tests.cases.calls, tests.cases.answers))
    return replace(tests, cases=replace(tests.cases, calls=calls, answers=right), seconds=1.0)


def differ(by_cases, by_asserts):
    """Asserts are not run any further when an answer is no plain data: there it is only that it does not pass."""
    if "not plain data" in by_asserts.message or "timeout" in (by_cases.error, by_asserts.error):
        return by_cases.passed or by_asserts.passed
    return told(by_cases) != told(by_asserts)


def told(verdict):
    """All but times; members of a set have no order."""
    failures = [
        (failure.index, sorted(failure.source), failure.expected, failure.actual, failure.message)
        for failure in verdict.failures
    ]
    return (verdict.marks, failures, verdict.completed, verdict.error, sorted(verdict.message), verdict.passed)


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.filterwarnings("ignore:invalid escape sequence")  # of a publisher
def test_cases_and_asserts_agree(name, test_data, tmp_path):
    found = load(name, load_settings(datasets_dir=test_data)).problems
    numbers = {str(number) for number in CHOSEN[name]}
    problems = [problem for problem in found if problem.id.rpartition("/")[2] in numbers]
    kept = Expectations(tmp_path, answers)
    pairs = [
        (problem, tests, code)
        for problem in problems
        for tests in [shortened(plus_tests(problem, kept))]
        for code in (problem.canonical_solution, *changed(problem, 2))
    ]
    with ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(both, pairs))
    assert [(item.id, code) for (item, _, code), seen in zip(pairs, verdicts, strict=True) if differ(*seen)] == []
    assert {by_cases.passed for by_cases, _ in verdicts} == {True, False}


def both(pair):
    problem, tests, code = pair
    return [judge_of(best_tier()).check(problem, code, form) for form in (tests, as_asserts(tests))]
