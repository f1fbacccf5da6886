"""Asking models for real: who does not answer is told, and speeds are what the answers say."""

from __future__ import annotations

from itertools import count

import pytest

from koderz_core.config import Settings
from koderz_core.diagnosis.model_probes import SPEED_PROMPTS, Speed, ask_each, speed
from koderz_core.errors import ModelError
from koderz_core.models.availability import Availability
from koderz_core.records import Completion, Sampling, Usage


def answer(seconds: float, first: float | None, tokens: int | None) -> Completion:
    return Completion("ready", "stop", Usage(7, tokens), seconds, Sampling(), first)


def test_each_ready_model_but_the_scripted_is_asked_and_who_fails_is_missing(settings: Settings) -> None:
    def ask(model: str, prompt: str, tokens: int) -> Completion:
        if model == "ollama/broken":
            raise ModelError("It has no weights. Pull it again.")
        return answer(0.5, None, 1)

    names = (("ollama/good", True), ("ollama/broken", True), ("ollama/off", False), ("scripted/weak", True))
    surveyed = [Availability(name, "local", ready, "", "") for name, ready in names]
    good, broken = ask_each(ask, surveyed, settings)
    assert (good.subject, good.state, good.said) == (
        "ollama/good",
        "ready",
        "answered in 0.50 s; input + output: 7 + 1 tokens; finish reason: stop",
    )
    assert (broken.state, broken.cure) == ("missing", "Pull it again.")


def test_of_a_paid_provider_only_the_cheapest_is_asked_and_of_a_local_one_every_model(settings: Settings) -> None:
    names = (
        "openai/gpt-4o",
        "openai/unpriced",
        "openai/gpt-4o-mini",
        "anthropic/claude-opus-4-5",
        "ollama/a",
        "ollama/b",
    )
    local = ("ollama/a", "ollama/b")
    surveyed = [Availability(name, "local" if name in local else "frontier", True, "", "") for name in names]
    asked = [found.subject for found in ask_each(lambda *_: answer(0.5, None, 1), surveyed, settings)]
    assert asked == [*local, "openai/gpt-4o-mini", "anthropic/claude-opus-4-5"]


def test_speed_counts_from_the_first_token_and_leaves_the_warm_up_out() -> None:
    answers = iter([answer(60.0, 59.0, 2), answer(3.0, 1.0, 101), answer(2.5, 0.5, 101), answer(4.5, 0.5, 101)])
    found = speed(lambda *_: next(answers), "ollama/a")
    assert found == Speed("ollama/a", 50.0, 0.5, 3.0, 303, 60.0)
    assert next(answers, None) is None


def test_what_a_server_does_not_tell_is_unknown() -> None:
    found = speed(lambda *_: answer(2.0, None, None), "vllm/a")
    assert (found.tokens_per_second, found.first_token_seconds, found.output_tokens) == (None, None, None)


@pytest.mark.parametrize("good", range(1 + len(SPEED_PROMPTS)))
def test_a_model_that_fails_is_told_and_no_speed_is_made_up(good: int) -> None:
    asked = count()

    def ask(*_: object) -> Completion:
        if next(asked) == good:
            raise ModelError("Gone.")
        return answer(1.0, 0.5, 10)

    assert speed(ask, "ollama/a") == Speed("ollama/a", fault="Gone.")
