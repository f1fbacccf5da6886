"""New run offers the efforts that a model accepts, and none for a model that accepts none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest

Visit = Callable[..., AppTest]


def efforts(app: AppTest) -> list[str]:
    """Of the first configuration."""
    return [box.label for box in app.selectbox if box.label.startswith("Effort") and "row 1" in str(box.key)]


def coder(app: AppTest) -> Any:
    return next(box for box in app.selectbox if box.label == "Coder")


def test_an_effort_can_be_chosen_for_a_model_that_accepts_one(visit: Visit) -> None:
    app = visit("launch")
    next(box for box in app.selectbox if box.label == "Strategy").set_value("direct").run()
    coder(app).set_value("openai/gpt-4o").run()
    assert not efforts(app)
    coder(app).set_value("openai/gpt-5-mini").run()
    effort = next(box for box in app.selectbox if box.label == "Effort of the coder")
    assert effort.options == ["Default of the model", "minimal", "low", "medium", "high"]
    effort.set_value("high").run()
    assert not app.exception
    assert "coder.effort=high" in app.code[-1].value
