"""The Problems page: its filters, its matrix, and the transcript of the chosen experiment."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core.config import load_settings
from koderz_core.grading.mutation_score import MutationScore, MutationScores
from koderz_core.records import Plan

Visit = Callable[..., AppTest]


def drawn(app: AppTest) -> Any:  # Any: JSON
    (matrix,) = app.get("bidi_component")
    return json.loads(matrix.proto.json)


def test_every_experiment_is_a_cell_and_the_same_stands_in_a_table(visit: Visit, recorded: Plan) -> None:
    app = visit("problems", benchmarks=recorded.id)
    matrix = drawn(app)
    words = [matrix["states"][cell % len(matrix["states"])][1] for line in matrix["lines"] for cell in line["cells"]]
    app.session_state["tables"] = True
    table = app.run().dataframe[0].value
    signs = {"solved": "✓", "unsolved": "✗"}
    assert [signs[word] for word in words] == [*table["A"], *table["B"]]
    assert list(table["problem"]) == matrix["problems"]


def test_the_filter_is_part_of_the_address(visit: Visit, recorded: Plan) -> None:
    weak = "/".join((recorded.id, recorded.configurations[1].id))
    app = visit("problems", show="unsolved")
    app.segmented_control(key="choice of show").set_value("only").run()
    app.selectbox(key="choice of one").set_value(weak).run()
    assert not app.exception
    assert (app.query_params["show"], app.query_params["one"]) == ("only", weak)
    assert "No problem matches" in said(app)  # the strong one solves all of them


def test_the_problem_in_the_address_offers_its_experiments_and_the_experiment_its_steps(
    visit: Visit, recorded: Plan
) -> None:
    direct, supervised = (item.id for item in recorded.experiments() if item.problem == "HumanEval/1")
    app = visit("problems", problem="HumanEval/1")
    assert app.selectbox(key="choice of experiment").value == direct
    app = visit("problems", experiment=supervised, step="2")
    assert "HumanEval/1" in said(app)
    assert app.radio(key="choice of step").value == "2"
    assert drawn(app)["chosen"][1] == 1


def test_an_unknown_problem_leaves_the_address(visit: Visit, recorded: Plan) -> None:
    app = visit("problems", problem="HumanEval/9999")
    assert "unknown value of the parameter `problem`" in said(app)
    assert "problem" not in app.query_params
    assert "unknown value" not in said(app.run())


def test_next_and_previous_lead_through_the_problems_of_the_matrix(visit: Visit, recorded: Plan) -> None:
    weak = recorded.configurations[1].id
    of = {item.problem: item.id for item in recorded.experiments() if item.configuration == weak}
    app = visit("problems")
    first, second, _ = drawn(app)["problems"]
    assert app.button(key="previous problem").disabled
    app.selectbox(key="choice of experiment").set_value(of[first]).run()
    app.button(key="next problem").click().run()
    assert app.query_params["experiment"] == of[second]  # of the same configuration
    app.button(key="next problem").click().run()
    assert app.button(key="next problem").disabled
    app.button(key="previous problem").click().run()
    assert app.query_params["experiment"] == of[second]


def test_another_experiment_begins_at_its_own_steps(visit: Visit, recorded: Plan) -> None:
    direct, supervised = (item.id for item in recorded.experiments() if item.problem == "HumanEval/1")
    app = visit("problems", experiment=supervised, step="1")
    app.selectbox(key="choice of experiment").set_value(direct).run()
    assert "step" not in app.query_params
    assert "unknown value" not in said(app)


def test_the_text_of_the_problem_is_read_when_it_is_opened(visit: Visit, recorded: Plan) -> None:
    app = visit("problems", problem="HumanEval/1", view="Tests")
    assert not app.code
    app.session_state["problem text"] = True
    assert "def separate_paren_groups" in app.run().code[0].value


def test_more_problems_than_one_sight_holds_are_further_pages(
    visit: Visit, recorded: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pages.ui.difficulty.PROBLEMS_PER_PAGE", 2)
    assert [len(drawn(visit("problems", part=part))["problems"]) for part in ("1", "2", "٣x")] == [2, 1, 2]


def test_tests_that_a_cached_mutation_score_shows_as_weak_are_named(visit: Visit, recorded: Plan) -> None:
    weak, sound = recorded.problems[:2]
    said_before = said(visit("problems", benchmarks=recorded.id))
    folder = load_settings().cache_dir / "mutation"
    scores = MutationScores(folder, pytest.fail, lambda _problem, _policy: pytest.fail("computed"))
    scores.keep(recorded.dataset.sha256, {weak: MutationScore(9, 6, 6), sound: MutationScore(9, 7, 7)})
    named = f"Problems with weak tests (a third of the mutants or more survive): 1 ({weak}: 6 of 9 mutants killed)."
    assert (named in said_before, named in said(visit("problems", benchmarks=recorded.id))) == (False, True)
