"""Configurations at equal cost on Statistics: folded; the address chooses the amount; refusals are shown."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace

Visit = Callable[..., AppTest]


def test_the_address_chooses_the_amount(visit: Visit) -> None:
    wanted = [Wanted("direct", {"coder": f"scripted/{name}"}) for name in ("strong", "weak")]
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order(wanted, "0:10"))
        workspace.runs.run(plan)
    closed = visit("statistics", benchmarks=plan.id)
    assert all("budget per problem" not in table.value for table in closed.dataframe)
    app = visit("statistics", benchmarks=plan.id, equal="tokens")
    assert not app.exception
    orders = next(table.value for table in app.dataframe if "differences supported by the band" in table.value)
    assert len(orders) == 5
    assert any(text.value.startswith("At equal tokens per problem, on 10 problems") for text in app.text)
    free = visit("statistics", benchmarks=plan.id, equal="usd")
    assert any("All experiments have a cost of 0 in this unit" in text.value for text in free.text)
