"""A real server on loopback that fails as providers do, one named fault per request, in three protocols.

It speaks OpenAI's chat completions, Anthropic's messages and Ollama's own protocol, streamed or not, as it is asked.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import Any

from chat_server import Answer, sends, streams
from scripted_server import claude_says, claude_streams, ollama_says, ollama_streams

TEXT = "```python\ndef add(a, b):\n    return a + b\n```"
STALL_SECONDS = 20.0

STATUSES: Mapping[str, tuple[int, Mapping[str, str]]] = {
    "429": (429, {}),
    "429, Retry-After 1": (429, {"Retry-After": "1"}),
    "500": (500, {}),
    "503": (503, {}),
    "529": (529, {}),
    "401": (401, {}),
    "404": (404, {}),
}
PASSING = (
    *("429", "429, Retry-After 1", "500", "503", "529", "hangs up", "reset in mid-stream"),
    *("stall before the first token", "stall in mid-stream", "malformed JSON", "empty", "wrong content type"),
)
LASTING = ("401", "404")
MODELS = "max_tokens hit"  # what it does is the model's
FAULTS = (*PASSING, *LASTING, MODELS)


@dataclass
class FaultyServer:
    """``fault`` names what the next request meets, None: a right answer. ``asked``: the requests so far."""

    port: int
    fault: Callable[[], str | None] = lambda: None
    asked: list[dict[str, Any]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        fault = self.fault()
        self.asked.append(body)
        with suppress(OSError):  # the client has hung up on a stall, as it should
            if fault in STATUSES:
                _refuse(handler, *STATUSES[fault])
            else:
                self._misbehave(handler, fault, bool(body.get("stream")))

    def _misbehave(self, handler: BaseHTTPRequestHandler, fault: str | None, streamed: bool) -> None:
        kind, whole = _told(_reply(handler.path, streamed, fault))
        part = whole[: whole.rfind(b"\n", 0, len(whole) // 2) + 1] if streamed else whole[: len(whole) // 2]
        if fault == "hangs up":
            _reset(handler)
        elif fault == "reset in mid-stream":
            _send(handler, kind, part, len(whole))
            _reset(handler)
        elif fault in ("stall before the first token", "stall in mid-stream"):
            _send(handler, kind, part if "mid" in fault else b"", len(whole))
            self.released.wait(STALL_SECONDS)
        elif fault == "malformed JSON":
            _send(handler, kind, whole.replace(b"}", b"", 3))
        elif fault == "wrong content type":
            _send(handler, "text/html", b"<html>busy</html>")
        else:
            _send(handler, kind, whole)


@contextmanager
def serving_faults(port: int = 0) -> Iterator[FaultyServer]:
    """The server, at this port or at any that is free; while it is not there connections are refused."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            known.answer(self)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    class Listening(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

    http = Listening(("127.0.0.1", port), Handler)
    known = FaultyServer(http.server_port)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield known
    finally:
        known.released.set()
        http.shutdown()
        thread.join()
        http.server_close()


def _reply(path: str, streamed: bool, fault: str | None) -> Answer:
    """What a healthy server says, or one that has nothing to say or has to stop early."""
    text = {"empty": "", MODELS: TEXT[:-20]}.get(fault or "", TEXT)
    tokens = 0 if fault == "empty" else 5
    cut = fault == MODELS
    if path.endswith("/chat/completions"):
        reason, usage = "length" if cut else "stop", {"prompt_tokens": 11, "completion_tokens": tokens}
        said = {"role": "assistant", "content": text}
        choices = [{"index": 0, "message": said, "finish_reason": reason}]
        whole = sends(200, {"id": "c", "object": "chat.completion", "choices": choices, "usage": usage})
        return streams(*_pieces("content", text), reason=reason, usage=usage) if streamed else whole
    if path.endswith("/messages"):
        reason = "max_tokens" if cut else "end_turn"
        if streamed:
            deltas = [{"type": "text_delta", **piece} for piece in _pieces("text", text)]
            return claude_streams(*deltas, reason=reason, output_tokens=tokens)
        usage = {"input_tokens": 11, "output_tokens": tokens}
        return claude_says(*([{"type": "text", "text": text}] if text else []), reason=reason, usage=usage)
    more = {"done_reason": "length" if cut else "stop", "eval_count": tokens}
    return (
        ollama_streams(*(piece["text"] for piece in _pieces("text", text)), **more)
        if streamed
        else ollama_says(text, **more)
    )


def _pieces(name: str, text: str) -> list[dict[str, str]]:
    return [{name: line} for line in text.splitlines(keepends=True)]


def _told(answer: Answer) -> tuple[str, bytes]:
    """The content type and the body that an answer would send."""

    paper: Any = _Paper()
    answer(paper)
    return paper.kind, paper.wfile.getvalue()


class _Paper:
    """Takes down what a handler would send."""

    def __init__(self) -> None:
        self.kind, self.wfile = "", BytesIO()

    def send_response(self, _: int) -> None: ...

    def end_headers(self) -> None: ...

    def send_header(self, name: str, value: str) -> None:
        self.kind = value if name == "Content-Type" else self.kind


def _refuse(handler: BaseHTTPRequestHandler, status: int, headers: Mapping[str, str]) -> None:
    raw = json.dumps({"error": {"type": "fault", "message": "a fault"}}).encode()
    handler.send_response(status)
    for name, value in {**headers, "Content-Type": "application/json", "Content-Length": str(len(raw))}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(raw)


def _send(handler: BaseHTTPRequestHandler, kind: str, raw: bytes, length: int | None = None) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(raw) if length is None else length))
    handler.end_headers()
    handler.wfile.write(raw)
    handler.wfile.flush()


def _reset(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
