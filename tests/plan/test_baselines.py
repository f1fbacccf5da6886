"""Baselines are measured once: offered with a benchmark, found again, and reused where they agree."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from koderz_core import Order, Wanted, Workspace, open_workspace
from koderz_core.errors import PlanError
from koderz_core.plan.baselines import baseline_for, sought
from koderz_core.plan.registration import RegistrationOrder
from koderz_core.records import Budget
from koderz_core.records.registrations import primary_pair

STRONG, WEAK = "scripted/strong", "scripted/weak"
ROLES = {"coder": WEAK, "spec": STRONG, "reviewer": STRONG}
SUPERVISED = Wanted("supervised", ROLES, {"max_iterations": 2, "checkpoint_interval": 1})
TIERS: dict[str, Any] = {"tiers": {STRONG: "frontier"}}  # as if the one that knows more were one


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with open_workspace(**TIERS) as opened:
        yield opened


def coders(workspace: Workspace, order: Order) -> list[str]:
    """The models that are asked directly in what is offered for an order."""
    configurations = workspace.plans.propose(order).plan.configurations
    return [configuration.models["coder"][0] for configuration in configurations if configuration.strategy == "direct"]


@pytest.fixture(scope="module")
def _measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("measured") / "home"


@pytest.fixture
def measured(workspace: Workspace, _measured: Path) -> str:
    """A benchmark in which the strong model was asked directly about four problems: run once, and then copied."""
    if found := _measured.exists():
        shutil.copytree(_measured, workspace.settings.home)
    plan = workspace.plans.plan(Order([Wanted("direct", {"coder": STRONG})], "0:4"))
    if not found:
        workspace.runs.run(plan)
        shutil.copytree(workspace.settings.home, _measured)
    return plan.id


def test_a_benchmark_goes_on_measuring_what_it_began_to_measure(workspace: Workspace) -> None:
    order = Order([SUPERVISED], "0:2")
    offer = workspace.plans.propose(order)
    assert [configuration.models["coder"] for configuration in offer.added] == [(STRONG,), (WEAK,)]
    workspace.runs.run(offer.plan)
    again = workspace.plans.propose(order)
    assert (again.plan.id, again.reused) == (offer.plan.id, ())
    assert "$0, because all results already exist" in again.sentences[0]


def test_a_benchmark_that_reused_one_baseline_goes_on_measuring_the_other_one() -> None:
    order = Order([SUPERVISED], "0:3")
    with open_workspace(tiers={STRONG: "frontier", WEAK: "small_frontier"}) as workspace:
        workspace.runs.run(workspace.plans.plan(Order([Wanted("direct", {"coder": STRONG})], "0:4")))
        offer = workspace.plans.propose(order)
        assert [configuration.models["coder"] for configuration in offer.added] == [(WEAK,)]
        workspace.runs.run(offer.plan)
        again = workspace.plans.propose(order)
        assert (again.plan.id, again.added) == (offer.plan.id, offer.added)
        assert [baseline.model for baseline in again.reused] == [STRONG]


def test_a_named_benchmark_that_reused_all_baselines_still_does() -> None:
    order = Order([SUPERVISED], "0:3", name="mine")
    direct = [Wanted("direct", {"coder": model}) for model in (STRONG, WEAK)]
    with open_workspace(tiers={STRONG: "frontier", WEAK: "small_frontier"}) as workspace:
        workspace.runs.run(workspace.plans.plan(Order(direct, "0:4")))
        workspace.runs.run(workspace.plans.propose(order).plan)
        again = workspace.plans.propose(order)
        assert (len(again.plan.configurations), again.added) == (1, ())


@pytest.mark.usefixtures("measured")
def test_the_letters_of_a_registered_pair_count_all_baselines(workspace: Workspace) -> None:
    order = Order([SUPERVISED], "0:3", registration=RegistrationOrder(("A", "B")))
    offer = workspace.plans.propose(order)
    assert offer.reused == ()
    assert offer.plan.registration
    _, baseline = primary_pair(offer.plan, offer.plan.registration)
    models = {made.id: made.models["coder"] for made in offer.plan.configurations}
    assert models[baseline] == (STRONG,)


def test_a_stronger_model_that_was_measured_is_not_asked_again_and_that_is_said(
    workspace: Workspace, measured: str
) -> None:
    offer = workspace.plans.propose(Order([SUPERVISED], "0:3"))
    assert [configuration.models["coder"] for configuration in offer.added] == [(WEAK,)]
    assert [baseline.benchmark for baseline in offer.reused] == [measured]
    assert offer.sentences[1].startswith(f"The baseline direct SCRIPTED strong was already measured in {measured} on ")
    assert offer.sentences[1].endswith(
        ": it solved 3 of 3 experiments on the problems of this plan, at $0.00 per experiment."
    )
    workspace.runs.run(offer.plan)
    assert workspace.plans.propose(Order([SUPERVISED], "0:3")).plan.id == offer.plan.id


def test_the_started_benchmark_is_named_if_the_measurement_that_it_reused_has_been_deleted(
    workspace: Workspace, measured: str
) -> None:
    order = Order([SUPERVISED], "0:3")
    started = workspace.plans.propose(order).plan
    workspace.runs.run(started)
    list(workspace.upkeep.delete([measured]))
    again = workspace.plans.propose(order)
    hint = f"To resume {started.id} instead: koderz resume {started.id}"
    assert again.plan.id != started.id
    assert again.sentences[1].endswith(hint)
    for other in (replace(order, problems="0:2"), replace(order, name="mine")):
        assert not any("instead" in sentence for sentence in workspace.plans.propose(other).sentences)
    workspace.runs.run(again.plan)
    assert not any("instead" in sentence for sentence in workspace.plans.propose(order).sentences)


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(
    "order",
    [
        Order([SUPERVISED], "0:5"),
        Order([SUPERVISED], "0:3", repeats=2),
        Order([replace(SUPERVISED, parameters={"max_iterations": 2, "max_tokens": 99})], "0:3"),
        Order([replace(SUPERVISED, parameters={"max_iterations": 2, "chain_of_thought": False})], "0:3"),
        Order([SUPERVISED], "0:3", budget=Budget(per_experiment_usd=0.5)),
    ],
    ids=["more problems", "more repeats", "other sampling", "other prompt", "other budget of an experiment"],
)
def test_what_was_measured_otherwise_is_measured_again(workspace: Workspace, order: Order) -> None:
    assert coders(workspace, order) == [STRONG, WEAK]


@pytest.mark.usefixtures("measured")
def test_other_prompts_another_dataset_and_plus_tests_are_something_else(workspace: Workspace) -> None:
    plan = workspace.plans.plan(Order([Wanted("direct", {"coder": STRONG})], "0:3"))
    wanted, registry = sought(plan, plan.configurations[0], workspace.settings), workspace.results.measured()
    assert baseline_for(registry, wanted)
    others = (
        replace(wanted, dataset_sha256="0" * 64),
        replace(wanted, conditions={**wanted.conditions, "coding prompt": "0"}),
        replace(wanted, conditions={**wanted.conditions, "held_out": "plus tests"}),
    )
    assert [baseline_for(registry, other) for other in others] == [None] * 3
    scored_on_more = replace(registry[0], conditions={**registry[0].conditions, "held_out": "plus tests"})
    assert baseline_for([scored_on_more], wanted) is None


def test_a_model_without_a_measurement_shows_what_it_can_cost_at_most(workspace: Workspace) -> None:
    roles = {"coder": WEAK, "spec": "gpt-4o", "reviewer": "gpt-4o"}
    (told,) = workspace.plans.propose(Order([Wanted("supervised", roles)], "0:3")).sentences
    assert "direct gpt-4o, direct SCRIPTED weak. Cost of the baselines: at most $0." in told
    with pytest.raises(PlanError):
        workspace.plans.propose(Order([Wanted("supervised", {})], "0:3"))


def test_a_comparison_takes_its_baseline_from_where_it_was_measured(workspace: Workspace, measured: str) -> None:
    plan = workspace.plans.plan(Order([SUPERVISED], "0:3"))
    workspace.runs.run(plan)
    rows = workspace.comparisons.with_baseline(workspace.results.summaries(plan.id))
    found = workspace.comparisons.compare(rows)
    assert [row.benchmark for row in rows] == [plan.id, measured]
    assert found.baseline == (measured, rows[1].configuration)
    assert f"The baseline, direct SCRIPTED strong, was measured in the benchmark {measured}." in found.findings
    assert [row.problems for row in rows] == [3, 3]  # of the four that it was asked
    assert found.across is None
    assert workspace.comparisons.with_baseline(rows) == rows
    alone = workspace.comparisons.compare(rows[:1]).findings[-1]
    assert f"koderz compare ... {measured}/{rows[1].configuration}" in alone


def test_what_was_scored_under_another_time_limit_is_measured_again_and_told_of() -> None:
    with open_workspace(**TIERS, test_timeout=0.001) as hasty:  # nothing passes
        begun = hasty.plans.plan(Order([Wanted("direct", {"coder": STRONG})], "0:2"))
        hasty.runs.run(begun)
    with open_workspace(**TIERS) as workspace:
        assert coders(workspace, Order([SUPERVISED], "0:2")) == [STRONG, WEAK]
        plan = workspace.plans.plan(Order([SUPERVISED], "0:2"))
        workspace.runs.run(plan)
        rows = workspace.results.summaries(plan.id)
        assert workspace.comparisons.with_baseline(rows) == rows
        told = workspace.comparisons.compare([*rows, *workspace.results.summaries(begun.id)]).remarks
        assert (
            "Tests ran with different time limits (0.001 s, 4 times the time of the canonical solution). "
            "This may explain differences between the configurations."
        ) in told


def test_costs_by_other_prices_are_told_of(workspace: Workspace, measured: str) -> None:
    journal = next(workspace.settings.home.rglob(f"{measured}.jsonl"))
    prices = workspace.results.measured()[0].price_version
    journal.write_bytes(journal.read_bytes().replace(prices.encode(), b"made-up 1"))
    plan = workspace.plans.plan(Order([SUPERVISED], "0:3"))
    workspace.runs.run(plan)
    with open_workspace(**TIERS) as anew:
        rows = anew.comparisons.with_baseline(anew.results.summaries(plan.id))
        told = (
            f"Costs were computed with different prices ({prices}, made-up 1). "
            "This may explain differences between the configurations."
        )
        assert told in anew.comparisons.compare(rows).remarks
        assert told not in anew.comparisons.compare(rows[:1]).remarks


def test_only_a_frontier_model_is_taken_as_a_baseline_from_elsewhere() -> None:
    with open_workspace() as ordinary:  # all models are local here
        for wanted in (Wanted("direct", {"coder": STRONG}), Wanted("repair", {"coder": WEAK}, {"max_iterations": 1})):
            ordinary.runs.run(ordinary.plans.plan(Order([wanted], "0:2")))
        rows = [row for row in ordinary.results.summaries() if row.strategy == "supervised"]
        assert ordinary.comparisons.with_baseline(rows) == rows


@pytest.mark.usefixtures("measured")
def test_a_scripted_model_is_no_baseline_from_elsewhere_for_real_ones(workspace: Workspace) -> None:
    plan = workspace.plans.plan(Order([SUPERVISED], "0:3"))
    workspace.runs.run(plan)
    (row,) = workspace.results.summaries(plan.id)
    assert workspace.comparisons.measured_elsewhere([row]) is not None
    assert workspace.comparisons.measured_elsewhere([replace(row, models={"coder": ("ollama/it",)})]) is None


def test_a_baseline_from_elsewhere_has_the_same_limit_per_experiment(workspace: Workspace, measured: str) -> None:
    limit = Budget(per_experiment_usd=0.5)
    plan = workspace.plans.plan(Order([SUPERVISED], "0:3", budget=limit))
    workspace.runs.run(plan)
    rows = workspace.results.summaries(plan.id)
    assert workspace.comparisons.measured_elsewhere(rows) is None
    assert "--max-cost-per-experiment 0.5" in workspace.comparisons.how_to_measure_baseline(rows)
    same = workspace.plans.plan(Order([Wanted("direct", {"coder": STRONG})], "0:3", budget=limit))
    workspace.runs.run(same)
    found = workspace.comparisons.measured_elsewhere(rows)
    assert found is not None
    assert found.benchmark == same.id != measured


def test_a_baseline_to_measure_has_the_same_time_limit_of_tests() -> None:
    with open_workspace(**TIERS, test_timeout=9.0) as limited:
        plan = limited.plans.plan(Order([SUPERVISED], "0:3"))
        limited.runs.run(plan)
    with open_workspace(**TIERS) as workspace:
        rows = workspace.results.summaries(plan.id)
        assert workspace.comparisons.how_to_measure_baseline(rows).endswith(" --test-timeout 9.0")


def test_a_comparison_without_a_baseline_says_how_to_measure_one(workspace: Workspace) -> None:
    plan = workspace.plans.plan(Order([SUPERVISED], "1:3"))
    workspace.runs.run(plan)
    said = workspace.comparisons.compare(workspace.results.summaries(plan.id)).findings[-1]
    command = "koderz benchmark --problems 1:3 --configuration 'direct coder=scripted/strong'"
    assert said == f"To measure a frontier model alone (cost: at most $0.00), run: {command}"


def test_where_no_frontier_model_supervises_the_command_leaves_its_name_open(workspace: Workspace) -> None:
    plan = workspace.plans.plan(Order([Wanted("repair", {"coder": WEAK}, {"max_iterations": 1})], "HumanEval/0,7"))
    workspace.runs.run(plan)
    said = workspace.comparisons.compare(workspace.results.summaries(plan.id)).findings[-1]
    assert said.endswith("koderz benchmark --problems HumanEval/0,7 --configuration 'direct coder=MODEL'")
