"""What configurations are called."""

from __future__ import annotations

from dataclasses import replace

from koderz_core.records import Configuration
from koderz_core.strategies import complete
from koderz_core.strategies.labels import labels

SMALL, LARGE = "embedded/qwen2.5-coder-0.5b", "hf/Qwen/qwen2.5-coder-1.5b"


def called(*configurations):
    return list(labels(configurations).values())


def test_a_lone_configuration_is_its_strategy_and_models():
    one = Configuration("supervised", {"coder": (SMALL,), "reviewer": (LARGE,), "spec": (LARGE,)}, {"rounds": 5})
    assert called(one) == ["supervised qwen2.5-coder-0.5b + qwen2.5-coder-1.5b"]


def test_only_parameters_that_differ_are_told():
    two = (Configuration("repair", {"coder": (SMALL,)}, {"rounds": rounds, "cot": True}) for rounds in (3, 5))
    assert called(*two) == ["repair qwen2.5-coder-0.5b (rounds=3)", "repair qwen2.5-coder-0.5b (rounds=5)"]


def test_what_most_share_goes_without_saying_so_an_ablation_is_called_by_what_it_lacks():
    whole = complete("supervised", {})
    changes = ({}, {"spec": False}, {"checkpoint_interval": 2}, {"temperature": 0.2, "retry_temperature": 0.2})
    grid = [Configuration("supervised", {"coder": (SMALL,)}, {**whole, **change}) for change in changes]
    told = ("", " (spec=False)", " (checkpoint_interval=2)", " (retry_temperature=0.2, temperature=0.2)")
    assert called(*grid) == [f"supervised qwen2.5-coder-0.5b{item}" for item in told]


def test_policies_out_of_the_ordinary_are_always_told():
    plain = Configuration("supervised", {"coder": (SMALL,)})
    gated, mute = replace(plain, gate="examples"), replace(plain, feedback="none")
    assert called(plain) == ["supervised qwen2.5-coder-0.5b"]
    assert called(gated) == ["supervised qwen2.5-coder-0.5b (gate=examples)"]
    assert called(mute, plain)[0] == "supervised qwen2.5-coder-0.5b (feedback=none)"


def test_parameters_of_another_strategy_are_no_difference():
    two = Configuration("repair", {"coder": (SMALL,)}, {"rounds": 3}), Configuration("direct", {"coder": (SMALL,)})
    assert called(*two) == ["repair qwen2.5-coder-0.5b", "direct qwen2.5-coder-0.5b"]


def test_swapped_models_are_told_by_role():
    pair = {"coder": (SMALL,), "reviewer": (LARGE,)}, {"coder": (LARGE,), "reviewer": (SMALL,)}
    assert called(*(Configuration("swarm", models) for models in pair)) == [
        "swarm coder=qwen2.5-coder-0.5b reviewer=qwen2.5-coder-1.5b",
        "swarm coder=qwen2.5-coder-1.5b reviewer=qwen2.5-coder-0.5b",
    ]


def test_models_of_the_same_name_are_told_apart_by_id():
    two = [Configuration("direct", {"coder": (model,)}) for model in ("ollama/q", "vllm/q")]
    assert called(*two) == [f"direct coder=q {item.id}" for item in two]


def test_a_control_goes_by_its_own_name_and_its_parameters_are_no_difference_to_supervised():
    models = {"coder": (SMALL,)}
    three = (
        Configuration("supervised", {**models, "spec": (SMALL,)}, complete("supervised", {})),
        Configuration("supervised", models, complete("repair", {})),
        Configuration("ladder", models, complete("retry", {})),
    )
    assert called(*three) == [f"{name} qwen2.5-coder-0.5b" for name in ("supervised", "repair", "retry")]
