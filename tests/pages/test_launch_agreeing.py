"""What may be dear or long is begun only once a person has agreed to it; a free quick look begins at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from koderz_core import open_workspace
from koderz_core.records import Plan

Visit = Callable[..., AppTest]


def benchmarks() -> int:
    with open_workspace() as workspace:
        return len(workspace.results.benchmarks())


def test_what_costs_nothing_and_is_quick_begins_at_once(visit: Visit, recorded: Plan) -> None:
    app = visit("launch", clone=recorded.id)
    app.number_input(key="seed 1").set_value(1).run()
    app.button(key="start").click().run()
    assert not app.exception
    assert benchmarks() == 2


def test_what_may_take_long_begins_once_a_person_has_agreed(
    visit: Visit, recorded: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KODERZ_CONFIRM_HOURS", "0")
    app = visit("launch", clone=recorded.id)
    app.number_input(key="seed 1").set_value(1).run()
    app.button(key="start").click().run()
    assert not app.exception
    words = "\n".join(str(element.value) for element in app.text)
    assert "The 90th percentile of the estimated time is" in words
    assert "The benchmark runs on this machine, in the process of the dashboard" in words
    assert benchmarks() == 1
    app.button(key="agree").click().run()
    assert not app.exception
    assert benchmarks() == 2
