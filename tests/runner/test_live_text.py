"""Live text: bounded, safe to show, and gone when the call ends, however it ends."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from koderz_core.errors import Cancelled, ModelError
from koderz_core.protocols import OnText
from koderz_core.records import Completion, Request
from koderz_core.runner.live_text import TAIL_CHARACTERS, LiveAnswer, LiveText


def test_only_the_end_of_a_long_text_is_kept() -> None:
    live = LiveText()
    with live.showing("exp_1", "coder", "m") as append:
        for piece in ("lost", "x" * (TAIL_CHARACTERS - 3), "end"):
            append(piece)
        spoken = live.of("exp_1")
    assert spoken is not None
    assert spoken.text == "x" * (TAIL_CHARACTERS - 3) + "end"


def test_experiments_are_heard_apart() -> None:
    live = LiveText()
    with live.showing("exp_1", "coder", "m") as append:
        with live.showing("exp_2", "reviewer", "n") as ask:
            append("a")
            ask("")
            assert live.heard_at(["exp_2"]) is None  # no text has arrived
        assert live.of("exp_1") == LiveAnswer("coder", "m", "a")
        assert live.of("exp_2") is None


def test_of_calls_at_the_same_time_the_earliest_is_shown_and_the_end_of_it_does_not_affect_the_other() -> None:
    live, earlier = LiveText(), ExitStack()
    earlier.enter_context(live.showing("exp_1", "coder", "m"))("m says")
    with live.showing("exp_1", "coder", "m") as append:
        append("n says")
        assert live.of("exp_1") == LiveAnswer("coder", "m", "m says")
        earlier.close()
        append(" more")
        assert live.of("exp_1") == LiveAnswer("coder", "m", "n says more")
    assert live.of("exp_1") is None


def test_it_is_known_when_the_newest_piece_came_as_long_as_its_call_goes_on() -> None:
    live = LiveText(iter((10.0, 20.0)).__next__)
    with live.showing("exp_1", "coder", "m") as first:
        assert live.heard_at(["exp_1"]) is None
        first("a")
        with live.showing("exp_2", "coder", "m") as second:
            second("a")
            assert (live.heard_at(["exp_1"]), live.heard_at(["exp_1", "exp_2", "exp_3"])) == (10.0, 20.0)
        assert live.heard_at(["exp_2"]) is None


def test_what_no_screen_can_show_becomes_question_marks() -> None:
    live = LiveText()
    with live.showing("exp_1", "coder", "m") as append:
        append("a\ud800b")
        assert live.of("exp_1") == LiveAnswer("coder", "m", "a?b")


class Breaking:
    """Says a word, then fails; ``heard`` is what could be watched at that moment."""

    id = "scripted/it"

    def __init__(self, error: Exception, look: Callable[[], LiveAnswer | None]) -> None:
        self.error, self.look, self.heard = error, look, list[LiveAnswer | None]()

    def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        assert on_text is not None
        on_text("word")
        self.heard.append(self.look())
        raise self.error

    def close(self) -> None: ...


@pytest.mark.parametrize("error", [ModelError("gone"), Cancelled("stopped"), ZeroDivisionError()])
def test_text_of_a_call_that_fails_is_forgotten(
    bench: Callable[..., Any], error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    made = bench(lambda _: "")
    (experiment,) = made.plan.experiments()
    made.model = model = Breaking(error, lambda: made.live.of(experiment.id))
    made.go()
    assert model.heard == [LiveAnswer("coder", model.id, "word")]
    assert made.live.of(experiment.id) is None
