"""The Problems page: its filters, its cells, and names that want to be more than names."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from made_trials import trials
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.analysis.difficulty import difficulties
from koderz_core.records import Plan
from pages.ui.difficulty import heatmap

Visit = Callable[..., AppTest]
HOSTILE = "<a href='https://elsewhere.example'>p</a> <b>"


def drawn(app: AppTest) -> Any:  # Any: JSON
    (chart,) = app.get("plotly_chart")
    return json.loads(chart.proto.spec)


def test_every_cell_has_a_sign_and_the_same_stands_in_a_table(visit: Visit, recorded: Plan) -> None:
    app = visit("problems", benchmarks=recorded.id)
    signs = drawn(app)["data"][-1]["text"]
    table = app.dataframe[1].value
    assert len(signs) == 6
    assert sorted(signs) == sorted([*table["A"], *table["B"]])
    assert set(signs) <= {"✓", "✗"}


def test_the_filter_is_part_of_the_address(visit: Visit, recorded: Plan) -> None:
    weak = "/".join((recorded.id, recorded.configurations[1].id))
    app = visit("problems", show="unsolved")
    app.segmented_control(key="choice of show").set_value("only").run()
    app.selectbox(key="choice of one").set_value(weak).run()
    assert not app.exception
    assert (app.query_params["show"], app.query_params["one"]) == ("only", weak)
    assert "No problem matches" in said(app)  # the strong one solves all of them


def test_a_chosen_problem_shows_its_experiments(visit: Visit, recorded: Plan) -> None:
    app = visit("problems", problem="HumanEval/1")
    asked = {experiment.id for experiment in recorded.experiments() if experiment.problem == "HumanEval/1"}
    assert set(app.dataframe[2].value["experiment"]) == asked


def test_more_problems_than_one_sight_holds_are_further_pages(visit: Visit) -> None:
    with open_workspace() as workspace:
        workspace.runs.run(workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/strong"})], "0:41")))
    assert len(drawn(visit("problems"))["data"][-1]["text"]) == 40
    assert len(drawn(visit("problems", part="2"))["data"][-1]["text"]) == 1
    assert len(drawn(visit("problems", part="٣x"))["data"][-1]["text"]) == 40


def test_names_stay_text_in_the_chart(recorded: Plan) -> None:
    with open_workspace() as workspace:
        row = replace(workspace.results.summaries(recorded.id)[0], label=HOSTILE, benchmark="bench", configuration="a")
    figure = heatmap([row], difficulties([("bench", "a")], trials("a", {HOSTILE: "1"})))
    assert "<a" not in figure.to_json().replace("\\u003c", "<")
