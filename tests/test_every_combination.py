"""Supervised runs with a model of any tier in any role."""

from __future__ import annotations

from itertools import product

import pytest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.records.progress import SummaryRow

MODELS = {"local": "scripted/weak", "small_frontier": "scripted/strong", "frontier": "scripted/never"}
ROLES = ("spec", "coder", "reviewer")
TWICE = {"max_iterations": 2, "checkpoint_interval": 1}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], SummaryRow]:
    """What came of each combination on one problem, by the tiers of spec, coder and reviewer."""
    combinations = list(product(MODELS, repeat=len(ROLES)))
    wanted = [
        Wanted("supervised", dict(zip(ROLES, map(MODELS.get, item), strict=True)), TWICE) for item in combinations
    ]
    tiers = {model: tier for tier, model in MODELS.items()}
    with open_workspace(home=tmp_path_factory.mktemp("home"), tiers=tiers) as workspace:
        plan = workspace.plans.plan(Order(wanted, "0:1"))
        workspace.runs.run(plan)
        rows = {row.configuration: row for row in workspace.results.summaries(plan.id)}
    return {configuration: rows[made.id] for configuration, made in zip(combinations, plan.configurations, strict=True)}


@pytest.mark.parametrize("combination", list(product(MODELS, repeat=len(ROLES))), ids="-".join)
def test_a_combination_of_tiers_runs_to_the_end(
    combination: tuple[str, ...], results: dict[tuple[str, ...], SummaryRow]
) -> None:
    row = results[combination]
    assert (row.solved + row.unsolved, row.errors) == (1, 0)
    spec, coder, _ = combination
    assert {spec, coder} <= {tier.tier for tier in row.tiers} <= set(combination)


def test_one_local_model_in_every_role_is_all_free(results: dict[tuple[str, ...], SummaryRow]) -> None:
    row = results["local", "local", "local"]
    assert [(item.tier, item.cost_usd) for item in row.tiers] == [("local", 0.0)]
