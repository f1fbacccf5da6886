"""The search box of every page, and the Search page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.bundles.creation import open_bundle
from koderz_core.records import Plan
from koderz_core.records.search import SearchQuery
from koderz_core.report.formats import NO_MATCH

Visit = Callable[..., AppTest]


def hits(app: AppTest) -> str:
    """The excerpts, as HTML."""
    return "".join(block.proto.body for block in app.get("html") if "class='hit'" in block.proto.body)


def test_the_box_of_a_page_leads_to_the_matches(visit: Visit, recorded: Plan) -> None:
    app = visit("models")
    app.sidebar.text_input[0].set_value("has_close_elements")
    app.sidebar.button[0].click().run()
    (opened,) = app.sidebar.get("bidi_component")
    assert json.loads(opened.proto.json)["address"] == f"search?benchmarks={recorded.id}&q=has_close_elements"
    assert "<mark>has_close_elements</mark>" in hits(visit("search", q="has_close_elements"))


def test_the_kind_and_the_words_are_in_the_address(visit: Visit, recorded: Plan) -> None:
    app = visit("search", q="has_close_elements", kind="program")
    links = [link.proto for link in app.main.get("page_link")]
    assert {link.label.partition(" ")[0] for link in links} == {"Program"}
    assert any("experiment=exp_" in link.query_string and "step=" in link.query_string for link in links)
    assert NO_MATCH in said(visit("search", q="has_close_elements", kind="error"))


def test_a_page_that_is_opened_again_at_once_keeps_its_words(visit: Visit, recorded: Plan) -> None:
    app = visit("models")  # Back and Forward: the page between was stopped before it had said which page it is
    app.session_state["page"], app.session_state["q in the URL"] = "search", "has_close_elements"
    app.switch_page("pages/search.py").query_params["q"] = "has_close_elements"
    app.run()
    assert app.query_params["q"] == "has_close_elements"
    assert "<mark>has_close_elements</mark>" in hits(app)


def test_names_and_texts_are_shown_as_text(visit: Visit, recorded: Plan) -> None:
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order([Wanted("direct", {"coder": "scripted/strong"})], "0:1", name="<b>mine</b>"))
        workspace.runs.run(plan)
    shown = hits(visit("search", q="mine", limit="nonsense"))
    assert "&lt;b&gt;<mark>mine</mark>&lt;/b&gt;" in shown
    assert "<b>" not in shown


def test_a_bundle_has_no_match_that_its_pages_do_not_show(recorded: Plan, tmp_path: Path) -> None:
    with open_workspace() as workspace:
        path = workspace.bundles.make(recorded.id, "public_safe").path
        assert workspace.results.search(SearchQuery("has_close_elements", "answer")).hits
    open_bundle(path, tmp_path / "shown")
    with open_workspace(home=tmp_path / "shown") as shown:
        found = shown.results.search(SearchQuery("has_close_elements", "answer")).hits
        for hit in found:
            details = shown.results.experiment(str(hit.experiment))
            texts = shown.results.texts([str(call.text) for call in details.calls])
            assert any("has_close_elements" in text for text in texts.values())
