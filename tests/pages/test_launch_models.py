"""Launch offers several models where all of them are asked, and says of each strategy what it is."""

from __future__ import annotations

from collections.abc import Callable

from reading import said
from streamlit.testing.v1 import AppTest

Visit = Callable[..., AppTest]


def strategy(app: AppTest, name: str) -> None:
    """Choose it in the first of the configurations."""
    next(box for box in app.selectbox if box.label == "Strategy").set_value(name).run()


def test_roles_of_which_all_models_are_asked_take_several_in_their_order(visit: Visit) -> None:
    app = visit("launch")
    strategy(app, "cascade")
    assert "asks one coder after the other, so it needs several" in said(app)
    (coder,) = (box for box in app.multiselect if box.label == "Coder")
    coder.set_value(["scripted/weak", "scripted/strong"]).run()
    assert not app.exception
    assert "'cascade coder=scripted/weak,scripted/strong'" in app.code[-1].value
    assert [box.label for box in app.selectbox if box.label == "Tester"] == ["Tester"]


def test_a_model_whose_reason_changes_or_goes_away_stays_chosen(visit: Visit) -> None:
    app = visit("launch")
    coder = app.selectbox(key="coder row 1 1")
    coder.options.append("⊘ scripted/never: a reason of earlier")  # a browser sends the label that it received
    coder.set_value(coder.options[-1]).run()
    assert app.selectbox(key="coder row 1 1").value == "scripted/never"
    assert "coder=scripted/never" in app.code[-1].value
    strategy(app, "cascade")
    (coders,) = (box for box in app.multiselect if box.label == "Coder")
    assert coders.value == ["scripted/never"]
    coders.set_value(["⊘ scripted/weak: a reason of earlier", "scripted/strong"]).run()
    assert "'cascade coder=scripted/weak,scripted/strong'" in app.code[-1].value
    assert next(box for box in app.multiselect if box.label == "Coder").value == ["scripted/weak", "scripted/strong"]


def test_a_browser_that_draws_a_box_only_after_a_second_run_shows_the_chosen_model(visit: Visit) -> None:
    app = visit("launch", preset="maximum quality").run()
    (spec,) = (box for box in app.selectbox if box.label == "Spec")
    assert "anthropic/claude-opus" in spec.options[spec.proto.default]  # otherwise "Same as coder"


def test_a_strategy_says_what_it_does_what_it_costs_in_calls_and_where_it_comes_from(visit: Visit) -> None:
    app = visit("launch")
    strategy(app, "best_of")
    text = said(app)
    assert "Test several programs and choose among the best by a vote on their behaviour" in text
    assert "Calls: samples; one more to the tester if different programs are equally good" in text
    assert "Large Language Monkeys" in text
