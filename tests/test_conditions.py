"""What beside a plan's own words can change an outcome: the address of a server, in whatever spelling."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest

from koderz_core.conditions import check_same, conditions, of_kinds
from koderz_core.config import load_settings
from koderz_core.errors import PlanError
from koderz_core.prompts.kinds import VERSIONS
from koderz_core.records import Configuration, DatasetOrigin, Plan
from koderz_core.runner.header import continued, header

CONFIGURATIONS = [Configuration("direct", {"coder": ("vllm/it",)}, {})]


@pytest.mark.parametrize("spelling", ["http://127.0.0.1:9/v1/", "http://localhost:9/v1", "HTTP://me:pw@[::1]:9/v1"])
def test_the_same_server_in_another_spelling_is_the_same_benchmark(spelling: str) -> None:
    plain, other = (
        conditions(CONFIGURATIONS, load_settings(vllm_base_url=url)) for url in ("http://127.0.0.1:9/v1", spelling)
    )
    assert plain["vllm at"] == other["vllm at"] == "http://127.0.0.1:9/v1"


@pytest.mark.parametrize("recorded", ["http://localhost:9/v1/", "HTTP://127.0.0.1:9/v1"])
def test_a_benchmark_goes_on_whatever_spelling_it_was_recorded_in(recorded: str) -> None:
    now = conditions(CONFIGURATIONS, load_settings(vllm_base_url="http://localhost:9/v1"))
    check_same("bench_1", now, {"vllm at": recorded})
    with pytest.raises(PlanError, match="the address of vllm"):
        check_same("bench_1", now, {"vllm at": recorded.replace(":9", ":8")})


def test_only_the_prompts_that_a_plans_roles_are_told_can_keep_it_from_going_on() -> None:
    direct = conditions(CONFIGURATIONS, load_settings())
    whole = Configuration("supervised", dict.fromkeys(("spec", "coder", "reviewer"), ("vllm/it",)), {})
    both = conditions([*CONFIGURATIONS, whole], load_settings())
    assert {name for name in direct if name.endswith(" prompt")} == {"coding prompt", "extraction prompt"}
    assert set(both) - set(direct) == {"attempts prompt", "review prompt", "spec prompt"}
    check_same("bench_1", direct, {**both, "review prompt": "of long ago"})
    with pytest.raises(PlanError, match="the version of the review prompt"):
        check_same("bench_1", both, {**both, "review prompt": "of long ago"})


@pytest.mark.parametrize(
    ("strategy", "parameters", "told"),
    [
        ("supervised", {"lessons": True}, False),  # these are told among the attempts
        ("direct", {"lessons": True}, True),
        ("direct", {"lessons": False}, False),
        ("supervised", {"examples": True}, True),
    ],
)
def test_how_a_coder_is_reminded_is_a_condition_of_those_that_are(
    strategy: str, parameters: dict[str, bool], told: bool
) -> None:
    one = Configuration(strategy, {"coder": ("vllm/it",)}, parameters)
    assert ("reminding prompt" in conditions([one], load_settings())) is told


@pytest.mark.parametrize(("strategy", "goes_on"), [("supervised", False), ("direct", True)])
def test_a_benchmark_from_before_attempts_were_told_like_this_does_not_go_on_with_them(
    strategy: str, goes_on: bool
) -> None:
    plan = Plan(DatasetOrigin("d", "0" * 64, ""), ("p/0",), (Configuration(strategy, {"coder": ("scripted/weak",)}),))
    now = header(plan, load_settings(), "limited", "0")
    once = replace(now, prompt_versions={"coding": "1", "extraction": "1"})
    with (
        nullcontext()
        if goes_on
        else pytest.raises(PlanError, match="version of the attempts prompt was 1 and is now 3")
    ):
        continued(now, once)


def test_the_words_for_a_kind_of_problem_are_a_condition_of_its_benchmarks() -> None:
    now = of_kinds(["function", "module", "module"])
    assert now == {"module prompt": VERSIONS["module"]}
    plan = Plan(
        DatasetOrigin("d", "0" * 64, ""),
        ("p/0",),
        (Configuration("direct", {"coder": ("scripted/weak",)}),),
        conditions={"module prompt": "of long ago"},
    )
    with pytest.raises(PlanError, match="the version of the module prompt was of long ago and is now"):
        header(plan, load_settings(), "limited", "0")
