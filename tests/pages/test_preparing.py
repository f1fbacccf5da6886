"""What takes long when it is asked for the first time: the page is there at once, and says so until it is read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.errors import StoreError
from koderz_core.records import Plan
from koderz_core.store.results import Results
from koderz_core.workspace.comparisons import Comparisons
from pages.ui.slow_results import WORKERS

Visit = Callable[..., AppTest]
LOADING = "Loading 6 experiments …"


@pytest.fixture(autouse=True)
def _all_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.ui.slow_results.MANY", 0)
    monkeypatch.setattr("koderz_core.report.status.MANY", 0)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Experiments are read when this is set, and not before."""
    go = threading.Event()
    for name in ("trials", "snapshot"):
        before(monkeypatch, Results, name, lambda: go.wait(30))
    yield go
    go.set()


def before(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, act: Callable[[], object]) -> None:
    """Something happens whenever that is asked."""
    ask = getattr(owner, name)

    def asked(*given: object, **more: object) -> object:
        act()
        return ask(*given, **more)

    monkeypatch.setattr(owner, name, asked)


def ended() -> None:
    WORKERS.submit(int).result()


def run_another(problems: str = "0:1") -> None:
    """The journals say more."""
    with open_workspace() as workspace:
        workspace.runs.run(workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/weak"})], problems)))


@pytest.mark.parametrize(
    ("page", "query", "known", "shown"),
    [
        ("compare", "benchmarks", "experiments solved", "Cost per solved problem"),
        ("problems", "benchmarks", "experiments solved", "Transcript"),
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
        monkeypatch.setattr("pages.ui.slow_results.LARGE", 0)
    app = visit(page, **{query: recorded.id})
    assert LOADING in said(app)
    assert shown not in said(app)
    assert known in f"{said(app)} {[list(table.value) for table in app.dataframe]}"
    held.set()
    ended()
    app.run()
    assert LOADING not in said(app)
    assert shown in said(app)


def test_what_was_read_is_shown_though_more_was_said_meanwhile(
    visit: Visit, recorded: Plan, held: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_another()  # so that the newest benchmark, which a page shows unasked, is another one from the beginning
    read: list[bool] = []
    before(monkeypatch, Comparisons, "compare", lambda: read.append(True))
    app = visit("compare", benchmarks=recorded.id)
    run_another("0:2")
    held.set()
    ended()
    app.run()
    assert "Cost per solved problem" in said(app)
    assert len(read) == 1


def test_a_result_that_ended_while_the_user_was_elsewhere_is_computed_again(
    visit: Visit, recorded: Plan, held: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_another()
    computed: list[bool] = []
    before(monkeypatch, Comparisons, "compare", lambda: computed.append(True))
    app = visit("compare", benchmarks=recorded.id)
    held.set()
    ended()
    run_another("0:2")
    with monkeypatch.context() as later:
        later.setattr("pages.ui.slow_results.FRESH_SECONDS", -1.0)
        app.run()
    ended()
    assert len(computed) == 2  # before another run, which reads what the journals say now in any case
    app.run()
    assert "Cost per solved problem" in said(app)


def test_a_full_page_is_not_emptied_when_more_was_said(
    visit: Visit, recorded: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pages.ui.slow_results.WAIT_SECONDS", 0.0)
    run_another()
    app = visit("compare", benchmarks=recorded.id)
    ended()
    app.run()
    run_another("0:2")
    app.run()
    assert LOADING not in said(app)
    assert "Cost per solved problem" in said(app)


def test_what_the_address_chooses_is_still_chosen_when_all_is_read(
    visit: Visit, recorded: Plan, held: threading.Event
) -> None:
    app = visit("compare", benchmarks=recorded.id, axis="usd")
    held.set()
    ended()
    app.run()  # draws the choice
    configurations = app.main.multiselect[-1]
    configurations.set_value(configurations.value[:1])
    held.clear()
    app.run()
    assert "Loading" in said(app)
    held.set()
    ended()
    app.run()
    assert app.query_params["axis"] == "usd"


def test_what_broke_it_is_said_and_it_is_tried_again(
    visit: Visit, recorded: Plan, held: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    strikes = iter([StoreError("The store is on strike.")])

    def strike() -> None:
        held.wait(30)
        if error := next(strikes, None):
            raise error

    before(monkeypatch, Comparisons, "compare", strike)
    app = visit("compare", benchmarks=recorded.id)
    assert "on strike" not in said(app)
    held.set()
    ended()
    app.run()
    assert "on strike" in said(app)
    app.run()
    ended()
    app.run()
    assert "Cost per solved problem" in said(app)
