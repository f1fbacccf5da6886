"""A comparison that takes long: the page is there at once, and no number on it changes by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.errors import StoreError
from koderz_core.records import Plan
from koderz_core.store.answers import THREAD_NAME
from koderz_core.workspace.comparisons import Comparisons

Visit = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def _all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.ui.slow_results.MANY", 0)
    monkeypatch.setattr("pages.ui.slow_results.LARGE", 0)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Comparing waits until this is set."""
    go, compare = threading.Event(), Comparisons.compare
    monkeypatch.setattr(Comparisons, "compare", lambda *given, **more: go.wait(30) and compare(*given, **more))
    return go


def ended() -> None:
    """Wait for what is computed."""
    for thread in threading.enumerate():
        if thread.name == THREAD_NAME:
            thread.join(30)


def run_another(problems: str) -> None:
    """The journals say more."""
    with open_workspace() as workspace:
        workspace.runs.run(workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/weak"})], problems)))


def test_the_page_says_what_it_knows_and_then_shows_the_comparison(
    visit: Visit, recorded: Plan, held: threading.Event
) -> None:
    app = visit("compare", benchmarks=recorded.id)
    assert any("Comparing 6 experiments" in element.value for element in app.info)
    assert list(app.dataframe[0].value["experiments solved"].str.endswith("of 3")) == [True, True]
    assert not app.get("plotly_chart")
    held.set()
    ended()
    app.run()
    assert not any("Comparing" in element.value for element in app.info)
    assert any("[" in cell for cell in app.dataframe[0].value["solved [95 %]"])
    assert any(element.value.startswith("Results as of ") for element in app.caption)


def test_numbers_stay_until_somebody_asks_for_those_of_now(visit: Visit, recorded: Plan) -> None:
    run_another("0:1")  # so that the newest benchmark, which a page shows unasked, is another one from the beginning
    app = visit("compare", benchmarks=recorded.id)
    ended()
    app.run()
    before = app.dataframe[0].value
    run_another("0:2")
    app.run()
    assert app.dataframe[0].value.equals(before)
    assert any("have arrived since" in element.value for element in app.caption)
    next(button for button in app.button if button.label == "Compare again").click().run()
    ended()
    app.run()
    assert not any("have arrived since" in element.value for element in app.caption)


def test_what_broke_it_is_said_once_and_not_tried_again_and_again(
    visit: Visit, recorded: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()

    def fail(*_: object, **__: object) -> None:
        go.wait(30)
        raise StoreError("The store is on strike.")

    monkeypatch.setattr(Comparisons, "compare", fail)
    app = visit("compare", benchmarks=recorded.id)
    go.set()
    ended()
    app.run()
    assert "on strike" in said(app)
    assert not any(thread.name == THREAD_NAME for thread in threading.enumerate())
