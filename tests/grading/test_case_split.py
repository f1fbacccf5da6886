"""Base tests that consist of cases: gates, what stays held out, and the time limit of each case."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from koderz_core.datasets.programs import output_tests
from koderz_core.errors import DataError
from koderz_core.grading.canonical import Canonical
from koderz_core.grading.problem_tests import Divider
from koderz_core.grading.testsets import Outside, Split, TestPolicy, check_tests, score_kind, split, unseen
from koderz_core.records import Observed, Problem, PublicProblem, TestSet, Verdict

PAIRS = [(f"{number}\n", f"{2 * number}\n") for number in range(10)]
SAMPLES = output_tests(PAIRS[:2])


def problem(tests: TestSet, samples: TestSet = SAMPLES, solution: str = "print(2 * int(input()))") -> Problem:
    return Problem(PublicProblem("doubles/1", "Double it.", "run", kind="program"), tests, solution, samples=samples)


def divided(of: Problem, gate: str, seed: int = 0) -> Split:
    parts = split(of, TestPolicy(gate, seed))
    assert isinstance(parts, Split)
    return parts


def lines(tests: TestSet) -> list[tuple[str, ...]]:
    assert tests.cases is not None
    columns = (tests.cases.calls, tests.cases.answers, tests.cases.limits)
    return list(zip(*(column.split("\n") for column in columns if column), strict=True))


def test_a_split_gate_takes_a_part_of_the_cases_that_the_seed_decides() -> None:
    of = problem(output_tests(PAIRS, seconds=2))
    parts = divided(of, "split:0.3", seed=1)
    assert (len(lines(parts.gate)), len(lines(parts.rest))) == (3, 7)
    assert sorted(lines(parts.gate) + lines(parts.rest)) == sorted(lines(of.tests))  # each with its answer and limit
    assert divided(of, "split:0.3", seed=1) == parts
    assert divided(of, "split:0.3", seed=2) != parts
    assert score_kind(unseen(parts, gate_was_seen=True)) == "held_out"


def test_equal_inputs_stay_on_one_side_and_one_input_cannot_be_split() -> None:
    twice = output_tests([pair for pair in PAIRS[:2] for _ in range(3)])
    parts = divided(problem(twice), "split:0.5")
    assert len(set(lines(parts.gate))) == len(set(lines(parts.rest))) == 1
    assert isinstance(split(problem(output_tests(PAIRS[:1] * 3)), TestPolicy("split:0.5")), Outside)


def test_a_gate_of_examples_consists_of_the_samples_which_are_not_held_out() -> None:
    parts = divided(problem(output_tests(PAIRS)), "examples")
    assert parts.gate == SAMPLES
    assert (len(lines(parts.shown)), len(lines(parts.rest)), len(lines(parts.base))) == (2, 8, 10)
    without = split(problem(output_tests(PAIRS), TestSet()), TestPolicy("examples"))
    assert isinstance(without, Outside)


def test_a_problem_without_a_case_is_refused() -> None:
    check_tests(problem(output_tests(PAIRS)))
    with pytest.raises(DataError, match="contain no assert that can fail"):
        check_tests(problem(TestSet()))


class Timed:
    """A judge whose canonical solution takes as many seconds as the number in its input."""

    isolation = "strong"

    def check(self, problem: Problem, code: str, tests: TestSet) -> Verdict:
        assert tests.cases is not None
        assert not tests.cases.limits  # nothing limits it but the longest time
        seconds = tuple(float(call.strip('[]"n\\')) for call in tests.cases.calls.split("\n"))
        return Verdict("P" * len(seconds), (), True, None, "", sum(seconds), "strong", test_seconds=seconds)

    def probe(self, problem: PublicProblem, code: str, calls: Sequence[str]) -> tuple[Observed, ...]:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("given", "policy", "limits"),
    [
        (0, TestPolicy(by_canonical=True), ["1", "4", "12"]),  # four times the solution's time, at least a second
        (5, TestPolicy(by_canonical=True), ["5", "5", "12"]),  # the publisher's limit, unless the solution needs more
        (5, TestPolicy(seconds=0.5), ["0.5", "0.5", "0.5"]),  # what the user has set
    ],
)
def test_the_limit_of_each_case(given: float, policy: TestPolicy, limits: list[str], tmp_path: Path) -> None:
    def never() -> object:
        raise AssertionError

    divider = Divider(Canonical(tmp_path, Timed), never)  # type: ignore[arg-type]  # there are no plus tests
    whole = divider.divide(problem(output_tests([PAIRS[0], PAIRS[1], PAIRS[3]], seconds=given)), policy)
    assert isinstance(whole, Split)
    assert whole.base.cases is not None
    assert whole.base.cases.limits.split("\n") == limits
