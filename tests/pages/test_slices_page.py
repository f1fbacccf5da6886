"""Statistics by slice: the table opens by its address, and says how many differences were tested."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace

Visit = Callable[..., AppTest]


def test_results_are_divided_by_the_kind_that_the_address_names(visit: Visit) -> None:
    wanted = [Wanted("direct", {"coder": f"scripted/{name}"}) for name in ("strong", "never")]
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order(wanted, "0:3"))
        workspace.runs.run(plan)
    closed = visit("statistics", benchmarks=plan.id)
    assert all("slice" not in table.value for table in closed.dataframe)
    app = visit("statistics", benchmarks=plan.id, by="kind")
    assert not app.exception
    table = next(table.value for table in app.dataframe if "slice" in table.value)
    assert [*zip(table["slice"], table["key"], table["n"], strict=True)] == [
        ("function", "A", "–"),
        ("function", "B", "3"),
    ]
    assert any(text.value.startswith("These slices have too few problems") for text in app.text)
