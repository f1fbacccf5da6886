"""``koderz bug-report``: shown, then written if the person agrees."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

SECRET = "sk-ant-api03-planted-in-a-setting-0000"


@pytest.fixture(autouse=True)
def _planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://someone.example.org/v1")


def test_without_a_yes_the_report_is_only_shown(koderz: Any) -> None:
    said = koderz("bug-report")
    assert '"koderz": ' in said.out
    assert "tier in use" in said.out
    assert "Nothing was written" in said.err
    assert not Path("koderz-bug-report.zip").exists()


def test_the_file_has_what_was_shown_and_no_secret(koderz: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.zip"
    shown = koderz("bug-report", "--yes", "--out", path).out
    with zipfile.ZipFile(path) as archive:
        text = archive.read("report.json").decode()
    assert text.strip() in shown
    assert {"anthropic_api_key", "openai_base_url", "home"} <= set(json.loads(text)["settings"])
    assert [
        word for word in (SECRET, "someone.example.org", str(tmp_path)) if word in shown.partition("Written")[0]
    ] == []


def test_broken_settings_are_reported_instead_of_the_checks(koderz: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KODERZ_TIMEOUT", "soon")
    said = koderz("bug-report")
    assert (said.code, '"kind": "ConfigError"' in said.out) == (0, True)


def test_the_folders_of_settings_are_masked_whole_also_with_spaces(
    koderz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KODERZ_DATASETS_DIR", "/mnt/c/Users/Erika Mustermann/data")
    monkeypatch.setenv("CORTEX_DB", "../Max Mustermann/cortex.db")
    said = koderz("bug-report", "--data-dir", "data")  # a word that the report may contain
    assert (said.code, "is not in [path] (datasets, mbpp+)" in said.out) == (0, True)
    assert "Mustermann" not in said.out


def test_a_data_folder_with_spaces_is_masked_also_if_its_settings_are_broken(koderz: Any, tmp_path: Path) -> None:
    home = tmp_path / "Erika Mustermann" / "koderz"
    home.mkdir(parents=True)
    (home / "settings.toml").write_text("timout = 3\n")
    said = koderz("bug-report", "--data-dir", home)
    assert (said.code, "[path] contains unknown settings" in said.out) == (0, True)
    assert "Mustermann" not in said.out
