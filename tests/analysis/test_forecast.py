"""How long a benchmark will still take."""

from __future__ import annotations

from typing import Any

import pytest

from koderz_core.analysis.timing import seconds_left
from koderz_core.records.rows import ExperimentRow

NOW = 1000.0


def row(configuration: str = "a", **known: Any) -> ExperimentRow:
    unknown: dict[str, Any] = dict.fromkeys(ExperimentRow.__slots__)
    return ExperimentRow(**{**unknown, "state": "planned", "configuration": configuration, **known})


def ended(seconds: float, configuration: str = "a") -> ExperimentRow:
    return row(configuration, state="finished", outcome="solved", seconds=seconds)


def running(since: float, configuration: str = "a", **known: Any) -> ExperimentRow:
    return row(configuration, state="running", started_at=NOW - since, **known)


def test_while_nothing_has_ended_nothing_is_known() -> None:
    assert seconds_left([row(), running(5)], NOW) is None


@pytest.mark.parametrize("outcome", ["error", "cancelled"])
def test_what_ended_without_a_result_waits_again_and_says_nothing_of_how_long_one_takes(outcome: str) -> None:
    spoiled = row(state="finished", outcome=outcome, seconds=0.5)
    assert seconds_left([spoiled, spoiled], NOW) is None
    assert seconds_left([spoiled, spoiled, ended(10)], NOW) == 20


def test_what_runs_again_has_not_ended_whatever_it_came_to_before() -> None:
    assert seconds_left([ended(10), running(4, outcome="error", seconds=0.5)], NOW) == 6


def test_once_all_has_ended_nothing_is_left() -> None:
    assert seconds_left([ended(5)], NOW) == 0


def test_what_waits_takes_the_mean_of_its_configuration() -> None:
    assert seconds_left([ended(10), ended(20), ended(100, "b"), row(), row("b")], NOW) == 15 + 100


def test_a_configuration_of_which_nothing_has_ended_takes_the_mean_of_all() -> None:
    assert seconds_left([ended(10), ended(30, "b"), row("c")], NOW) == 20


def test_what_runs_takes_what_is_left_of_its_mean_and_never_less_than_nothing() -> None:
    assert seconds_left([ended(10), running(4)], NOW) == 6
    assert seconds_left([ended(10), running(400)], NOW) == 0


def test_those_that_run_share_the_work() -> None:
    assert seconds_left([ended(10), running(10), running(10), row(), row()], NOW) == 10
