"""Ablations differ from the whole in one thing, and no two configurations do the same."""

from __future__ import annotations

import pytest

from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.plan.ablations import ABLATIONS, ablations, ablations_named, with_ablations
from koderz_core.plan.order import Wanted
from koderz_core.strategies import complete

WHOLE = Wanted("supervised", {"coder": "a", "reviewer": "b"}, {"max_iterations": 20}, feedback="count")


def changes(whole: Wanted, *names: str) -> list[dict[str, object]]:
    """What each ablation sets otherwise than the whole."""
    was = complete(whole.strategy, whole.parameters)
    grid = [complete(ablation.strategy, ablation.parameters) for ablation in ablations(whole, names or ABLATIONS)]
    return [{name: value for name, value in now.items() if value != was[name]} for now in grid]


def test_each_ablation_differs_from_the_whole_in_one_thing() -> None:
    assert changes(WHOLE) == [
        {"spec": False},
        {"checkpoints": False},
        {"chain_of_thought": False},
        {"previous_error": False},
        {"checkpoint_interval": 2},
        {"checkpoint_interval": 10},
        {"retry_temperature": 0.0},
        {"temperature": 0.2, "retry_temperature": 0.2},
        {"temperature": 0.8},
    ]
    assert {(ablation.strategy, ablation.feedback, *ablation.models.values()) for ablation in ablations(WHOLE)} == {
        ("supervised", "count", "a", "b")
    }


@pytest.mark.parametrize(
    ("parameters", "names", "left"),
    [
        ({"spec": False}, ("no-spec", "no-cot"), [{"chain_of_thought": False}]),
        ({"lessons": True}, ("no-lessons", "no-examples"), [{"lessons": False}]),
        ({"examples": True, "max_iterations": 1}, ("no-lessons", "no-examples"), [{"examples": False}]),
        ({"lessons": True, "previous_error": False}, ("no-lessons",), []),
        ({"temperature": 0.2, "retry_temperature": 0.2}, ("temperature",), [0.0, 0.8]),
        ({"checkpoint_interval": 1}, ("interval",), [{"checkpoint_interval": 2}]),
        ({"checkpoints": False}, ("no-checkpoints", "interval"), []),
        ({"max_iterations": 5}, ("no-checkpoints", "interval"), [{"checkpoint_interval": 2}]),
        ({"max_iterations": 6}, ("no-checkpoints", "interval"), [{"checkpoints": False}, {"checkpoint_interval": 2}]),
    ],
)
def test_what_would_change_nothing_is_left_out(
    parameters: dict[str, int], names: tuple[str, ...], left: list[object]
) -> None:
    found = changes(Wanted("supervised", {"coder": "a"}, parameters), *names)
    assert [
        item if isinstance(now, dict) else item["temperature"] for item, now in zip(found, left, strict=True)
    ] == left


@pytest.mark.parametrize("names", [("no-previous-error",), ("no-checkpoints",), ("interval",)])
def test_after_a_single_attempt_nothing_is_left_to_ablate(names: tuple[str, ...]) -> None:
    for when in ("interval", "adaptive"):
        whole = Wanted("supervised", {"coder": "a"}, {"max_iterations": 1, "checkpoint_when": when})
        assert changes(whole, *names) == []
        assert [item["temperature"] for item in changes(whole, "temperature")] == [0.2, 0.8]


def test_a_coder_that_is_told_nothing_of_its_tests_cannot_do_without_it() -> None:
    assert changes(Wanted("supervised", {"coder": "a"}, feedback="none"), "no-previous-error") == []
    assert changes(Wanted("supervised", {"coder": "a"}, feedback="count"), "no-previous-error")


def test_what_is_wanted_anyway_is_not_added_again() -> None:
    without = Wanted("supervised", {"coder": "a"}, {"spec": False})
    whole = Wanted("supervised", {"coder": "a", "reviewer": "a"})
    names = ("no-spec", "no-cot")
    grid = with_ablations([(whole, names), (without, ()), (whole, names)])
    assert [ablation.parameters for ablation in grid] == [{}, {"chain_of_thought": False}, {"spec": False}, {}]


def test_a_preset_of_supervised_has_ablations_of_what_it_has() -> None:
    assert changes(Wanted("repair", {"coder": "a"}), "no-spec", "no-cot") == [{"chain_of_thought": False}]


def test_what_there_is_no_ablation_of_is_said_so() -> None:
    with pytest.raises(PlanError, match="direct has no ablations"):
        ablations(Wanted("direct", {"coder": "a"}))
    with pytest.raises(UnknownNameError, match=r"ablation: 'no-specs'.*no-spec"):
        ablations_named("no-cot,no-specs")
    assert ablations_named(" interval, no-cot,interval ") == ("interval", "no-cot")
    assert ablations_named("no-cot,all") == tuple(ABLATIONS)
