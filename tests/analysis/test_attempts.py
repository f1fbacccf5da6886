"""What happens attempt by attempt."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from made_courses import answers, course
from msgspec.structs import replace

from koderz_core.analysis.attempts import Repeats, Transition, attempt_by_attempt, attempts, repeats, transitions
from koderz_core.analysis.rates import wilson
from koderz_core.report.attempts import ABOUT_ATTEMPTS, attempts_section


def test_the_hazard_is_of_those_that_came_to_an_attempt():
    trials = [course("p/1", "s"), course("p/2", "xs"), course("p/3", "xf"), course("p/4", "xx"), course("p/5", "xc")]
    first, second = attempts(trials)
    assert (first.at_risk, first.solved, first.false_passes, first.hazard.value) == (4, 1, 0, 0.25)
    assert (second.at_risk, second.solved, second.false_passes) == (3, 1, 1)
    assert (second.hazard.low, second.hazard.high) == pytest.approx((wilson(1, 3).low, wilson(1, 3).high))


def test_where_programs_pass_the_gate_before_the_last_attempt_it_is_said_that_no_single_attempt_solved():
    made = {"A": [course("p/1", "xs"), course("p/2", "xf")], "B": [course("p/1", "xs"), course("p/2", "fs")]}
    found = {("bench", letter): attempt_by_attempt(trials, {}) for letter, trials in made.items()}
    loop, choosing = (SimpleNamespace(letter=letter, key=("bench", letter)) for letter in made)
    assert attempts_section([loop], found).remarks == (ABOUT_ATTEMPTS,)
    _, said = attempts_section([loop, choosing], found).remarks
    assert said.startswith("In some experiments of B, a program passed the gate before the last attempt")


def test_the_tests_passed_are_means_over_those_tested():
    first, second = attempts([course("p/1", "xs", passed=(1, 4)), course("p/2", "xx", passed=(0, 2)), *answers([1])])
    assert (first.tests, first.tested, first.at_risk) == (0.125, 2, 3)
    assert (second.tests, second.tested) == (0.75, 2)
    assert attempts(answers([1]))[0].tests is None
    assert attempts([]) == ()


def test_errors_are_followed_from_one_attempt_to_the_next():
    trial = course("p/1", "xxxs")
    trial = replace(trial, tries=(replace(trial.tries[0], error="syntax"), *trial.tries[1:]))
    assert transitions([trial, course("p/2", "xx"), course("p/3", "fx")]) == (
        Transition("assertion", "assertion", 2),
        Transition("syntax", "assertion", 1),
        Transition("assertion", None, 1),
        Transition(None, "assertion", 1),
    )


def test_a_program_that_comes_again_in_its_own_trial_is_a_repeat():
    trials = [course("p/1", "xxxx", codes="abab"), course("p/2", "xx", codes="ac")]
    lost = replace(trials[1], tries=tuple(replace(try_, code=None) for try_ in trials[1].tries))
    assert repeats(trials, {}) == Repeats(programs=6, repeated=2, trials=1)
    assert repeats(trials, {"a": "same", "c": "same"}) == Repeats(programs=6, repeated=3, trials=2)
    assert repeats([lost], {}) == Repeats(0, 0, 0)
