"""Sentences of koderz on a page: no backticks, which nothing reads there, and no name of the person's folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages.ui.text import worded


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ann"))


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Start Ollama with `ollama serve`", "Start Ollama with ollama serve"),
        ("/home/ann/koderz", "~/koderz"),
        ("4 GB free in /home/ann", "4 GB free in ~"),
        ("/backup/home/ann/koderz", "/backup/home/ann/koderz"),
        ("/home/anna/koderz", "/home/anna/koderz"),
    ],
)
def test_a_sentence_is_shown_without_backticks_and_with_a_short_home_folder(said: str, shown: str) -> None:
    assert worded(said) == shown


def test_where_the_home_folder_is_the_root_paths_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: Path("/"))
    assert worded("/data/koderz") == "/data/koderz"
