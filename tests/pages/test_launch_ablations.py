"""Launch adds a grid of ablations by one click, and offers the modes of the original koderz."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core.plan.forms import strategy_forms
from koderz_core.strategies import MODES

Visit = Callable[..., AppTest]


def switch(app: AppTest) -> None:
    (toggle,) = (element for element in app.toggle if element.label == "Ablations")  # of supervised: direct has none
    toggle.set_value(not toggle.value).run()
    assert not app.exception


def test_one_click_adds_the_grid_to_the_plan_and_another_takes_it_away(visit: Visit) -> None:
    app = visit("launch")
    switch(app)
    assert app.metric[0].value == "30"  # 3 problems, direct, and supervised with its 8
    assert "koderz will run this configuration and 8 ablations" in said(app)
    assert "would change nothing: no-lessons, no-examples." in said(app)
    assert app.code[-1].value == "koderz benchmark --preset quick-look --ablate all"
    switch(app)
    assert app.metric[0].value == "6"


def test_which_ablations_is_chosen_and_kept_while_other_pages_are_looked_at(visit: Visit) -> None:
    app = visit("launch")
    switch(app)
    next(element for element in app.multiselect if element.label == "Ablations to run").set_value(
        ["no-cot", "no-spec"]
    ).run()
    assert app.metric[0].value == "12"
    app.switch_page("pages/models.py").run()
    app.switch_page("pages/launch.py").run()
    assert not app.exception
    assert app.metric[0].value == "12"


def test_an_added_configuration_brings_no_ablations_along(visit: Visit) -> None:
    app = visit("launch")
    switch(app)
    app.button(key="add").click().run()
    assert [element.value for element in app.toggle if element.label == "Ablations"] == [True, False]


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_is_a_preset(visit: Visit, mode: str) -> None:
    app = visit("launch", preset=mode)
    assert not app.exception
    assert app.code[-1].value == f"koderz benchmark --preset {mode}"
    assert [box.value for box in app.selectbox if box.label == "Strategy"] == [*MODES[mode]]


def test_a_parameter_of_a_few_words_is_chosen_and_one_that_may_be_nothing_can_be(visit: Visit) -> None:
    app = visit("launch")
    next(element for element in app.selectbox if element.label == "Spec prompt").set_value("detailed").run()
    tokens = "Maximum tokens for earlier attempts"
    next(element for element in app.number_input if element.label == tokens).set_value(500).run()
    assert "spec_prompt=detailed history_tokens=500" in app.code[-1].value
    next(element for element in app.number_input if element.label == tokens).set_value(0).run()
    assert "history_tokens" not in app.code[-1].value


def test_every_parameter_says_what_it_changes(visit: Visit) -> None:
    app = visit("launch")
    names = {parameter.label for form in strategy_forms() for parameter in form.parameters}
    kinds = (app.checkbox, app.number_input, app.selectbox)
    shown = {widget.label: widget.help for kind in kinds for widget in kind if widget.label in names}
    assert {"Maximum iterations", "Chain of thought", "Temperature", "Spec prompt"} <= shown.keys()
    assert all(shown.values())
