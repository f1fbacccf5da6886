"""Presets are filled with the models that are here and forms show what can be chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from koderz_core.cli.quickstart import PARAMETERS
from koderz_core.conditions import of_kinds
from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.models.availability import Availability
from koderz_core.models.catalogue import resolve
from koderz_core.models.pricing import price
from koderz_core.models.providers import PROVIDERS
from koderz_core.plan.forms import Parameter, StrategyForm, strategy_forms
from koderz_core.plan.ineffective import ineffective
from koderz_core.plan.order import Order, Wanted, configuration
from koderz_core.plan.planner import draft
from koderz_core.plan.presets import CATALOGUE, Preset, presets
from koderz_core.records import Tier, Usage
from koderz_core.strategies import MODES, offered
from koderz_core.strategies.parameters import MOST

NOTHING = Availability("ollama/*", "local", False, "nothing answers", "ollama serve")


def ready(name: str, tier: Tier = "local") -> Availability:
    return Availability(name, tier, True, "here", "")


def preset(name: str, surveyed: Sequence[Availability]) -> Preset:
    return next(preset for preset in presets([ready("scripted/weak"), *surveyed]) if preset.name == name)


@pytest.mark.parametrize(
    ("here", "best"),
    [
        (["embedded/qwen2.5-coder-0.5b", "embedded/qwen2.5-coder-1.5b"], "embedded/qwen2.5-coder-1.5b"),
        (["embedded/qwen2.5-coder-1.5b", "ollama/qwen2.5-coder:32b"], "ollama/qwen2.5-coder:32b"),
        (["ollama/llama3:8b", "embedded/qwen2.5-coder-0.5b"], "embedded/qwen2.5-coder-0.5b"),
        (["embedded/smollm2-135m", "ollama/llama3:8b"], "ollama/llama3:8b"),
    ],
)
def test_local_roles_are_filled_with_the_best_local_model_that_is_ready(here: list[str], best: str) -> None:
    free = preset("all-free", [*map(ready, here), ready("openai/gpt-4o", "frontier")])
    assert set(free.configurations[0].models.values()) == {best}


def test_speed_takes_the_small_model_where_quality_takes_the_large_one() -> None:
    here = [ready("embedded/qwen2.5-coder-1.5b"), ready("embedded/qwen2.5-coder-0.5b")]
    assert preset("maximum-speed", here).configurations[0].models["coder"] == "embedded/qwen2.5-coder-0.5b"
    assert preset("maximum-quality", here).configurations[0].models["coder"] == "embedded/qwen2.5-coder-1.5b"


def test_without_any_local_model_a_quick_look_is_scripted_and_says_so() -> None:
    quick = preset("quick-look", [NOTHING])
    assert set(quick.configurations[0].models.values()) == {"scripted/weak"}
    assert "SCRIPTED" in quick.description
    assert "SCRIPTED" not in preset("quick-look", [ready("embedded/qwen2.5-coder-0.5b")]).description


@pytest.mark.parametrize("name", CATALOGUE)
@pytest.mark.parametrize("here", [[], [ready("embedded/qwen2.5-coder-0.5b")]])
def test_every_preset_can_be_planned(name: str, here: list[Availability]) -> None:
    settings = load_settings()
    chosen = preset(name, here)
    plan = draft(Order(chosen.configurations, chosen.problems), load("humaneval", settings), settings)
    assert len(plan.configurations) == len(chosen.configurations)


@pytest.mark.parametrize("name", [*CATALOGUE, "quickstart"])
def test_whatever_has_a_reviewer_leaves_an_iteration_after_its_first_review(name: str) -> None:
    ours = Preset("", "", "", (Wanted("supervised", {"coder": "scripted/weak"}, PARAMETERS),), "0:1")
    settings, chosen = load_settings(), ours if name == "quickstart" else preset(name, [])
    plan = draft(Order(chosen.configurations, "0:1"), load("humaneval", settings), settings)
    assert list(ineffective(plan)) == []


@pytest.mark.parametrize(("interval", "when"), [(5, "interval"), (3, "interval"), (3, "adaptive")])
def test_a_reviewer_who_is_never_asked_is_named_before_anything_is_paid(interval: int, when: str) -> None:
    settings = load_settings()
    few = {"max_iterations": 3 if when == "interval" else 2, "checkpoint_interval": interval, "checkpoint_when": when}
    wanted = [Wanted("supervised", {"coder": "scripted/weak"}, few), Wanted("repair", {"coder": "scripted/weak"}, {})]
    (said,) = ineffective(draft(Order(wanted, "0:1"), load("humaneval", settings), settings))
    assert said.startswith("No review will take place in supervised SCRIPTED weak: its checkpoint_interval")


def test_a_token_limit_for_repositories_is_named_if_no_problem_is_in_one() -> None:
    settings, wanted = load_settings(), [Wanted("direct", {"coder": "scripted/weak"}, {"repository_tokens": 500})]
    plan = draft(Order(wanted, "0:1"), load("humaneval", settings), settings)
    (said,) = ineffective(plan)
    assert said.startswith("repository_tokens has no effect in direct SCRIPTED weak")
    assert not list(ineffective(replace(plan, conditions={**plan.conditions, **of_kinds(["repo"])})))


def test_what_needs_an_amount_can_act_under_any_and_what_needs_a_count_only_under_several() -> None:
    forms = {(form.name, it.name): it for form in strategy_forms() for it in form.parameters}
    checks, retry = forms["router", "checks"], forms["supervised", "retry_temperature"]
    assert [checks.can_act({"error_usd": usd}) for usd in (0.0, 0.01)] == [False, True]
    assert [retry.can_act({"max_iterations": count}) for count in (1, 2)] == [False, True]


def test_a_mode_is_a_preset_with_the_best_model_that_is_here() -> None:
    both = preset("comparative", [ready("embedded/qwen2.5-coder-0.5b")])
    assert [(configuration.strategy, configuration.parameters) for configuration in both.configurations] == [
        ("direct", {}),
        ("supervised", {}),
    ]
    assert {model for configuration in both.configurations for model in configuration.models.values()} == {
        "embedded/qwen2.5-coder-0.5b"
    }
    assert not set(MODES) & set(offered())


def test_every_paid_model_of_a_preset_is_offered_now_and_has_a_price() -> None:
    settings = load_settings()
    wanted = [wanted for preset in CATALOGUE.values() for wanted in preset.configurations]
    cards = [resolve(str(model), settings) for wanted in wanted for model in wanted.models.values() if "/" in model]
    paid = [card for card in cards if PROVIDERS[card.provider].home]
    assert {card.tier for card in paid} == {"small_frontier", "frontier"}
    for card in paid:
        assert card.name in PROVIDERS[card.provider].names
        assert price(card, Usage(10, 10), 1.0, settings).usd


def undescribed(form: StrategyForm) -> list[Parameter]:
    return [
        replace(parameter, doc="", least=0, most=MOST, label="", group="Loop", needs="")
        for parameter in form.parameters
    ]


def test_a_form_shows_a_strategys_parameters_and_the_roles_it_asks_under_them() -> None:
    forms = {form.name: form for form in strategy_forms()}
    direct, supervised, repair, retry = (forms[name] for name in ("direct", "supervised", "repair", "retry"))
    assert (direct.asked({}), direct.asked({"spec": True})) == (("coder",), ("spec", "coder"))
    assert supervised.asked({"checkpoints": False}) == ("spec", "coder")
    assert Parameter("spec", False, "bool", "") in undescribed(direct)
    assert Parameter("max_iterations", 50, "int", "") in undescribed(supervised)
    assert Parameter("retry_temperature", 0.8, "float", "") in undescribed(supervised)
    assert direct.doc.startswith("Ask the coder once")
    assert Parameter("spec_prompt", "minimal", "str", "", ("minimal", "detailed")) in undescribed(supervised)
    assert {form.name for form in strategy_forms() if form.ablations} == {"supervised", "repair"}
    assert [role.name for role in forms["best_of"].roles] == ["coder", "tester", "judge"]
    assert Parameter("steps", "", "str", "") in undescribed(retry)
    assert (repair.asked({}), retry.asked({})) == (("coder",), ("coder",))
    assert Parameter("spec", False, "bool", "") in undescribed(repair)


def test_a_retry_is_recorded_as_it_was_before_ladders_had_steps() -> None:
    made = configuration(Wanted("retry", {"coder": "scripted/weak"}), load_settings())
    assert (made.strategy, "steps" in made.parameters) == ("ladder", False)
    warming = configuration(Wanted("warming", {"coder": "scripted/weak"}), load_settings())
    assert warming.parameters["steps"] == "0,0.3*2,0.5*2"


def test_aiders_protocol_is_two_tries_of_which_the_second_sees_the_failing_tests_at_temperature_0() -> None:
    (wanted,) = preset("aider", []).configurations
    made = configuration(wanted, load_settings())
    names = ("max_iterations", "temperature", "retry_temperature", "previous_error", "spec", "checkpoints")
    assert [made.parameters[name] for name in names] == [2, 0.0, 0.0, True, False, False]
    assert (made.strategy, made.gate, made.feedback) == ("supervised", "tests", "full")
