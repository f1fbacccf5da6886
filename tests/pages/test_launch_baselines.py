"""Launch offers baselines: on unless somebody turns them off, with the words of the command line."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

Visit = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def _a_frontier_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KODERZ_TIERS", '{"scripted/strong": "frontier"}')


def test_baselines_are_part_of_a_supervised_benchmark_until_they_are_turned_off(visit: Visit) -> None:
    app = visit("launch")
    next(box for box in app.selectbox if box.label == "Reviewer").set_value("scripted/strong").run()
    added = "Baselines that koderz adds for the comparison: direct SCRIPTED strong."
    assert f"{added} Cost of the baselines: at most $" in said(app)
    assert app.metric[0].value == "9"
    assert "--no-baselines" not in app.code[-1].value
    app.checkbox(key="baselines 1").uncheck().run()
    assert not app.exception
    assert app.metric[0].value == "6"
    assert "--no-baselines" in app.code[-1].value


def test_where_nothing_is_lacking_there_is_nothing_to_choose(visit: Visit) -> None:
    app = visit("launch")  # its quick look asks the one model directly too
    assert app.checkbox(key="baselines 1").disabled
    assert "Baselines" not in said(app)
