"""What was recorded, asked for once more in words: it comes to the very same, and what is changed in it is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from koderz_core.config import Settings
from koderz_core.datasets import load
from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.plan.ablations import ABLATIONS, with_ablations
from koderz_core.plan.clone import changes, is_plannable, order_of, settings_of, wanted_of
from koderz_core.plan.command_line import command_of, configuration_of, words_of
from koderz_core.plan.order import Order, Wanted, configuration
from koderz_core.plan.planner import draft
from koderz_core.records import Budget, Plan, Scalar
from koderz_core.runner.header import recorded_plan
from koderz_core.strategies import facts_of, offered
from koderz_core.strategies.labels import labels

GOLDEN = Path(__file__).parents[1] / "golden" / "schema-1.jsonl"
CODERS = ("scripted/weak", "scripted/strong")
EVERY = sorted({*offered()} - {"ensemble"})  # which needs a package that may not be there


def wanted(name: str, parameters: dict[str, Scalar]) -> Wanted:
    return Wanted(name, {"coder": CODERS if "coder" in facts_of(name).several else CODERS[0]}, parameters)


def planned(settings: Settings, *configurations: Wanted, problems: str = "0:2", **more: object) -> Plan:
    order = Order(configurations, problems, **more)  # type: ignore[arg-type]
    return draft(order, load("humaneval", settings), settings)


def ordered(plan: Plan, settings: Settings) -> Order:
    return order_of(plan, load("humaneval", settings))


def again(plan: Plan, settings: Settings) -> Plan:
    return draft(ordered(plan, settings), load("humaneval", settings), settings)


@pytest.mark.parametrize("name", EVERY)
def test_every_strategy_is_planned_again_as_it_was(settings: Settings, name: str) -> None:
    plan = planned(settings, wanted(name, {"max_tokens": 77}))
    assert again(plan, settings) == plan
    (one,) = ordered(plan, settings).configurations
    assert (one.strategy, one.parameters) == (name, {"max_tokens": 77})


@pytest.mark.parametrize("name", EVERY)
def test_every_strategy_is_said_again_as_the_same(settings: Settings, name: str) -> None:
    one = configuration(wanted(name, {"max_tokens": 100}), settings)
    assert configuration(configuration_of(words_of(wanted_of(one))), settings) == one


@pytest.mark.parametrize(("coders", "label", "name"), [(1, "ladder", "retry"), (2, "escalation", "escalation")])
def test_a_ladder_of_one_coder_is_not_called_a_preset_that_needs_several(
    settings: Settings, coders: int, label: str, name: str
) -> None:
    one = configuration(Wanted("retry", {"coder": CODERS[:coders]}, {"steps": "0"}), settings)
    again = wanted_of(one)
    assert (labels([one])[one.id].split()[0], again.strategy) == (label, name)
    assert configuration(configuration_of(words_of(again)), settings) == one


@pytest.mark.parametrize("name", ["supervised", "repair", "retry"])
def test_a_strategy_that_is_no_preset_any_more_is_planned_again_too(settings: Settings, name: str) -> None:
    plan = planned(settings, wanted(name, {"temperature": 0.5, "max_iterations": 3}))
    assert again(plan, settings).id == plan.id


def test_what_was_asked_of_single_roles_comes_back(settings: Settings) -> None:
    plan = planned(settings, wanted("supervised", {"reviewer.temperature": 0.3, "lessons": True}))
    assert again(plan, settings) == plan


def test_all_else_that_was_ordered_comes_back(settings: Settings) -> None:
    gated = Wanted("supervised", {"coder": CODERS[0], "reviewer": CODERS[1]}, {}, gate="split:0.5", feedback="count")
    more = {"seed": 7, "repeats": 3, "name": "named", "budget": Budget(2.0, 0.5, True)}
    plan = planned(settings, gated, problems="30:40", **more)
    assert plan.outside
    assert again(plan, settings) == plan


@pytest.mark.parametrize("problems", ["all", "3", "0:3", "0,7,HumanEval/9", "HumanEval/2,4,14", "sample:12"])
def test_problems_are_the_same_however_they_were_chosen(settings: Settings, problems: str) -> None:
    plan = planned(settings, wanted("direct", {}), problems=problems)
    assert again(plan, settings).id == plan.id
    assert "sample" not in ordered(plan, settings).problems


def test_the_coder_of_every_role_is_named_once(settings: Settings) -> None:
    one = configuration(Wanted("supervised", {"coder": "scripted/weak", "reviewer": "scripted/strong"}), settings)
    assert wanted_of(one).models == {"coder": ("scripted/weak",), "reviewer": ("scripted/strong",)}


def test_ablations_are_said_again_as_briefly_as_they_were_asked_for(settings: Settings) -> None:
    whole = Wanted("supervised", {"coder": CODERS[0], "reviewer": CODERS[1]}, {"max_iterations": 10})
    plan = planned(settings, *with_ablations([(whole, list(ABLATIONS))]))
    command = command_of(ordered(plan, settings))
    assert command.count("--configuration") == 1
    assert "--ablate all" in command


def test_what_was_changed_is_told_and_nothing_else(settings: Settings) -> None:
    plan = planned(settings, wanted("direct", {}))
    assert changes(plan, again(plan, settings)) == ()
    assert changes(replace(plan, budget=Budget(9.0)), plan) == ()
    other = replace(plan, seed=1, problems=plan.problems[:1], conditions={**plan.conditions, "test_timeout": 3.0})
    assert changes(other, plan) == ("problems", "seed", "test_timeout")


def test_what_todays_koderz_would_plan_otherwise_is_known(settings: Settings) -> None:
    dataset = load("humaneval", settings)
    plan = planned(settings, wanted("direct", {}))
    earlier = replace(plan, conditions={**plan.conditions, "coding prompt": "0"})
    assert is_plannable(plan, dataset, settings)
    assert is_plannable(replace(plan, conditions={**plan.conditions, "test_timeout": 3.0}), dataset, settings)
    assert not is_plannable(earlier, dataset, settings)
    assert not is_plannable(recorded_plan(GOLDEN), dataset, settings)


def test_settings_that_are_otherwise_now_are_said(settings: Settings) -> None:
    plan = planned(settings, wanted("direct", {}))
    assert settings_of(plan, settings) == {}
    under = replace(plan, conditions={"test_timeout": 7.5, "num_ctx": 4096})
    assert settings_of(under, settings) == {"--test-timeout": "7.5", "--num-ctx": "4096"}


def test_a_parameter_that_is_none_any_more_is_kept_and_so_refused(settings: Settings) -> None:
    one = planned(settings, wanted("direct", {})).configurations[0]
    kept = wanted_of(replace(one, parameters={**one.parameters, "gone": 1}))
    assert kept.parameters == {"gone": 1}
    with pytest.raises(UnknownNameError, match="gone"):
        words_of(kept)


def test_a_strategy_in_a_file_is_named_only_on_a_command_line(settings: Settings) -> None:
    plan = planned(settings, wanted("direct", {}))
    theirs = replace(plan.configurations[0], strategy="mine.py:Mine@0123456789ab")
    with pytest.raises(PlanError, match=r"mine\.py:Mine is a strategy in a file"):
        ordered(replace(plan, configurations=(theirs,)), settings)
