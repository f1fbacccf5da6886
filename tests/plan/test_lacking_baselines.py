"""What a supervised benchmark is held against: which direct configurations an order lacks."""

from __future__ import annotations

import pytest

from koderz_core.config import Settings
from koderz_core.plan.baselines import lacking_baselines
from koderz_core.plan.command_line import command_of
from koderz_core.plan.order import Order, Wanted
from koderz_core.records import Scalar

LOCAL, MINI, FRONTIER = "embedded/qwen2.5-coder-0.5b", "openai/gpt-4o-mini", "anthropic/claude-opus-4-5"


def supervised(coder: str = LOCAL, reviewer: str = FRONTIER, **parameters: Scalar) -> Wanted:
    return Wanted("supervised", {"coder": coder, "spec": reviewer, "reviewer": reviewer}, parameters)


def lacked(settings: Settings, *wanted: Wanted) -> list[object]:
    found = lacking_baselines(Order(wanted), settings)
    assert {configuration.strategy for configuration in found} <= {"direct"}
    return [configuration.models["coder"] for configuration in found]


def test_supervised_lacks_its_stronger_models_and_its_coder_each_once(settings: Settings) -> None:
    assert lacked(settings, supervised()) == [FRONTIER, LOCAL]
    assert lacked(settings, supervised(), supervised(reviewer=MINI), supervised(checkpoints=False)) == [
        FRONTIER,
        LOCAL,
        MINI,
    ]


def test_one_local_model_in_all_roles_lacks_itself_only(settings: Settings) -> None:
    assert lacked(settings, supervised(reviewer=LOCAL)) == [LOCAL]
    assert lacked(settings, supervised(coder="ollama/a", reviewer="ollama/b")) == ["ollama/a"]


def test_a_model_that_is_never_asked_is_no_baseline(settings: Settings) -> None:
    assert lacked(settings, supervised(spec=False, checkpoints=False)) == [LOCAL]
    assert lacked(settings, Wanted("repair", {"coder": LOCAL, "reviewer": FRONTIER})) == [LOCAL]


def test_what_is_asked_directly_already_is_not_asked_twice(settings: Settings) -> None:
    mine = Wanted("direct", {"coder": FRONTIER}, {"max_tokens": 512})
    assert lacked(settings, supervised(), mine) == [LOCAL]
    after_a_spec = Wanted("direct", {"coder": FRONTIER}, {"spec": True})
    assert lacked(settings, supervised(), after_a_spec) == [FRONTIER, LOCAL]


@pytest.mark.parametrize("strategy", ["direct", "retry"])
def test_nothing_is_offered_where_nobody_supervises(settings: Settings, strategy: str) -> None:
    assert lacked(settings, Wanted(strategy, {"coder": LOCAL})) == []


def test_a_baseline_may_write_as_much_as_what_is_held_against_it(settings: Settings) -> None:
    (one, _) = lacking_baselines(Order([supervised(max_tokens=300, chain_of_thought=False)]), settings)
    assert one.parameters == {"max_tokens": 300, "chain_of_thought": False}


def test_the_command_leaves_out_what_the_order_lacks_unless_it_is_wanted() -> None:
    order = Order([supervised()], "0:3")
    assert command_of(order).endswith(" --no-baselines")
    assert "--no-baselines" not in command_of(order, baselines=True)
    assert "--no-baselines" not in command_of(Order([Wanted("retry", {"coder": LOCAL})], "0:3"))
