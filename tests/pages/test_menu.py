"""The menu, the tabs, and the benchmarks that are chosen once for all pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qs

import pytest
from reading import said
from sample import thinned
from streamlit.testing.v1 import AppTest

from koderz_core import open_workspace
from koderz_core.records import Plan
from pages.ui import pickers
from pages.ui.shell import PAGES

Visit = Callable[..., AppTest]
OF_EACH_GROUP = thinned(
    list(PAGES), "pages whose menu is read", {place.group: name for name, place in PAGES.items()}.values()
)
GROUPS = ["Home", "New run", "Benchmark", "Workbench", "System"]


def links(app: AppTest) -> dict[str, str]:
    """Every link with the benchmarks in its address."""
    found = ((link.proto.label, parse_qs(link.proto.query_string)) for link in app.get("page_link"))
    return {label: ",".join(query.get("benchmarks", [])) for label, query in found}


@pytest.fixture
def newer(recorded: Plan) -> Plan:
    """A second benchmark."""
    plan = replace(recorded, name="newer")
    with open_workspace() as workspace:
        workspace.runs.run(plan)
    return plan


@pytest.mark.parametrize("page", OF_EACH_GROUP)
def test_every_page_has_the_menu_and_the_tabs_of_its_group(visit: Visit, page: str) -> None:
    tabs = [place.title for place in PAGES.values() if place.group == PAGES[page].group and PAGES[page].group]
    tabs = tabs if len(tabs) > 1 else []  # a page alone in its group needs no tab
    app = visit(page)
    assert [link.proto.label for link in app.sidebar.get("page_link")] == GROUPS
    assert [label for label in links(app) if label in tabs] == tabs


@pytest.mark.parametrize("page", thinned(list(PAGES), "pages whose links are read", always=("live",)))
def test_the_chosen_benchmarks_are_part_of_every_address(visit: Visit, recorded: Plan, newer: Plan, page: str) -> None:
    app = visit(page)
    assert app.query_params["benchmarks"] == newer.id
    app.sidebar.multiselect[0].set_value([recorded.id, newer.id]).run()
    both = f"{recorded.id},{newer.id}"
    assert app.query_params["benchmarks"] in (both, [both])
    shown = links(app)
    assert {shown[label] for label in GROUPS} == {both}


def test_an_address_of_earlier_versions_still_names_its_benchmark(visit: Visit, recorded: Plan, newer: Plan) -> None:
    app = visit("live", benchmark=recorded.id)
    assert app.query_params["benchmarks"] == recorded.id
    assert recorded.id in links(app)["Summary"]
    app = visit("experiment", experiment=recorded.experiments()[0].id)
    assert app.query_params["benchmarks"] in (recorded.id, [recorded.id])


def test_other_benchmarks_drop_the_choices_within_the_previous_ones(visit: Visit, recorded: Plan, newer: Plan) -> None:
    app = visit("compare", benchmarks=newer.id, configurations=f"{newer.id}/{newer.configurations[0].id}")
    app.sidebar.multiselect[0].set_value([recorded.id]).run()
    assert "configurations" not in app.query_params
    assert "unknown configuration" not in said(app)


def test_a_benchmark_that_is_chosen_on_home_drops_the_choices_within_the_previous_one(
    visit: Visit, recorded: Plan, newer: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pickers, "selected", lambda *_given, **_options: recorded.id)
    app = visit("overview", benchmarks=newer.id, budget="0.0005")
    assert app.query_params["benchmarks"] in (recorded.id, [recorded.id])
    assert "budget" not in app.query_params


def test_without_any_choice_the_newest_benchmark_is_shown(visit: Visit, recorded: Plan, newer: Plan) -> None:
    app = visit("compare", benchmarks=recorded.id)
    app.sidebar.multiselect[0].set_value([]).run()
    assert app.query_params["benchmarks"] in (newer.id, [newer.id])
    assert links(app)["Live"] == newer.id
