"""Compare: what it comes to first, every number behind it, and every choice in the address."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, Workspace, open_workspace
from koderz_core.config import load_settings
from koderz_core.records import Plan
from pages.ui.frontier import after_click
from pages.ui.slow_results import comparison_of

Visit = Callable[..., AppTest]


@pytest.fixture(scope="module")
def _run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Plan]:
    home = tmp_path_factory.mktemp("compared")
    never = Wanted("supervised", {"coder": "scripted/never"}, {"max_iterations": 2, "checkpoints": False})
    order = Order([Wanted("direct", {"coder": "scripted/strong"}), never], "0:4")
    with open_workspace(home=home, memory="off") as workspace:
        plan = workspace.plans.plan(order)
        workspace.runs.run(plan)
        workspace.results.benchmarks()  # as in conftest.py
    return home, plan


@pytest.fixture
def plan(_run: tuple[Path, Plan]) -> Plan:
    """A model that is right never against one that mostly is, so that there are problems that part them."""
    home, plan = _run
    shutil.copytree(home, load_settings().home, dirs_exist_ok=True)
    return plan


def begin_again(workspace: Workspace) -> None:
    """The journal holds what was planned, and nothing that happened."""
    journal = next(workspace.settings.journals_dir.glob("*.jsonl"))
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])


def table(app: AppTest, column: str) -> pd.DataFrame:
    """The first table that has the column."""
    return next(table.value for table in app.dataframe if column in table.value)


def test_the_finding_comes_first_with_its_certainty_and_mixed_scores_are_warned_of(visit: Visit, plan: Plan) -> None:
    app = visit("compare", benchmarks=plan.id)
    assert not app.error
    best, cheapest, difference = (element.value for element in app.text[1:4])  # after the benchmark's name
    assert best.startswith("direct SCRIPTED strong has the highest success rate: 100 % [51, 100] of 4 experiments.")
    assert cheapest.startswith(
        "direct SCRIPTED strong (100 % [51, 100] solved) has the lowest cost per solved problem: "
    )
    assert difference.startswith("On 4 problems, supervised SCRIPTED never and direct SCRIPTED strong do not differ ")
    assert "Brackets contain 95 % intervals." in [element.value for element in app.caption]
    assert any(element.value.startswith("On 4 problems, supervised SCRIPTED never solved") for element in app.text)
    assert any("Two kinds of scores" in element.value for element in app.warning)


def test_the_page_asks_which_problems_and_its_report_is_about_the_same(visit: Visit) -> None:
    strong, never = (Wanted("direct", {"coder": f"scripted/{name}"}) for name in ("strong", "never"))
    with open_workspace() as workspace:
        plans = [workspace.plans.plan(order) for order in (Order([strong], "0:4"), Order([never], "2:6"))]
        for planned in plans:
            workspace.runs.run(planned)
    app = visit("compare", benchmarks=",".join(plan.id for plan in plans))
    (asked,) = (element for element in app.selectbox if element.label == "Problems")
    assert list(asked.options) == [
        "all problems of each configuration",
        "only problems that all configurations share (2)",
    ]
    assert any("did not run on the same problems" in element.value for element in app.warning)
    assert any(element.value.startswith("These configurations ran on different problems") for element in app.text)
    app = asked.set_value("shared").run()
    assert not any("did not run on the same problems" in element.value for element in app.warning)
    assert "ran on different problems" not in said(app)
    assert list(next(table.value for table in app.dataframe if "n" in table.value)["n"]) == ["2/2", "2/2"]
    assert app.query_params["problems"] == "shared"
    assert ["same_problems=yes" in button.proto.url for button in app.get("link_button")] == [True, True, True]
    app = visit("compare", benchmarks=plans[0].id, problems="shared")
    assert "problems" not in app.query_params
    app = visit("problems", benchmarks=",".join(plan.id for plan in plans), problems="shared")
    assert next(element.value for element in app.metric if element.label == "problems") == "2"


def test_a_baseline_that_only_the_page_narrows_does_not_narrow_its_report(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KODERZ_TIERS", json.dumps({"scripted/strong": "frontier"}))
    strong, never = (Wanted("direct", {"coder": f"scripted/{name}"}) for name in ("strong", "never"))
    with open_workspace() as workspace:
        measured, plan = workspace.plans.plan(Order([strong], "0:4")), workspace.plans.plan(Order([never], "0:2"))
        for planned in (measured, plan):
            workspace.runs.run(planned)
    app = visit("compare", benchmarks=plan.id)
    assert list(table(app, "n")["n"]) == ["2/2", "2/2"]
    links = [button.proto.url for button in app.get("link_button")]
    assert len(links) == 3
    assert not any("same_problems=yes" in link or measured.id in link for link in links)


def test_a_baseline_stays_chosen_when_its_letter_changes(visit: Visit, plan: Plan) -> None:
    with open_workspace() as workspace:
        again = replace(plan, seed=1)
        workspace.runs.run(again)
    app = visit("compare", benchmarks=f"{plan.id},{again.id}")
    (chosen,) = (box for box in app.multiselect if box.label == "Configurations")
    others = chosen.value[1:]
    last = others[-1]
    app.selectbox(key="choice of baseline").set_value(last).run()
    (chosen,) = (box for box in app.multiselect if box.label == "Configurations")
    chosen.set_value(others).run()
    box = app.selectbox(key="choice of baseline")
    assert box.options[2].startswith("C · supervised")
    assert (box.proto.set_value, box.proto.raw_value) == (True, box.options[2])  # else it keeps the earlier label
    box.options[2] = f"D{box.options[2][1:]}"  # of a browser that has not received the new label yet
    box.set_value(box.options[2]).run()
    assert app.query_params["baseline"] == last
    assert app.selectbox(key="choice of baseline").value == last


def test_every_chart_has_words_a_table_and_a_file(visit: Visit, plan: Plan) -> None:
    app = visit("compare", benchmarks=plan.id)
    charts = app.get("plotly_chart")
    assert len(charts) == 3  # nothing was paid, so there are two variants of success alone, and a curve
    assert all(chart.proto.alt for chart in charts)
    assert [element.label for element in app.expander].count("Table, CSV and image format") == 2
    assert len([button for button in app.get("download_button") if button.label == "CSV"]) == 4


def test_the_colours_of_the_picture_are_part_of_the_address(visit: Visit, plan: Plan) -> None:
    app = visit("compare", benchmarks=plan.id, colour="tier")
    assert not app.error
    assert app.query_params["colour"] == "tier"
    assert "colour" not in visit("compare", benchmarks=plan.id).query_params


def test_a_click_chooses_the_pair_and_a_second_click_the_baseline() -> None:
    assert after_click("C", baseline="A", other="B") == ("A", "C")
    assert after_click("C", baseline="A", other="C") == ("C", "A")
    assert after_click("A", baseline="A", other="C") == ("A", "C")


def test_a_budget_in_the_address_is_rounded_and_answered_and_the_slider_changes_it(visit: Visit) -> None:
    with open_workspace() as workspace:
        workspace.upkeep.open_example()
    app = visit("compare", budget="0.000052", axis="usd")
    assert not app.error
    assert app.query_params["budget"] == "0.00005"
    within = "A direct 0.5b solves the most problems, 61 % [39, 80]"
    assert f"For at most $0.00005 per problem ($0.05 per 1,000 problems): {within}" in said(app)
    assert r"The vertical line marks the budget of \$0.000050 per problem. In this chart, the budget limits" in said(
        app
    )
    app = app.select_slider[0].set_value("no limit").run()
    assert "budget" not in app.query_params
    assert "Without a budget: C " in said(app)


def test_only_what_was_measured_can_be_chosen_and_the_reason_is_given(visit: Visit, plan: Plan) -> None:
    app = visit("compare", benchmarks=plan.id)
    (axes,) = (group for group in app.get("button_group") if group.label == "Success against")
    assert "joules" not in axes.options
    assert "joules (known only for local models)" in said(app)


def test_each_configuration_has_its_interval_and_each_pair_its_test(visit: Visit, plan: Plan) -> None:
    app = visit("compare", benchmarks=plan.id)
    assert all("[" in cell for cell in table(app, "solved [95 %]")["solved [95 %]"])
    app = visit("statistics", benchmarks=plan.id)
    pairs = table(app, "p (Holm)")
    assert list(pairs["only A"].astype(int)) == [len(table(app, "problem"))]


def test_a_problem_that_parts_two_configurations_opens_both_programs_and_what_differs(visit: Visit, plan: Plan) -> None:
    app = visit("statistics", benchmarks=plan.id)
    problem = table(app, "problem")["problem"].iloc[-1]
    app = visit("statistics", benchmarks=plan.id, problem=problem)
    right, wrong, changed = (element.value for element in app.code)
    assert "return None" in wrong
    assert "return None" not in right
    assert changed.startswith("--- A\n+++ B\n")
    ways = [link.proto for link in app.get("page_link") if link.proto.label.startswith("Steps of this experiment")]
    assert len({way.query_string for way in ways}) == 2


def test_attempts_are_shown_of_the_configuration_that_is_asked_for_and_cost_nothing_before(
    visit: Visit, plan: Plan
) -> None:
    assert not any("solved here [95 %]" in table.value for table in visit("statistics", benchmarks=plan.id).dataframe)
    choice = f"{plan.id}/{plan.configurations[1].id}"
    (way,) = [
        link.proto
        for link in visit("compare", benchmarks=plan.id, configuration=choice).get("page_link")
        if link.proto.label == "Attempts of this configuration"  # the address of an earlier version
    ]
    assert (way.page, "configuration=" in way.query_string) == ("statistics", True)
    app = visit("statistics", benchmarks=plan.id, configuration=choice)
    assert list(table(app, "solved here [95 %]")["experiments"]) == ["4", "4"]
    assert list(table(app, "repeated programs")["repeated programs"]) == ["4"]  # the same wrong program twice


def test_an_earlier_address_may_also_contain_a_label(visit: Visit, plan: Plan) -> None:
    app = visit("compare", benchmarks=plan.id, configuration="any", label="unclear", icon="any")
    assert not app.error


def test_a_comparison_is_computed_again_only_when_a_journal_says_more(plan: Plan) -> None:
    with open_workspace() as workspace:
        rows = workspace.results.summaries(plan.id)
        found = comparison_of(workspace, rows, None, "attempts")
        assert comparison_of(workspace, rows, None, "attempts") is found
        assert comparison_of(workspace, rows, None, "seconds") is not found
        workspace.runs.run(workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/weak"})], "0:1")))
        assert comparison_of(workspace, rows, None, "attempts") is not found


def test_the_address_keeps_every_choice_and_says_what_it_cannot_keep(visit: Visit, plan: Plan) -> None:
    second = plan.configurations[1].id
    choices = {"benchmarks": plan.id, "axis": "seconds", "baseline": f"{plan.id}/{second}"}
    app = visit("compare", **choices)
    assert {name: app.query_params[name] for name in ("axis", "baseline")} == {
        name: choices[name] for name in ("axis", "baseline")
    }
    app = visit("statistics", **choices)
    assert table(app, "p (Holm)")["configuration"].iloc[0] == "direct SCRIPTED strong"
    lost = visit("statistics", benchmarks=plan.id, pair="nobody", problem="HumanEval/99")
    assert not lost.error
    assert [name for name in ("pair", "problem") if name in lost.query_params] == []
    assert "The link contains an unknown value of the parameter `pair`" in said(lost)


def test_one_configuration_alone_is_shown_without_anything_to_hold_it_against(visit: Visit, plan: Plan) -> None:
    choices = {"benchmarks": plan.id, "configurations": f"{plan.id}/{plan.configurations[0].id}"}
    assert len(table(visit("compare", **choices), "solved [95 %]")) == 1
    app = visit("statistics", **choices)
    assert not app.error
    assert "there is nothing to compare" in said(app)


def test_the_same_benchmark_twice_is_compared_once_and_an_unknown_one_is_said(visit: Visit, plan: Plan) -> None:
    app = visit("compare", benchmarks=f"{plan.id},{plan.id},bench_nothing")
    assert len(table(app, "solved [95 %]")) == 2
    assert "The link contains an unknown value of the parameter `benchmarks`" in said(app)


def test_only_what_differs_is_listed(visit: Visit, plan: Plan) -> None:
    app = visit("statistics", benchmarks=plan.id)
    differing = table(app, "setting").set_index("setting")
    assert list(differing.loc["strategy"]) == ["direct", "supervised"]
    assert "gate tests" in said(app)
    assert "gate" not in differing.index


def test_before_anything_has_ended_the_page_says_so_instead_of_drawing(visit: Visit, plan: Plan) -> None:
    with open_workspace() as workspace:
        begin_again(workspace)
    app = visit("compare", benchmarks=plan.id)
    assert not app.error
    assert "There is no problem for which every configuration has a result" in said(app)
    assert any("change. Unfinished: 8 experiments." in element.value for element in app.warning)


def test_without_a_common_result_no_equal_results_are_claimed(visit: Visit, plan: Plan) -> None:
    with open_workspace() as workspace:
        begin_again(workspace)
    text = said(visit("statistics", benchmarks=plan.id))
    assert "have no problem on which both have a result" in text
    assert "solved the same problems" not in text


def test_one_configuration_without_a_result_is_not_said_to_have_solved_anything(visit: Visit) -> None:
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/strong"})], "0:1"))
        workspace.runs.run(plan)
        begin_again(workspace)
    app = visit("compare", benchmarks=plan.id)
    assert app.text[1].value == "No experiment has a result yet."
    assert not app.get("plotly_chart")


def test_two_benchmarks_stand_side_by_side(visit: Visit, plan: Plan) -> None:
    with open_workspace() as workspace:
        again = replace(plan, seed=1)
        workspace.runs.run(again)
    app = visit("compare", benchmarks=f"{plan.id},{again.id}")
    assert list(table(app, "solved [95 %]")["key"]) == ["A", "B", "C", "D"]
    assert len(table(visit("statistics", benchmarks=f"{plan.id},{again.id}"), "p (Holm)")) == 3
