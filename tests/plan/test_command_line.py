"""Configurations in words, and the command line that makes the same benchmark as an order."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from koderz_core.cli.benchmark import benchmark
from koderz_core.cli.order import order as order_of
from koderz_core.config import load_settings
from koderz_core.datasets import load
from koderz_core.errors import PlanError, UsageError
from koderz_core.grading.gates import FEEDBACKS
from koderz_core.plan.ablations import ablations
from koderz_core.plan.command_line import command_of, configuration_of, words_of
from koderz_core.plan.order import Order, Wanted
from koderz_core.plan.planner import draft
from koderz_core.strategies import facts_of

MODELS = some.sampled_from(["scripted/weak", "gpt-4o", "gpt-oss:20b", "ollama/it's", "lmstudio/a b=$c", "vllm/ü"])
COUNTS, NUMBERS = some.integers(1, 10**8), some.floats(0, 2)
SWITCHES = {"spec": some.booleans(), "chain_of_thought": some.booleans()}
SAMPLING = {"temperature": NUMBERS, "max_tokens": COUNTS}
ITERATING = {"checkpoints": some.booleans(), "max_iterations": COUNTS, "checkpoint_interval": COUNTS}
WORKFLOW = {
    "spec_prompt": some.sampled_from(["minimal", "detailed"]),
    "reuse_spec": some.booleans(),
    "lessons": some.booleans(),
    "examples": some.booleans(),
    "previous_error": some.booleans(),
    "history_tokens": some.just(0) | COUNTS,
    "checkpoint_when": some.sampled_from(["interval", "adaptive"]),
}


POLICIES = {"gate": some.sampled_from(["tests", "examples", "split:0.25"]), "feedback": some.sampled_from([*FEEDBACKS])}


def wanted(
    strategy: str, more: dict[str, some.SearchStrategy[object]], members: int = 2
) -> some.SearchStrategy[Wanted]:
    parameters = some.fixed_dictionaries({}, optional={**SWITCHES, **SAMPLING, **more})
    models = some.lists(MODELS, min_size=1, max_size=members).map(tuple)
    policies = POLICIES if facts_of(strategy).tests_programs else {}
    return some.builds(Wanted, some.just(strategy), some.fixed_dictionaries({"coder": models}), parameters, **policies)


CHOICES = {"direct": {}, "supervised": {**ITERATING, **WORKFLOW}, "repair": ITERATING}
WANTED = some.one_of(*(wanted(name, more) for name, more in CHOICES.items()))
PLANNED = some.one_of(*(wanted(name, more, members=1) for name, more in CHOICES.items()))
ORDERS = some.builds(
    Order,
    some.lists(PLANNED, min_size=1, max_size=2),
    some.sampled_from(["all", "0:3", "0:10", "sample:2", "HumanEval/3, 7"]),
    some.integers(0, 2**63 - 1),
    some.integers(1, 9),
    some.text(some.characters(exclude_categories=["Cs", "Cc"]), max_size=8),
)


@given(WANTED)
def test_words_and_configuration_are_each_others_inverse(one: Wanted) -> None:
    assert configuration_of(words_of(one)) == one


@settings(deadline=None, max_examples=30)  # the first loads the dataset, each may part its problems twice
@given(ORDERS, some.none() | some.integers(1, 256))
def test_the_command_makes_the_same_benchmark(order: Order, concurrency: int | None) -> None:
    own = load_settings()
    whole = load("humaneval", own)
    dataset = replace(whole, problems=whole.problems[:20])
    try:
        plan = draft(order, dataset, own)
    except UsageError:
        return  # twice the same configuration
    koderz, command, *arguments = shlex.split(command_of(order, concurrency=concurrency))
    options = benchmark.make_context(command, arguments).params
    parsed = order_of(options, options["problems"], options["repeats"])
    assert (koderz, command, options["concurrency"]) == ("koderz", "benchmark", concurrency)
    assert draft(parsed, dataset, own).id == plan.id


def test_a_command_says_what_is_not_as_by_default_and_no_more() -> None:
    models = {"coder": "gpt-4o", "reviewer": "ignored"}
    order = Order([Wanted("direct", models, {"max_tokens": 1024, "temperature": 0.5})], "0:3")
    plain = "koderz benchmark --problems 0:3 --configuration 'direct coder=gpt-4o temperature=0.5'"
    assert command_of(order) == plain
    assert command_of(order, "typed-000000000000", 2) == f"{plain} --dataset typed-000000000000 --concurrency 2"


WHOLE = Wanted("supervised", {"coder": ("a",)}, {"max_iterations": 9})
OTHER = Wanted("direct", {"coder": ("a",)})


@pytest.mark.parametrize(
    ("configurations", "ending"),
    [
        ([OTHER, WHOLE, *ablations(WHOLE)], "max_iterations=9' --ablate all"),
        ([WHOLE, *ablations(WHOLE, ["no-spec", "no-cot"])], "max_iterations=9' --ablate no-spec,no-cot"),
        ([*ablations(WHOLE, ["no-spec"]), WHOLE], "'supervised coder=a max_iterations=9'"),
        ([WHOLE, *ablations(WHOLE, ["interval"])[:1]], "'supervised coder=a max_iterations=9 checkpoint_interval=2'"),
        ([WHOLE], "'supervised coder=a max_iterations=9'"),
    ],
)
def test_a_grid_of_ablations_is_written_in_short_if_it_is_whole(configurations: list[Wanted], ending: str) -> None:
    command = command_of(Order(configurations, "0:1"), baselines=True)
    assert command.endswith(ending)
    _, name, *arguments = shlex.split(command)
    parsed = order_of(benchmark.make_context(name, arguments).params, "0:1")
    assert [words_of(configuration) for configuration in parsed.configurations] == [
        words_of(configuration) for configuration in configurations
    ]


def test_values_have_the_kind_of_the_strategys_own() -> None:
    read = configuration_of("supervised coder=a:1,b:2 spec=c:3 spec=true max_iterations=5 temperature=1")
    assert read.models == {"coder": ("a:1", "b:2"), "spec": ("c:3",)}
    assert list(map(repr, read.parameters.values())) == ["True", "5", "1.0"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" ", "configuration is empty"),
        ("supervise coder=a", "strategy: 'supervise'.*supervised"),
        ("direct 'coder=a", "closing quotation"),
        ("direct gpt-4o", "'gpt-4o' in 'direct gpt-4o' is not of the form key=value"),
        ("direct codr=a", "'codr'.*coder"),
        ("direct coder=a,,b", "'coder=a,,b' contains an empty model name"),
        ("direct coder=a coder=b", "coder is given twice"),
        ("direct coder=a max_iterations=3", "parameter of direct: 'max_iterations'"),
        ("supervised coder=a max_iterations=five", "'max_iterations=five'.*whole number"),
        ("supervised coder=a checkpoints=no", "'checkpoints=no'.*true or false"),
        ("supervised coder=a temperature=hot", "'temperature=hot'.*a number"),
        ("supervised coder=a max_iterations=0", "from 1 to 1,000,000,000"),
        ("direct coder=a spec=b", "never uses the role spec"),
        ("supervised coder=a gate=tests gate=examples", "gate is given twice"),
    ],
)
def test_a_wrong_word_is_named(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        configuration_of(text)


def test_a_switch_is_read_in_any_case() -> None:
    read = configuration_of("supervised coder=a spec=False checkpoints=TRUE")
    assert (read.models, read.parameters) == ({"coder": ("a",)}, {"spec": False, "checkpoints": True})


@pytest.mark.parametrize("name", ["a,b", "", " ", " a", "a\n", "a\x1c", "\xa0a"])
def test_a_models_name_that_would_be_read_as_another_is_refused(name: str) -> None:
    with pytest.raises(PlanError, match=re.escape(repr(name))):
        words_of(Wanted("direct", {"coder": name}))


@pytest.mark.parametrize("name", ["true", "False"])
def test_a_models_name_that_would_be_read_as_a_switch_is_refused(name: str) -> None:
    models = {"coder": "true", "reviewer": "a"}
    assert configuration_of(words_of(Wanted("supervised", models))).models["coder"] == ("true",)
    with pytest.raises(PlanError, match=f"'{name}'.*switch"):
        words_of(Wanted("supervised", {**models, "spec": name}))


@given(some.text(max_size=5), some.sampled_from(["coder", "spec", "reviewer"]))
def test_any_name_that_is_written_is_read_again(name: str, role: str) -> None:
    one = Wanted("supervised", {"coder": ("a",), role: (name,)})
    with suppress(PlanError):
        assert configuration_of(words_of(one)) == one
