"""The log of outbound connections: every passage of the gate with its purpose, setting, connections and bytes."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from chat_server import REQUEST, SECRET, says, serving_chat

from koderz_core.config import load_settings
from koderz_core.egress import Traffic, log_in, read
from koderz_core.models.catalogue import resolve
from koderz_core.models.providers import create


def logged(home: Path) -> list[Traffic]:
    log_in(home).flush()
    return read(home, 0.0)


def test_calls_on_one_connection_are_counted_with_their_bytes(tmp_path: Path) -> None:
    heads: list[int] = []

    def counting(handler: BaseHTTPRequestHandler) -> None:
        heads.append(len(handler.raw_requestline) + len(handler.headers.as_bytes().replace(b"\n", b"\r\n")))
        says("yes")(handler)

    with serving_chat() as server:
        server.answer = counting
        settings = load_settings(home=tmp_path, openai_base_url=server.url, openai_api_key=SECRET)
        model = create(resolve("openai/gpt-4o", settings), settings, dict)
        for _ in range(3):
            model.complete(REQUEST)
        model.close()
        (row,) = logged(tmp_path)
        bodies = sum(len(json.dumps(body, separators=(",", ":"), ensure_ascii=False)) for body in server.bodies)
    assert row.address == server.url.removeprefix("http://").removesuffix("/v1")
    assert (row.purpose, row.setting, row.loopback) == ("a call to openai/gpt-4o", "OPENAI_BASE_URL", True)
    assert (row.calls, row.connections, row.allowed, row.via) == (3, 3, True, "")
    assert (row.sent_bytes, (row.received_bytes or 0) > 300) == (sum(heads) + bodies, True)
    assert SECRET not in "".join(path.read_text() for path in tmp_path.rglob("*.jsonl"))
