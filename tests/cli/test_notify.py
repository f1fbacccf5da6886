"""``koderz notify`` as a person calls it, and what other commands say of notices."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from chat_server import Server, sends, serving_chat

from koderz_core.config import load_settings
from koderz_core.diagnosis.installation import notices

Koderz = Callable[..., Any]


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving_chat() as server:
        server.answer = sends(200, "ok", "text/plain")
        monkeypatch.setenv("SLACK_WEBHOOK_URL", f"{server.url}/MARKED")
        yield server


def test_a_command_keeps_its_exit_code_and_its_end_is_told_without_secrets(koderz: Koderz, place: Server) -> None:
    said = koderz("notify", "--", "sh", "-c", "echo token=MARKED; echo done; exit 7", "--api-key", "MARKED")
    assert (said.code, said.err) == (7, "")
    (body,) = place.bodies
    assert "sh -c" in body["text"]
    assert "failed with exit code 7" in body["text"]
    assert body["text"].endswith("\ntoken=[secret]\ndone")
    assert "MARKED" not in repr(body)


def test_options_behind_the_command_are_the_commands(koderz: Koderz, place: Server) -> None:
    assert koderz("notify", "test", "-n", "x").code == 0
    assert koderz("notify", "test", "-z", "x").code == 1


def test_a_command_that_is_not_there_ends_with_127_and_is_told(koderz: Koderz, place: Server) -> None:
    said = koderz("notify", "--", "no-such-command")
    assert said.code == 127
    assert said.err == "Error: 'no-such-command' was not found. Check its spelling, or give its path.\n"
    assert "no-such-command failed with exit code 127" in place.bodies[0]["text"]


def test_without_a_place_the_command_runs_after_one_warning(koderz: Koderz) -> None:
    said = koderz("notify", "--", "sh", "-c", "exit 7")
    assert said.code == 7
    assert said.err.startswith("Warning: no notification will be sent. No address for notifications is set. Set SLA")
    assert said.err.count("\n") == 1


def test_wrong_settings_keep_no_command_from_running(koderz: Koderz, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KODERZ_TIMEOUT", "long")
    said = koderz("notify", "--", "sh", "-c", "exit 7")
    assert said.code == 7
    assert said.err.startswith("Warning: no notification will be sent. Settings are wrong: timeout")


def test_a_notice_that_does_not_arrive_is_one_warning_and_changes_no_exit_code(koderz: Koderz, place: Server) -> None:
    place.answer = sends(404, "no_team", "text/plain")
    said = koderz("notify", "--", "true")
    assert said.code == 0
    assert said.err == "Warning: a notification did not arrive: the webhook answered 404: no_team.\n"


def test_a_test_notice_tells_whether_it_arrived(koderz: Koderz, place: Server) -> None:
    said = koderz("notify", "--test")
    assert (said.code, said.out) == (0, "The test notification was sent.\n")
    assert "a test notification" in place.bodies[0]["text"]
    place.answer = sends(403, "invalid_token", "text/plain")
    said = koderz("notify", "--test")
    assert (said.code, said.err) == (
        1,
        "Error: the test notification was not sent: the webhook answered 403: invalid_token.\n",
    )


def test_a_test_without_a_place_fails_and_says_what_to_set(koderz: Koderz) -> None:
    said = koderz("notify", "--test")
    assert said.code == 1
    assert "Set SLACK_WEBHOOK_URL or KODERZ_NOTICES" in said.err


def test_without_a_command_an_example_is_shown(koderz: Koderz) -> None:
    said = koderz("notify")
    assert said.code == 2
    assert "koderz notify -- make test" in said.err


def test_a_place_may_stand_in_the_file_of_settings_and_is_never_shown() -> None:
    home = load_settings().home
    home.mkdir()
    (home / "settings.toml").write_text('slack_webhook_url = "http://127.0.0.1:1/MARKED"\nnotices = "json://MARKED"\n')
    settings = load_settings()
    assert "MARKED" not in repr(settings)
    assert settings.secrets() == ("http://127.0.0.1:1/MARKED", "json://MARKED")
    (found,) = notices(settings)
    assert (found.subject, found.said) == ("SLACK_WEBHOOK_URL and KODERZ_NOTICES", "set")


def test_a_benchmark_that_is_ended_from_outside_is_told_of(place: Server) -> None:
    words = ("benchmark", "--problems", "0:1", "--strategy", "direct", "--coder", "scripted/stubborn")
    code = "from koderz_core.cli import main; main()"
    with subprocess.Popen([sys.executable, "-c", code, *words], stderr=subprocess.PIPE) as process:
        assert process.stderr
        while b"SCRIPTED" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 130
    assert " was stopped\n" in place.bodies[0]["text"]
