"""What a model lacks is found when a benchmark is planned, and said with the reason and what to do."""

from __future__ import annotations

import pytest

from koderz_core.config import Settings, load_settings
from koderz_core.datasets import load
from koderz_core.errors import PlanError
from koderz_core.plan.order import Order, Wanted
from koderz_core.plan.planner import draft
from koderz_core.records import Plan, Scalar


def planned(settings: Settings, coder: str, strategy: str = "supervised", **parameters: Scalar) -> Plan:
    models = {"coder": coder, "reviewer": "claude-opus-5-5"}
    order = Order([Wanted(strategy, models, parameters)], "HumanEval/0")
    return draft(order, load("humaneval", settings), settings)


@pytest.mark.parametrize("coder", ["claude-opus-5-5", "gpt-6-luna", "o3"])
@pytest.mark.parametrize("name", ["temperature", "retry_temperature"])
def test_a_temperature_that_the_coder_does_not_take_is_refused(settings: Settings, coder: str, name: str) -> None:
    with pytest.raises(
        PlanError, match=f"cannot take the role coder of supervised: it does not accept a temperature .*{name} is 0.3"
    ):
        planned(settings, coder, **{name: 0.3})


def test_at_the_default_it_samples_as_its_provider_has_it(settings: Settings) -> None:
    assert planned(settings, "claude-opus-5-5").configurations
    assert planned(settings, "gpt-6-luna", temperature=0.0, retry_temperature=0.8).configurations


def test_a_reviewer_that_takes_no_temperature_stops_nobody_from_choosing_the_coders(settings: Settings) -> None:
    assert planned(settings, "gpt-oss:20b", temperature=0.3, retry_temperature=1.0).configurations
    assert planned(settings, "scripted/weak", temperature=0.3).configurations


def test_an_answer_longer_than_the_context_is_refused_with_what_to_do() -> None:
    small = load_settings(num_ctx=1024)
    with pytest.raises(PlanError, match=r"max_tokens is 1024, but .* model's context of 1024 tokens.* --num-ctx"):
        planned(small, "gpt-oss:20b", "direct")
    assert planned(small, "gpt-oss:20b", "direct", max_tokens=512).configurations


def test_a_spec_or_a_review_has_a_limit_of_its_own_that_must_fit_too() -> None:
    small = load_settings(num_ctx=2048)
    with pytest.raises(
        PlanError, match=r"cannot take the role spec of .*review_tokens is 2048, .* Lower --review-tokens, or"
    ):
        planned(small, "gpt-oss:20b")
    assert planned(small, "gpt-oss:20b", review_tokens=1024).configurations
    with pytest.raises(PlanError, match=r"review_tokens is 2048, .* 2048 tokens\. Give the model more"):
        planned(small, "gpt-oss:20b", "direct", spec=True)


def test_models_toml_may_say_that_a_model_takes_it(settings: Settings) -> None:
    settings.home.mkdir()
    (settings.home / "models.toml").write_text('["openai/gpt-6-luna".capabilities]\ntemperature = true\n')
    assert planned(settings, "gpt-6-luna", temperature=0.3).configurations


@pytest.mark.parametrize("parameters", [{}, {"temperature": 1.0}])
def test_fresh_samples_are_refused_of_a_coder_that_takes_no_temperature(
    settings: Settings, parameters: dict[str, Scalar]
) -> None:
    with pytest.raises(
        PlanError,
        match=r"claude-opus-5-5 cannot take the role coder of \w+: it does not accept a temperature .*another",
    ):
        planned(settings, "claude-opus-5-5", "retry", **parameters)
    assert planned(settings, "gpt-oss:20b", "retry", **parameters).configurations
    assert planned(settings, "claude-opus-5-5", "repair").configurations


@pytest.mark.parametrize(("strategy", "parameters"), [("warming", {}), ("ladder", {"steps": "0.7"}), ("best_of", {})])
def test_steps_and_samples_are_refused_of_a_coder_that_takes_no_temperature(
    settings: Settings, strategy: str, parameters: dict[str, Scalar]
) -> None:
    with pytest.raises(
        PlanError, match=f"claude-opus-5-5 cannot take the role coder of {strategy}: it does not accept a temperature"
    ):
        planned(settings, "claude-opus-5-5", strategy, **parameters)
    assert planned(settings, "gpt-oss:20b", strategy, **parameters).configurations


def test_an_escalation_asks_each_coder_once_so_its_last_may_take_no_temperature(settings: Settings) -> None:
    order = Order([Wanted("escalation", {"coder": ["gpt-oss:20b", "claude-opus-5-5"]})], "HumanEval/0")
    (made,) = draft(order, load("humaneval", settings), settings).configurations
    assert made.models == {"coder": ("ollama/gpt-oss:20b", "anthropic/claude-opus-5-5")}


def test_a_history_that_leaves_no_room_for_the_rest_of_a_prompt_is_refused_with_what_fits() -> None:
    small = load_settings(num_ctx=8192)
    with pytest.raises(PlanError, match=r"history_tokens \(5000\), .* at most 4168 minus the tokens of the problem"):
        planned(small, "gpt-oss:20b", history_tokens=5000)
    assert planned(small, "gpt-oss:20b", history_tokens=4168).configurations
