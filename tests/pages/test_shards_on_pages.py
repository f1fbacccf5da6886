"""Pages show a shard as a part of a benchmark, and after a merge only the whole benchmark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.config import load_settings
from koderz_core.records import Plan

Visit = Callable[..., AppTest]
PART = "study (shard 1 of 2)"


@pytest.fixture
def whole() -> Plan:
    """The plan of a benchmark of which both shards have run."""
    weak = Wanted("retry", {"coder": "scripted/weak"}, {"max_iterations": 2})
    order = Order([Wanted("direct", {"coder": "scripted/strong"}), weak], "0:4", name="study")
    with open_workspace(memory="off") as workspace:
        plan = workspace.plans.plan(order)
        for number in (1, 2):
            workspace.runs.run(plan.part(number, 2))
    return plan


def names(app: AppTest) -> str:
    """Everything that tables show."""
    return " ".join(table.value.to_csv() for table in app.dataframe)


def test_home_live_and_summary_name_the_part(visit: Visit, whole: Plan) -> None:
    part = whole.part(1, 2).id
    assert PART in names(visit("overview"))
    assert PART in said(visit("live", benchmarks=part)) + str(visit("live", benchmarks=part).selectbox)
    assert "Partial: 1 shard, each with a random part of the experiments" in said(visit("compare", benchmarks=part))


def test_after_a_merge_only_the_whole_is_shown(visit: Visit, whole: Plan) -> None:
    with open_workspace(memory="off") as workspace:
        workspace.shards.merge([whole.id])
    home = visit("overview")
    assert not home.exception
    assert "study" in names(home)
    assert "shard" not in names(home) + said(visit("compare", benchmarks=whole.id))
    assert len(list(Path(load_settings().journals_dir).glob("*.jsonl"))) == 3
