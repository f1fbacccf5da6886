"""A call that exceeds the time that its configuration gives a turn: an answer without text, which counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from koderz_core.events import CallFailed, CallFinished, CodeTested, ExperimentFinished, TurnSpoken
from koderz_core.protocols import OnText
from koderz_core.records import Completion, Request, Sampling, Usage

Make = Callable[..., Any]
RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"


@dataclass
class Tardy:
    """Runs out of time if ``late`` says so, else submits a right program."""

    late: Callable[[Request], bool]
    id: str = "scripted/it"

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        assert request.turn_seconds == 5.0
        out = self.late(request)
        return Completion("" if out else RIGHT, "timeout" if out else "stop", Usage(), 5.0, Sampling())

    def close(self) -> None:
        """It holds nothing."""


def ended(made: Any) -> ExperimentFinished:
    (end,) = (entry.event for entry in made.entries() if isinstance(entry.event, ExperimentFinished))
    return end


def test_a_late_answer_counts_against_its_configuration_and_is_paid_for(bench: Make) -> None:
    made = replace(bench(lambda _: "", turn_timeout=5.0), model=Tardy(lambda _: True))
    made.go()
    events = [entry.event for entry in made.entries()]
    assert (ended(made).outcome, ended(made).failure) == ("unsolved", "turn_timeout")
    (answer,) = (event for event in events if isinstance(event, CallFinished))
    assert (answer.finish, answer.seconds, answer.cost.usd) == ("timeout", 5.0, 0.25)
    assert not any(isinstance(event, CallFailed) for event in events)  # no retry: that would be another chance


def test_the_loop_continues_with_the_next_attempt(bench: Make) -> None:
    asked: list[Request] = []
    model = Tardy(lambda request: asked.append(request) or len(asked) == 1)
    made = replace(bench(lambda _: "", "repair", max_iterations=3, turn_timeout=5.0), model=model)
    made.go()
    errors = [entry.event.verdict.error for entry in made.entries() if isinstance(entry.event, CodeTested)]
    assert errors == ["turn_timeout", None]
    assert ended(made).outcome == "solved"


@pytest.mark.parametrize("strategy", ["debate", "swarm", "supervised"])
def test_strategies_continue_without_the_turns_of_others(bench: Make, strategy: str) -> None:
    """Only requests that ask for a program are answered in time: all advice is missing."""
    late = Tardy(lambda request: "```python" not in request.messages[0].content)
    made = replace(bench(lambda _: "", strategy, turn_timeout=5.0), model=late)
    made.go()
    assert ended(made).outcome == "solved"
    turns = [entry.event for entry in made.entries() if isinstance(entry.event, TurnSpoken)]
    assert all(turn.text == "" for turn in turns if turn.speaker != "judge")


def test_no_limit_changes_no_request(bench: Make) -> None:
    made = bench(lambda _: RIGHT)
    made.go()
    assert [request.turn_seconds for request in made.requests] == [None]
