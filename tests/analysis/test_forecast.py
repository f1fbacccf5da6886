"""How long a benchmark will still take."""

from __future__ import annotations

from typing import Any

from koderz_core.analysis.forecast import seconds_left
from koderz_core.records.rows import ExperimentRow

NOW = 1000.0


def row(configuration: str = "a", **known: Any) -> ExperimentRow:
    unknown: dict[str, Any] = dict.fromkeys(ExperimentRow.__slots__)
    return ExperimentRow(**{**unknown, "state": "planned", "configuration": configuration, **known})


def ended(seconds: float, configuration: str = "a") -> ExperimentRow:
    return row(configuration, state="finished", outcome="solved", seconds=seconds)


def running(since: float, configuration: str = "a") -> ExperimentRow:
    return row(configuration, state="running", started_at=NOW - since)


def test_while_nothing_has_ended_nothing_is_known() -> None:
    assert seconds_left([row(), running(5)], NOW) is None


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
