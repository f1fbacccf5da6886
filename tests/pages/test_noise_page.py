"""Sources of uncertainty on Statistics: folded, opened by the address, with a link to each problem."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace

Visit = Callable[..., AppTest]


def test_the_address_opens_the_sources_and_problems_are_linked(visit: Visit) -> None:
    wanted = [Wanted("direct", {"coder": f"scripted/{name}"}) for name in ("strong", "never")]
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order(wanted, "0:3", repeats=2))
        workspace.runs.run(plan)
    assert all("standard error" not in table.value for table in visit("statistics", benchmarks=plan.id).dataframe)
    app = visit("statistics", benchmarks=plan.id, noise="1")
    assert not app.exception
    table = next(table.value for table in app.dataframe if "from draws [95 %]" in table.value)
    assert list(table["key"]) == ["A", "B", "B - A"]
    problems = next(table.value for table in app.dataframe if "share of the variance" in table.value)
    assert problems["experiments"][0].startswith("problems?")
    assert "problem=HumanEval%2F" in problems["experiments"][0]
