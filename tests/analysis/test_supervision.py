"""What reviews by a stronger model contributed."""

from __future__ import annotations

import pytest
from made_courses import course
from msgspec.structs import replace

from koderz_core.analysis.rates import wilson
from koderz_core.analysis.supervision import supervision
from koderz_core.report.supervision import REVIEW

TRIALS = [
    course("p/1", "s"),
    course("p/2", "xx|s", passed=(0, 1, 0)),
    course("p/3", "xx|xx|x", passed=(2, 3, 2, 1, 3)),
    course("p/4", "xf"),
    course("p/5", "xx|c"),
]


def test_what_was_solved_alone_and_what_with_help_are_two_rates_with_denominators_of_their_own():
    found = supervision(TRIALS)
    assert (found.trials, found.before, found.after, found.never) == (4, 1, 1, 2)
    assert (found.alone.successes, found.alone.n, found.guided.successes, found.guided.n) == (1, 4, 1, 2)
    assert (found.guided.low, found.guided.high) == pytest.approx((wilson(1, 2).low, wilson(1, 2).high))


def test_a_review_is_seen_between_the_last_try_before_it_and_the_first_after_it():
    first, second = supervision(TRIALS).reviews
    assert (first.checkpoint, first.trials, first.before, first.after) == (1, 2, 0.5, 0.75)
    assert (first.change.value, first.change.low, first.change.high) == (0.25, -1.0, 1.0)  # two problems tell nothing
    assert (second.checkpoint, second.trials, second.change.value) == (2, 1, 0.5)
    assert second.change.low is None


def test_every_experiment_weighs_the_same_in_a_change_and_its_meaning_says_so():
    first, _ = supervision([*[TRIALS[1]] * 5, TRIALS[2]]).reviews  # +75 points in five repeats, -25 in one experiment
    assert (first.change.value, first.after - first.before) == (pytest.approx(3.5 / 6), pytest.approx(3.5 / 6))
    change = next(column for column in REVIEW if column.name == "change")
    assert "with equal weight for every experiment" in change.meaning


def test_a_program_from_before_the_review_that_is_handed_in_after_it_was_found_alone():
    late = course("p/1", "xx|s", codes=["one", "two", "one"])
    assert supervision([late, TRIALS[2]]).before == 1


def test_the_frontiers_part_of_the_dollars_is_told_beside_it():
    paid = [replace(trial, frontier_usd=trial.usd / 4) for trial in TRIALS]
    assert supervision(paid).frontier.usd == 0.25


def test_without_a_review_there_is_no_supervision_to_speak_of():
    assert supervision([TRIALS[0], TRIALS[3], TRIALS[4]]) is None
    assert supervision([]) is None
