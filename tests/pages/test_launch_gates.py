"""Launch offers gates and feedback to who heeds them, and tells what they leave out."""

from __future__ import annotations

from collections.abc import Callable

from reading import said
from streamlit.testing.v1 import AppTest

Visit = Callable[..., AppTest]


def test_a_chosen_gate_and_feedback_are_part_of_the_command(visit: Visit) -> None:
    app = visit("launch")
    gates, feedbacks = ([box for box in app.selectbox if box.label == name] for name in ("Gate tests", "Feedback"))
    assert (len(gates), len(feedbacks)) == (1, 1)  # of supervised: direct never runs gate tests
    gates[0].set_value("split:0.5")
    feedbacks[0].set_value("count").run()
    assert not app.exception
    assert "gate=split:0.5 feedback=count" in app.code[-1].value


def test_problems_that_a_gate_leaves_out_are_told(visit: Visit) -> None:
    app = visit("launch")
    app.segmented_control(key="way 1").set_value("list").run()
    app.text_input(key="listed 1").set_value("30:35").run()
    next(box for box in app.selectbox if box.label == "Gate tests").set_value("split:0.5").run()
    assert not app.exception
    reason = "the tests consist of only one assert or one loop"
    told = f"Problems left out for all configurations: 2 of 5 ({reason}: HumanEval/32, HumanEval/34)."
    assert told in said(app)
