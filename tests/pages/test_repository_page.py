"""The page Repository reads a folder when a button is pressed, and writes only what it has shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from reading import said
from streamlit.testing.v1 import AppTest

from koderz_core.workspace.repositories import Repositories

HOSTILE = "**bold** :red[x] <b>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "cart.py").write_text('"""The cart."""\nimport prices\n\ndef total(): ...\n')
    (folder / "prices.py").write_text("def add(): ...\n")
    (folder / "test_cart.py").write_text("import pytest, cart\n")
    (folder / "pyproject.toml").write_text(f'[project]\nname = "shop"\ndescription = "{HOSTILE}"\n')
    return folder


@pytest.fixture
def mapped(visit: Any, folder: Path) -> AppTest:
    app = visit("repository")
    app.text_input(key="folder of the repository").set_value(str(folder)).run()
    assert "Map" not in [header.value for header in app.header]
    return app.button(key="map").click().run()


def test_a_map_shows_tables_and_hostile_texts_only_as_text(mapped: AppTest) -> None:
    assert not mapped.exception
    assert not mapped.error
    tables = [set(frame.value.columns) for frame in mapped.dataframe]
    assert {"module", "imported by", "about"} in tables
    assert HOSTILE in "".join(text.value for text in mapped.text)
    assert HOSTILE not in "".join(it.value for it in (*mapped.markdown, *mapped.caption, *mapped.header))


def test_a_file_of_rules_is_written_as_it_was_previewed_or_not_at_all(mapped: AppTest, folder: Path) -> None:
    mapped.button(key="preview AGENTS.md").click().run()
    assert "+++ b/AGENTS.md" in said(mapped)
    (folder / "AGENTS.md").write_text("Written meanwhile.\n")
    mapped.button(key="write").click().run()
    assert "has changed since the preview" in said(mapped)
    assert (folder / "AGENTS.md").read_text() == "Written meanwhile.\n"
    mapped.button(key="preview AGENTS.md").click().run()
    mapped.button(key="write").click().run()
    assert (folder / "AGENTS.md").read_text().startswith("Written meanwhile.\n\n<!-- koderz")
    assert [it.value for it in mapped.success] == ["AGENTS.md is up to date."]


def test_a_prompt_and_a_summary_by_a_model_are_made_on_demand(mapped: AppTest) -> None:
    mapped.text_area(key="feature").set_value("Round the total of the cart").run()
    assert "# Goal" not in said(mapped)
    mapped.button(key="make prompt").click().run()
    assert "# Goal\n\nRound the total of the cart\n" in said(mapped)
    mapped.selectbox(key="summary model").set_value("scripted/weak").run()
    mapped.button(key="summarize").click().run()
    assert "SCRIPTED" in said(mapped)
    assert "$0.00 (scripted)" in said(mapped)


def test_a_map_leaves_this_machine_only_by_the_button_that_says_so(
    mapped: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Repositories, "leaves_machine", lambda _, model: model == "scripted/strong")
    monkeypatch.setattr(Repositories, "summarize", lambda *_: pytest.fail("the map was sent"))
    mapped.selectbox(key="summary model").set_value("scripted/weak").run()
    mapped.selectbox(key="summary model").set_value("scripted/strong")
    mapped.button(key="summarize").click().run()
    assert not mapped.exception
    assert mapped.button(key="send map").label == "Send the map to the provider of this model"


def test_a_folder_that_cannot_be_read_is_an_error_with_what_to_do(visit: Any) -> None:
    app = visit("repository")
    app.button(key="map").click().run()
    assert "The field Folder is empty" in said(app)
    app.text_input(key="folder of the repository").set_value("/no such folder").run()
    app.button(key="map").click().run()
    assert "Give the path of the folder of a repository" in said(app)
