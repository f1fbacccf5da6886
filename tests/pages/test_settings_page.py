"""The Settings page: what it shows, what it writes, and what it never does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core.config import load_settings

Visit = Callable[..., AppTest]


def file() -> Path:
    return load_settings().home / "settings.toml"


def test_a_saved_setting_is_in_the_file_and_waits_for_the_next_start(visit: Visit) -> None:
    app = visit("settings", setting="timeout")
    app.text_input(key="value of timeout").set_value("60")  # comes with the click, as in a browser
    app.button(key="save").click().run()
    assert not app.error
    assert file().read_text() == "timeout = 60.0\n"
    assert "Settings with new values: timeout" in said(app)
    app.button(key="remove").click().run()
    assert file().read_text() == ""
    assert app.text_input(key="value of timeout").value == "300"
    assert "New:" not in said(app)


def test_a_switch_may_be_written_in_other_words(visit: Visit) -> None:
    file().parent.mkdir(parents=True)
    file().write_text('offline = "on"\n')
    app = visit("settings", setting="offline")
    assert not app.exception
    assert app.button_group(key="value of offline").value == "yes"


@pytest.mark.parametrize(("name", "wrong", "right"), [("offline", "maybe", "yes"), ("sandbox", "stong", "limited")])
def test_a_wrong_value_in_the_file_that_the_environment_overrides_can_be_removed(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, name: str, wrong: str, right: str
) -> None:
    file().parent.mkdir(parents=True)
    monkeypatch.setenv(f"KODERZ_{name.upper()}", right)
    file().write_text(f'{name} = "{wrong}"\n')
    app = visit("settings", setting=name)
    assert app.button_group(key=f"value of {name}").value == right
    app.button(key="remove").click().run()
    assert not app.error
    assert file().read_text() == ""
    assert app.button(key="remove").disabled


def test_a_key_that_changed_is_named_without_its_value(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-old")
    app = visit("settings")
    assert "Settings with new values" not in said(app)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-new")
    assert "Settings with new values: openai_api_key" in said(app.run())
    assert "sk-" not in said(app)


def test_a_wrong_value_is_explained_and_nothing_is_written(visit: Visit) -> None:
    app = visit("settings", setting="timeout")
    app.text_input(key="value of timeout").set_value("soon")
    app.button(key="save").click().run()
    assert app.error
    assert "timeout: the value must be a number" in said(app)
    assert not file().exists()


def test_what_the_environment_says_is_shown_as_stronger(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KODERZ_TIMEOUT", "50")
    app = visit("settings", setting="timeout")
    assert "Also set in: environment" in said(app)
    table = app.dataframe[0].value.set_index("setting")
    assert list(table.loc["timeout", ["value", "source"]]) == ["50", "environment"]


def test_a_dashboard_that_shows_a_bundle_saves_no_setting(visit: Visit) -> None:
    file().parent.mkdir(parents=True)
    file().with_name("opened-bundle.json").write_text('{"run_id": "bench_1", "privacy_level": "team_safe"}')
    app = visit("settings", setting="timeout")
    assert "start `koderz ui` without --open" in said(app)
    assert "Save" not in [button.label for button in app.button]


def test_the_meaning_of_a_setting_is_shown_without_backticks(visit: Visit) -> None:
    app = visit("settings", setting="datasets_dir")
    meaning = "The folder of datasets. If not set: datasets in the data folder."
    assert app.dataframe[0].value.set_index("setting").loc["datasets_dir", "meaning"] == meaning
    assert any(text.value.startswith(f"{meaning}\n") for text in app.text)
    assert not app.dataframe[0].value["meaning"].str.contains("`").any()


@pytest.mark.parametrize("name", ["openai_api_key", "cortex_command", "home", "tiers"])
def test_secrets_programs_folder_and_tables_cannot_be_changed_and_say_how_else(visit: Visit, name: str) -> None:
    app = visit("settings", setting=name)
    assert not [button for button in app.button if button.key == "save"]
    assert app.info
