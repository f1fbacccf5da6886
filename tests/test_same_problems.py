"""Configurations that were given different problems, on just those that all were given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from koderz_core import Order, Wanted, Workspace, open_workspace
from koderz_core.errors import UsageError
from koderz_core.report.export_request import ExportOrder

STRONG, NEVER = (Wanted("direct", {"coder": f"scripted/{name}"}) for name in ("strong", "never"))
SHARED = {"HumanEval/2", "HumanEval/3"}


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with open_workspace() as opened:
        yield opened


@pytest.fixture
def two(workspace: Workspace) -> list[str]:
    """Two benchmarks of four problems each, of which they share two."""
    plans = [workspace.plans.plan(Order([STRONG], "0:4")), workspace.plans.plan(Order([NEVER], "2:6"))]
    for plan in plans:
        workspace.runs.run(plan)
    return [plan.id for plan in plans]


def test_nothing_counts_but_what_all_were_given(workspace: Workspace, two: list[str]) -> None:
    rows = workspace.comparisons.on_shared_problems(workspace.comparisons.named(two))
    found = workspace.comparisons.compare(rows)
    assert [
        (configuration.n, configuration.planned, configuration.solved) for configuration in found.configurations
    ] == [(2, 2, 2), (2, 2, 0)]
    assert found.pairs[0].test.n == 2
    assert {problem.problem for problem in workspace.comparisons.problems(rows)} == SHARED
    assert [told.attempts[0].at_risk for told in workspace.comparisons.attempts(rows).values()] == [2, 2]
    assert (
        "These figures cover only the 2 problems that all configurations ran on. Results on other problems are "
        "omitted." in found.remarks
    )
    assert found.across is None
    assert "different problems" in str(workspace.comparisons.compare(workspace.comparisons.named(two)).across)
    assert workspace.comparisons.on_shared_problems(rows) == rows


def test_without_a_problem_in_common_it_says_so(workspace: Workspace, two: list[str]) -> None:
    apart = workspace.plans.plan(Order([NEVER], "7:8"))
    workspace.runs.run(apart)
    order = ExportOrder("comparison", "csv", (*two, apart.id), same_problems=True)
    with pytest.raises(UsageError, match="have no problem in common"):
        workspace.comparisons.on_shared_problems(workspace.comparisons.named(order.of))
    with pytest.raises(UsageError, match="have no problem in common"):
        workspace.exports.resolve(order)


def test_on_other_problems_it_is_another_comparison_to_wait_for(workspace: Workspace, two: list[str]) -> None:
    rows = workspace.comparisons.named(two)
    workspace.background.comparison(rows)
    narrowed = workspace.comparisons.on_shared_problems(rows)
    assert workspace.background.since(narrowed) is None
    assert workspace.background.comparison(narrowed).computed is None


def test_the_command_line_says_what_it_left_out(koderz: Any, two: list[str]) -> None:
    assert "With --same-problems" in koderz("compare", *two).out
    told = koderz("compare", *two, "--same-problems", "--format", "json").json
    assert [row["n"] for row in told["configurations"]] == [2, 2]
    exported = koderz("export", *two, "--table", "comparison", "--columns", "n", "--same-problems", "--out", "-").out
    assert exported.splitlines() == ["n", "2", "2"]
    listed = koderz("problems", *two, "--same-problems", "--json").json
    assert {row["problem"] for row in listed} == SHARED
