"""Configurations as people name them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from koderz_core import Order, Wanted, Workspace, open_workspace
from koderz_core.errors import UnknownNameError, UsageError
from koderz_core.records import Plan


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with open_workspace() as opened:
        yield opened


@pytest.fixture
def plan(workspace: Workspace) -> Plan:
    order = Order([Wanted("direct", {"coder": f"scripted/{name}"}) for name in ("strong", "weak")], "0:1", name="mine")
    plan = workspace.plans.plan(order)
    workspace.runs.run(plan)
    return plan


def named(workspace: Workspace, *words: str) -> list[str]:
    return [row.label for row in workspace.comparisons.named(words)]


BOTH = ["direct SCRIPTED strong", "direct SCRIPTED weak"]


def test_a_benchmark_is_named_by_its_id_its_beginning_or_its_name(workspace: Workspace, plan: Plan) -> None:
    for word in (plan.id, plan.id[:9], plan.id[6:12], "mine"):
        assert named(workspace, word) == BOTH


def test_nothing_named_means_the_newest_benchmark_and_none_where_there_is_none(
    workspace: Workspace, plan: Plan
) -> None:
    assert named(workspace) == BOTH


def test_without_any_benchmark_nothing_is_named(workspace: Workspace) -> None:
    assert named(workspace) == []
    with pytest.raises(UnknownNameError, match="There are none"):
        named(workspace, "mine")


def test_a_configuration_is_named_by_letter_id_or_label_in_its_benchmark(workspace: Workspace, plan: Plan) -> None:
    weak = plan.configurations[1].id
    for word in ("mine/B", "mine/b", f"{plan.id}/{weak}", f"mine/{weak[5:10]}", f"mine/{BOTH[1]}", weak):
        assert named(workspace, word) == BOTH[1:]


def test_what_is_named_twice_is_there_once(workspace: Workspace, plan: Plan) -> None:
    assert named(workspace, "mine/B", "mine") == ["direct SCRIPTED weak", "direct SCRIPTED strong"]


def test_what_fits_several_is_not_guessed(workspace: Workspace, plan: Plan) -> None:
    workspace.runs.run(replace(plan, seed=1))
    with pytest.raises(UsageError, match=r"'mine' matches several ids: bench_.*, bench_"):
        named(workspace, "mine")
    with pytest.raises(UsageError, match=r"matches several ids: bench_.*/conf_"):
        named(workspace, plan.configurations[0].id)


def test_an_unknown_name_is_answered_with_what_there_is(workspace: Workspace, plan: Plan) -> None:
    with pytest.raises(UnknownNameError, match=plan.id):
        named(workspace, "theirs")
    with pytest.raises(UnknownNameError, match="A = direct SCRIPTED strong"):
        named(workspace, "mine/C")


def test_the_baseline_is_one_of_those_compared(workspace: Workspace, plan: Plan) -> None:
    rows = workspace.comparisons.named(["mine"])
    comparison = workspace.comparisons.compare(rows, "B")
    assert comparison.baseline == (plan.id, plan.configurations[1].id)
    with pytest.raises(UnknownNameError, match="configuration: 'C'"):
        workspace.comparisons.compare(rows, "C")
