"""Labels and notes on the Experiment page: saved by one click, shown as text, refused with a reason, found again."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core import open_workspace
from koderz_core.config import load_settings
from koderz_core.records import Plan

Visit = Callable[..., AppTest]
HOSTILE = "**b** <img src=x> $a$"


def first(plan: Plan) -> str:
    return str(plan.experiments()[0].id)


def save(app: AppTest, labels: list[str], note: str = "") -> AppTest:
    next(each for each in app.multiselect if each.label == "Labels").set_value(labels)
    app.text_area[0].set_value(note)
    return next(button for button in app.button if button.label == "Save").click().run()


def test_labels_and_a_note_are_written_by_a_click_and_shown_as_text(visit: Visit, recorded: Plan) -> None:
    app = visit("experiment", experiment=first(recorded))
    assert not (load_settings().home / "labels").exists()
    app = save(app, ["wrong test", HOSTILE], "line 1\nline 2")
    assert not app.exception
    assert f"Labels: wrong test · {HOSTILE}\nNote: line 1\nline 2" in [text.value for text in app.text]
    app = save(app, ["wrong test"])
    assert "Labels: wrong test" in [text.value for text in app.text]


def test_a_note_is_stored_although_another_window_removed_the_same_label(visit: Visit, recorded: Plan) -> None:
    with open_workspace() as workspace:
        workspace.labels.change(first(recorded), add=["to check", "cheats"])
        app = visit("experiment", experiment=first(recorded))
        workspace.labels.change(first(recorded), remove=["to check"])
    app = save(app, [], "the conclusion")
    assert not app.error
    assert "Note: the conclusion" in [text.value for text in app.text]  # and neither label


def test_an_invalid_label_is_refused_with_the_reason(visit: Visit, recorded: Plan) -> None:
    app = save(visit("experiment", experiment=first(recorded)), ["x" * 61])
    assert "The label has 61 characters. Use 1 to 60 characters." in said(app)
    assert not (load_settings().home / "labels").exists()


def test_more_labels_than_koderz_adds_are_shown(visit: Visit, recorded: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = [f"label {number}" for number in range(21)]
    with monkeypatch.context() as other, open_workspace() as workspace:
        other.setattr("koderz_core.workspace.labels.MOST_LABELS", len(labels))
        workspace.labels.change(first(recorded), add=labels)
    app = visit("experiment", experiment=first(recorded))
    assert not app.error
    assert sorted(next(each for each in app.multiselect if each.label == "Labels").value) == sorted(labels)


def test_the_list_shows_labels_and_the_address_filters_by_one(visit: Visit, recorded: Plan) -> None:
    with open_workspace() as workspace:
        workspace.labels.change(first(recorded), add=["cheats", HOSTILE])
    app = visit("experiment", benchmark=recorded.id, label="cheats")
    (table,) = (table.value for table in app.dataframe)
    assert [list(cell) for cell in table["labels"]] == [["cheats", HOSTILE]]
    app.selectbox(key="choice of label").set_value("").run()
    assert len(app.dataframe[0].value) == 6


def choose(app: AppTest, row: int) -> None:
    """As a browser does, which knows the number of the row only."""
    app.session_state[app.dataframe[0].key] = {"selection": {"rows": [row], "columns": [], "cells": []}}
    app.run()


def test_a_row_of_a_table_that_has_changed_since_opens_no_other_experiment(visit: Visit, recorded: Plan) -> None:
    with open_workspace() as workspace:
        for experiment in recorded.experiments()[:4]:
            workspace.labels.change(experiment.id, add=["to check"])
        app = visit("experiment", benchmark=recorded.id, label="to check")
        shown = list(app.dataframe[0].value["experiment"])
        workspace.labels.change(shown[1], remove=["to check"])
    choose(app, 1)
    assert list(app.dataframe[0].value["experiment"]) == [shown[0], *shown[2:]]  # still the list
    assert "experiment" not in app.query_params
    choose(app, 1)
    assert app.query_params["experiment"] in (shown[2], [shown[2]])


def test_a_dashboard_that_shows_a_bundle_has_no_form(visit: Visit, recorded: Plan) -> None:
    with open_workspace() as workspace:
        workspace.labels.change(first(recorded), add=["cheats"])
    mark = {"run_id": recorded.id, "privacy_level": "team_safe"}
    (load_settings().home / "opened-bundle.json").write_text(json.dumps(mark))
    app = visit("experiment", experiment=first(recorded))
    assert "Labels: cheats" in said(app)
    assert not app.text_area
