"""When a review is due, and why then."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from koderz_core.prompts.attempts import Attempt
from koderz_core.records import Extracted, TestFailure, Verdict
from koderz_core.strategies.supervised import ADAPTIVE, INTERVAL, Rule, due


def tried(*passed: int, repeats: Sequence[int] = (), message: str = "", total: int = 4) -> list[Attempt]:
    """Attempts that pass so many tests, each with another wrong value unless there is a ``message``."""
    found = []
    for number, count in enumerate(passed, 1):
        failures = (TestFailure(count, f"f({count})", "0", None if message else str(number), message),) * bool(total)
        marks = ("P" * count + "F" * total)[:total]
        verdict = Verdict(marks, failures, True, "exception" if message else "assertion", message, 0.0, "none")
        found.append(Attempt(number, Extracted("", "fence"), verdict, 1 if number in repeats else None))
    return found


ADAPTING, PLAIN = Rule(ADAPTIVE, 5, 50), Rule(INTERVAL, 5, 50)


@pytest.mark.parametrize("rule", [ADAPTING, PLAIN])
def test_a_review_is_due_after_an_interval_at_the_latest(rule: Rule) -> None:
    rising = tried(0, 1, 2, 3, 1, 2, 3, 1, 2, 3)
    assert [due(rule, rising[:count], 0) for count in (4, 5)] == [None, "interval"]
    assert [due(rule, rising[:count], 3) for count in (7, 8)] == [None, "interval"]


def test_attempts_that_look_alike_make_it_due_sooner_if_it_adapts() -> None:
    assert due(ADAPTING, tried(2, 2, 2), 0) == "plateau"
    assert due(ADAPTING, tried(0, 0, 0), 0) == "plateau"
    assert due(ADAPTING, tried(1, 2, 2, message="ZeroDivisionError"), 0) is None
    assert due(ADAPTING, tried(2, 2, 2, message="ZeroDivisionError"), 0) == "repeated_error"
    assert due(ADAPTING, tried(1, 2, 3, repeats=[3]), 0) == "repeated_program"
    assert due(PLAIN, tried(2, 2, 2, repeats=[3]), 0) is None


def test_only_attempts_since_the_last_review_count_and_at_least_two() -> None:
    assert [due(ADAPTING, tried(*[2] * count), 3) for count in (4, 5, 6)] == [None, None, "plateau"]
    assert [due(ADAPTING, tried(*range(count), repeats=[4, 5]), 3) for count in (4, 5)] == [None, "repeated_program"]


def test_half_of_what_may_be_spent_makes_the_first_review_due_and_no_other() -> None:
    assert [due(ADAPTING, tried(1, 2), 0, half_spent=spent) for spent in (False, True)] == [None, "budget"]
    assert due(ADAPTING, tried(1, 2, 3, 1), 2, half_spent=True) is None
    assert [due(Rule(ADAPTIVE, 5, last), tried(1, 2), 0) for last in (4, 5)] == ["budget", None]
    assert due(PLAIN, tried(1, 2), 0, half_spent=True) is None


def test_nothing_is_due_after_the_last_iteration() -> None:
    alike = tried(1, 1, 1, 1, 1, repeats=[5])
    assert [due(Rule(when, 5, 5), alike, 0, half_spent=True) for when in (INTERVAL, ADAPTIVE)] == [None, None]


def test_what_is_not_told_is_no_sign_of_being_stuck() -> None:
    assert due(ADAPTING, tried(0, 0, 0, total=0), 0) is None
