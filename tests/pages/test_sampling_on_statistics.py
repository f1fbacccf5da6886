"""Several samples per problem on the page Statistics: the section opens by its address, with chart and tables."""

from __future__ import annotations

import json
from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace

Visit = Callable[..., AppTest]


def test_the_chart_shows_what_the_address_names_as_draws(visit: Visit) -> None:
    wanted = [Wanted("best_of", {"coder": "scripted/weak"}, {"samples": 4, "judge": False})]
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order(wanted, "0:20", repeats=2))
        workspace.runs.run(plan)
    closed = visit("statistics", benchmarks=plan.id)
    assert all("pass@k [95 %]" not in table.value for table in closed.dataframe)
    app = visit("statistics", benchmarks=plan.id, draws="samples")
    assert not app.exception
    figure = next(json.loads(chart.proto.spec) for chart in app.get("plotly_chart"))
    assert [max(line["x"]) for line in figure["data"] if line.get("line", {}).get("dash") == "solid"] == [8, 8]
    assert [max(line["x"]) for line in figure["data"] if line.get("line", {}).get("dash") == "dash"] == [80, 80]
    titles = [caption.value for caption in app.caption]
    assert "Price of one further draw on every problem" in titles
    refusal = "A: nothing is extrapolated from the draws (experiments)"
    assert any(text.value.startswith(refusal) for text in app.text)
