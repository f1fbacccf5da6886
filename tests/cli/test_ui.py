"""``koderz ui`` before there is a dashboard; what it starts is tested in a browser."""

from __future__ import annotations

import os
import socket
from typing import Any

import pytest


def test_a_port_in_use_is_named_with_what_to_do(koderz: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = koderz("ui", "--port", port)
    assert said.code == 3
    assert f"Port {port} cannot be used" in said.err
    assert "koderz ui --port 0" in said.err


def test_a_port_that_cannot_be_is_refused(koderz: Any) -> None:
    assert koderz("ui", "--port", "70000").code == 2


def test_the_threads_of_the_dashboard_share_one_arena_unless_a_user_says_otherwise(
    koderz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setattr("os.execv", lambda *_: seen.append(os.environ["MALLOC_ARENA_MAX"]))
    for before in ("", "4"):
        monkeypatch.setenv("MALLOC_ARENA_MAX", before) if before else monkeypatch.delenv("MALLOC_ARENA_MAX", False)
        koderz("ui", "--no-browser", "--port", "0")
    assert seen == ["1", "4"]


def test_the_dashboard_shows_the_data_folder_that_the_same_option_names_elsewhere(
    koderz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setenv("HOME", "/home of a user")
    monkeypatch.setenv("KODERZ_HOME", "elsewhere")
    monkeypatch.setattr("os.execv", lambda *_: seen.append(os.environ["KODERZ_HOME"]))
    koderz("ui", "--no-browser", "--port", "0", "--data-dir=~/of koderz")
    assert seen == ["/home of a user/of koderz"]
