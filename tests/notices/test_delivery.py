"""Notices arrive where they are wanted, in time, and trouble with them shows no address."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from chat_server import Server, sends, serving_chat

from koderz_core.config import load_settings
from koderz_core.notices.delivery import Notices
from koderz_core.notices.messages import Notice

NOTICE = Notice("koderz: it ended", ("after 1.0 s",))
PATH = "T0/B0/MARKEDSECRET"


@pytest.fixture
def place() -> Iterator[Server]:
    """What takes notices; its address is a secret."""
    with serving_chat() as server:
        server.url, server.answer = f"{server.url}/{PATH}", sends(200, "ok", "text/plain")
        yield server


def send(url: str, notice: Notice = NOTICE, seconds: float = 5.0, **settings: Any) -> tuple[str, ...]:
    troubles = Notices(load_settings(slack_webhook_url=url, **settings)).send(notice, seconds)
    assert "MARKED" not in repr(troubles)
    return troubles


def test_a_notice_arrives_as_plain_text_that_calls_nobody(place: Server) -> None:
    assert send(place.url, Notice("<!channel> & more", ("@all",))) == ()
    (body,) = place.bodies
    assert body["text"] == "&lt;!channel&gt; &amp; more\n@\N{ZERO WIDTH SPACE}all"
    assert body["mrkdwn"] is False
    assert "user-agent" not in place.headers[0]


def test_keys_that_are_set_are_in_no_notice(place: Server) -> None:
    assert send(place.url, Notice("of a plain-key-0123", (place.url,)), openai_api_key="plain-key-0123") == ()
    assert "plain-key" not in place.bodies[0]["text"]
    assert PATH not in place.bodies[0]["text"]


@pytest.mark.parametrize(
    ("said", "told"), [("invalid_token", "the webhook answered 403: invalid_token"), (PATH, "the webhook answered 403")]
)
def test_a_refusal_is_told_in_slacks_words_and_in_no_others(place: Server, said: str, told: str) -> None:
    place.answer = sends(403, said, "text/plain")
    assert send(place.url) == (told,)


def test_nobody_there_is_told() -> None:
    assert send(f"http://127.0.0.1:1/{PATH}") == ("the webhook cannot be reached (ConnectError)",)


def test_an_address_that_is_none_is_told_without_it() -> None:
    assert send("MARKED") == (
        "SLACK_WEBHOOK_URL is not an address. Copy the address again from the webhook's page in Slack",
    )


def test_nobody_waits_longer_than_was_said(place: Server) -> None:
    def drips(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for _ in range(20):
            time.sleep(0.05)
            handler.wfile.write(b"X-More: 1\r\n")

    place.answer = drips
    begun = time.monotonic()
    assert send(place.url, seconds=0.2) == ("sending exceeded the time limit",)
    assert time.monotonic() - begun < 0.8


def test_nothing_is_sent_on_to_another_address(place: Server) -> None:
    def moved(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(307)
        handler.send_header("Location", "/elsewhere")
        handler.end_headers()

    place.answer = moved
    assert send(place.url) == ("the webhook answered 307",)
    assert len(place.bodies) == 1


def test_offline_only_this_machine_is_told(place: Server) -> None:
    assert send(place.url, offline=True) == ()
    (trouble,) = send("https://hooks.invalid/MARKED", offline=True)
    assert "KODERZ_OFFLINE is set, so hooks.invalid was not contacted for a notification" in trouble
    apprise = "json://" + place.url.removeprefix("http://")
    (trouble,) = send(place.url, offline=True, notices=apprise)
    assert "KODERZ_OFFLINE" in trouble
    assert len(place.bodies) == 2


def test_no_proxy_sees_what_stays_on_this_machine(place: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert send(place.url) == ()


@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")  # Apprise looks whether it is there
def test_other_places_are_told_through_apprise(place: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[logging.LogRecord] = []
    root = logging.getLogger()  # caplog also hears loggers that an earlier test kept from the root
    monkeypatch.setattr(root, "handlers", [handler := logging.Handler()])
    monkeypatch.setattr(handler, "emit", heard.append)
    monkeypatch.setattr(root, "level", logging.INFO)
    there = "json://" + place.url.removeprefix("http://")
    assert send(place.url, notices=f"{there} {there}/MARKEDTOO") == ()
    assert [body.get("title") for body in place.bodies].count("koderz: it ended") == 2
    place.answer = sends(500, "")
    (_, refused, unknown) = send(place.url, notices=f"{there} MARKED://x")
    assert refused == "an address in KODERZ_NOTICES did not accept the notification; `apprise -vv ADDRESS` shows why"
    assert unknown.startswith("KODERZ_NOTICES contains an address that Apprise does not support")
    assert not [record for record in heard if record.levelno > logging.INFO]
    assert "MARKED" not in str([record.getMessage() for record in heard])


def test_no_client_logs_the_address(place: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    assert send(place.url) == ()
    assert "MARKED" not in caplog.text
