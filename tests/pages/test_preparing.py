"""What takes long when it is asked for the first time: the page is there at once, and says so until it is read."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core.errors import StoreError
from koderz_core.records import Plan
from koderz_core.store.results import Results
from pages.ui.preparing import NAME

Visit = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def _all_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.ui.compared.MANY", 0)
    monkeypatch.setattr("koderz_core.export.standing.MANY", 0)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Experiments are read when this is set, and not before."""
    go = threading.Event()
    for name in ("trials", "watched"):
        wait(monkeypatch, name, go)
    return go


def wait(monkeypatch: pytest.MonkeyPatch, name: str, go: threading.Event) -> None:
    read = getattr(Results, name)
    monkeypatch.setattr(Results, name, lambda *given, **more: go.wait(30) and read(*given, **more))


def ended() -> None:
    for thread in threading.enumerate():
        if thread.name == NAME:
            thread.join(30)


@pytest.mark.parametrize(
    ("page", "query", "known", "shown"),
    [
        ("compare", "benchmarks", "solved, of experiments", "On the same problems"),
        ("problems", "benchmarks", "solved, of experiments", "Experiments on it"),
        ("live", "benchmark", "state finished", "Updated"),
    ],
)
def test_what_is_known_stands_there_until_all_is_read(
    visit: Visit,
    recorded: Plan,
    held: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
    page: str,
    query: str,
    known: str,
    shown: str,
) -> None:
    if page == "problems":
        monkeypatch.setattr("pages.ui.compared.LARGE", 0)
    app = visit(page, **{query: recorded.id})
    assert "6 experiments are being read." in said(app)
    assert shown not in said(app)
    assert known in f"{said(app)} {[list(one.value) for one in app.dataframe]}"
    held.set()
    ended()
    app.run()
    assert "are being read" not in said(app)
    assert shown in said(app)


def test_what_broke_it_is_said(visit: Visit, recorded: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise StoreError("The store is on strike.")

    monkeypatch.setattr(Results, "trials", fail)
    assert "on strike" in said(visit("compare", benchmarks=recorded.id))
