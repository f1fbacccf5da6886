"""The draft of New run survives; a preset is marked until something is changed; what cannot act is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
import streamlit as st
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import open_workspace
from koderz_core.config import load_settings
from koderz_core.plan.presets import BEST_EMBEDDED
from koderz_core.records import Plan
from koderz_core.workspace.models import Availability, Models

Visit = Callable[..., AppTest]


def badges(app: AppTest) -> list[str]:
    return [text.value for text in app.markdown if "badge" in text.value]


def links(app: AppTest) -> dict[str, str]:
    return {link.proto.label: link.proto.query_string for link in app.get("page_link")}


def coders(app: AppTest) -> set[str]:
    return {str(box.value) for box in app.selectbox if box.label == "Coder"}


def edited(visit: Visit) -> AppTest:
    """A draft in which every kind of field is changed."""
    app = visit("launch", preset="all free")
    app.number_input(key="to 1").set_value(7)
    app.text_input(key="name 1").set_value("mine")
    app.number_input(key="budget 1").set_value(2.5)
    app.number_input(key="concurrency 1").set_value(3)
    next(box for box in app.selectbox if box.label == "Coder").set_value("scripted/strong")
    next(box for box in app.number_input if box.label == "Maximum iterations").set_value(9)
    app.button(key="add").click().run()
    next(box for box in app.selectbox if box.label == "Strategy").set_value("repair").run()
    assert not app.exception
    return app


def test_a_reload_keeps_the_whole_draft(visit: Visit) -> None:
    app = edited(visit)
    command, query = app.code[-1].value, dict(app.query_params)
    assert query.keys() == {"draft"}
    assert "--problems 0:7" in command
    assert "'repair coder=scripted/strong max_iterations=9'" in command
    assert "'supervised coder=scripted/strong max_iterations=9'" in command
    again = visit("launch", **query)
    assert again.code[-1].value == command
    assert "Changed: configurations, problems, name, budget, concurrency." in said(again)


def test_a_removed_configuration_stays_removed_and_the_others_keep_their_values(visit: Visit) -> None:
    app = visit("launch")
    app.button(key="remove 1 1").click().run()
    assert "max_iterations=3 checkpoint_interval=2" in app.code[-1].value
    assert [box.value for box in app.selectbox if box.label == "Strategy"] == ["supervised"]
    assert visit("launch", **dict(app.query_params)).code[-1].value == app.code[-1].value


def test_a_request_that_the_browser_sent_before_a_removal_does_not_restore_the_preset(visit: Visit) -> None:
    app = visit("launch", preset="quick look")
    before = app._tree.get_widget_states()
    app.button(key="remove 1 1").click().run()
    app._run(before)
    assert [box.value for box in app.selectbox if box.label == "Strategy"] == ["supervised"]


def test_another_page_and_the_menu_keep_the_draft(visit: Visit) -> None:
    app = edited(visit)
    command, query = app.code[-1].value, dict(app.query_params)
    app.switch_page("pages/models.py").run()
    app.query_params.clear()
    app.switch_page("pages/launch.py").run()
    assert app.code[-1].value == command
    assert dict(app.query_params) == query


def test_a_typed_problem_is_part_of_the_draft_before_it_is_complete(visit: Visit) -> None:
    app = visit("launch")
    app.segmented_control(key="way 1").set_value("own").run()
    app.text_area(key="own tests 1").set_value("assert double(").run()
    again = visit("launch", **dict(app.query_params))
    assert again.text_area(key="own tests 1").value == "assert double("
    assert "This benchmark cannot start yet." in said(again)


def test_a_dashboard_that_shows_a_bundle_writes_neither_drafts_nor_problems(visit: Visit, recorded: Plan) -> None:
    home = load_settings().home
    mark = {"run_id": recorded.id, "privacy_level": "team_safe"}
    (home / "opened-bundle.json").write_text(json.dumps(mark))
    before = set(home.rglob("*"))
    app = visit("launch")
    app.number_input(key="to 1").set_value(7).run()
    assert "--problems 0:7" in app.code[-1].value
    app.segmented_control(key="way 1").set_value("own").run()
    app.button(key="own used").click().run()
    assert "read-only" in said(app)
    assert {path for path in set(home.rglob("*")) - before if {"drafts", "datasets"} & {*path.parts}} == set()


def test_a_model_that_becomes_ready_changes_only_an_untouched_preset(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = Models.survey

    def with_another_model(models: Models) -> list[Availability]:
        st.cache_data.clear()
        return [replace(row, ready=row.ready or row.id == BEST_EMBEDDED[0]) for row in survey(models)]

    untouched, touched = visit("launch"), visit("launch")
    monkeypatch.setattr(Models, "survey", with_another_model)
    st.cache_data.clear()
    assert coders(untouched.run()) == {BEST_EMBEDDED[0]}
    touched.number_input(key="to 1").set_value(7).run()  # arrives together with the new model
    assert "--problems 0:7" in touched.code[-1].value
    assert coders(touched) == {"scripted/weak"}
    assert touched.query_params.keys() == {"draft"}


def test_an_invalid_value_stops_neither_the_form_nor_the_draft(visit: Visit) -> None:
    app = visit("launch")
    next(box for box in app.selectbox if box.label == "Strategy").set_value("warming").run()
    next(box for box in app.text_input if box.label == "Temperature or effort per attempt").set_value("hot").run()
    again = visit("launch", **dict(app.query_params))
    assert "'hot' in 'hot' is not a valid temperature or effort" in said(again)
    assert again.number_input(key="budget 1")


@pytest.mark.parametrize("content", [None, b"{}", b'{"rows":[],"problems":7}', b"\x00"])
def test_an_address_without_a_readable_draft_says_so(visit: Visit, content: bytes | None) -> None:
    if content is not None:
        folder = load_settings().home / "drafts"
        folder.mkdir(parents=True)
        (folder / "0123abcd.json").write_bytes(content)
    app = visit("launch", draft="0123abcd")
    assert not app.exception
    assert "unknown value of the parameter `draft`" in said(app)
    assert app.code[-1].value == "koderz benchmark --preset quick-look"
    assert "unknown value" in said(visit("launch", draft="../settings"))


def test_a_preset_is_marked_as_modified_and_can_be_restored(visit: Visit) -> None:
    app = visit("launch")
    assert not badges(app)
    assert "Takes a few minutes" in said(app)
    app.number_input(key="to 1").set_value(20).run()
    assert badges(app) == [":orange-badge[✏️ Modified]"]
    assert "Takes a few minutes" not in said(app)
    assert app.code[-1].value == "koderz benchmark --preset quick-look --problems 0:20"
    app.button(key="reset").click().run()
    assert not badges(app)
    assert app.number_input(key="to 2").value == 3


def test_another_preset_replaces_the_draft(visit: Visit) -> None:
    app = edited(visit)
    next(choice for choice in app.segmented_control if choice.label == "Preset").set_value("zero-shot").run()
    assert app.code[-1].value == "koderz benchmark --preset zero-shot"
    assert dict(app.query_params) == {"preset": "zero-shot"}
    assert not badges(app)


def test_parameters_that_cannot_act_are_disabled_or_named(visit: Visit) -> None:
    app = visit("launch", preset="iterative")
    next(box for box in app.number_input if box.label == "Review interval").set_value(7)
    next(box for box in app.checkbox if box.label == "Reviews").uncheck().run()
    assert "checkpoint_interval=7 has no effect in supervised SCRIPTED weak, because checkpoints is false." in said(app)
    disabled = {box.label for kind in (app.checkbox, app.selectbox) for box in kind if box.disabled}
    assert {"Additional review sections", "Review trigger"} <= disabled


def test_an_ended_run_leads_from_its_draft_to_its_results(visit: Visit, recorded: Plan) -> None:
    app = visit("launch", clone=recorded.id)
    assert "Already recorded: 6 of 6 experiments" in said(app)
    assert links(app)["See results"] == f"benchmarks={recorded.id}"
    app.number_input(key="seed 1").set_value(1).run()
    app.button(key="start").click().run()
    with open_workspace() as workspace:
        (started,) = {row.id for row in workspace.results.benchmarks()} - {recorded.id}
    app.query_params.clear()
    app.switch_page("pages/launch.py").run()
    assert links(app).keys() & {"Watch the run", "See results"}
    app.number_input(key="seed 1").set_value(2).run()
    assert "Last run of this draft" in said(app)
    assert started in "".join(links(app).values())
