"""A grid of ablations is held against its whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from test_compared import ROW

from koderz_core.analysis.configurations import usual_baseline
from koderz_core.records.progress import SummaryRow, TierCost

PARAMETERS = {"spec": True, "checkpoints": True, "checkpoint_interval": 5, "temperature": 0.0, "retry_temperature": 0.8}
MODELS = {"spec": ("a",), "coder": ("b",), "reviewer": ("a",)}
FRONTIER = replace(ROW, strategy="direct", configuration="dear", tiers=(TierCost("frontier", 1, 0, 1.0),), solved=1)
MILD = {"temperature": 0.2, "retry_temperature": 0.2}


def row(**changes: object) -> SummaryRow:
    parameters = {**PARAMETERS, **changes}
    roles = [role for role in MODELS if parameters.get({"reviewer": "checkpoints"}.get(role, role), True)]
    models = {role: MODELS[role] for role in roles}
    named = str(sorted(changes.items()))
    return replace(ROW, strategy="supervised", configuration=named, models=models, parameters=parameters)


def test_a_grid_is_held_against_its_whole_wherever_that_stands() -> None:
    whole, grid = row(), [row(spec=False), row(checkpoints=False), row(checkpoint_interval=2), row(**MILD)]
    assert usual_baseline([*grid, FRONTIER, whole]) == whole
    assert usual_baseline([grid[0], whole, grid[3], FRONTIER]) == whole


def test_a_switch_that_only_an_ablation_records_was_on() -> None:
    whole = row()
    assert usual_baseline([row(previous_error=False), row(spec=False), whole, FRONTIER]) == whole


def test_where_every_switch_is_in_both_positions_the_whole_has_all_of_them_on() -> None:
    switched = [row(chain_of_thought=cot, disclosure=more) for cot in (False, True) for more in (False, True)]
    assert usual_baseline([FRONTIER, *switched]) == switched[-1]


@pytest.mark.parametrize(
    "other", [{"benchmark": "other"}, {"feedback": "none"}, {"gate": "examples"}, {"models": {"coder": ("c",)}}]
)
def test_an_ablation_is_like_its_whole_in_all_else(other: dict[str, Any]) -> None:
    rows = [replace(item, **other) for item in (row(spec=False), row(checkpoints=False))]
    assert usual_baseline([row(), *rows, FRONTIER]) == FRONTIER


def test_what_is_no_grid_is_held_against_the_frontier_model() -> None:
    sweep = [row(checkpoint_interval=item) for item in (2, 5, 10)]
    twice = [row(checkpoints=False, checkpoint_interval=2), row(spec=False, checkpoint_interval=10)]
    for rows in (sweep, [row(), *twice], [row(), row(spec=False)]):
        assert usual_baseline([*rows, FRONTIER]) == FRONTIER
