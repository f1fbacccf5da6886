"""A real server on loopback that speaks chat completions, and what tests ask and expect of it."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from loopback import listening

from koderz_core.config import load_settings
from koderz_core.models.catalogue import resolve
from koderz_core.models.openai_compatible import OpenAICompatibleModel
from koderz_core.models.providers import PROVIDERS
from koderz_core.records import Completion, Message, Request, Sampling
from koderz_core.settings_fields import SecretStr

SECRET = "sk-test-5ecret"
PROMPT = "a prompt nobody else may read"
USAGE = {
    "prompt_tokens": 11,
    "completion_tokens": 5,
    "total_tokens": 16,
    "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
}
REQUEST = Request((Message("system", "Be brief."), Message("user", PROMPT)), Sampling(0.8, 0.95, 64), seed=7)

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Server:
    """A chat server: ``answer`` decides what it says, ``bodies`` and ``headers`` keep what it was asked.

    ``models`` are those that it lists, unless ``listing`` says something else.
    """

    url: str = ""
    answer: Answer | None = None
    models: tuple[str, ...] = ()
    listing: Answer | None = None
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def serving_chat() -> Iterator[Server]:
    known = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            known.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            known.headers.append({"path": self.path, **{name.lower(): text for name, text in self.headers.items()}})
            assert known.answer
            known.answer(self)

        def do_GET(self) -> None:
            (known.listing or sends(200, {"data": [{"id": name} for name in known.models]}))(self)

    with listening(Handler) as url:
        known.url = f"{url}/v1"
        yield known


def sends(status: int, body: object, kind: str = "application/json") -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        text = body if isinstance(body, str | bytes) else json.dumps(body)
        raw = text.encode() if isinstance(text, str) else text
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(raw)))
        handler.end_headers()
        handler.wfile.write(raw)

    return answer


def whole(message: object, reason: str | None = "stop", usage: object = USAGE) -> Answer:
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return sends(200, {"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage})


def says(text: str | None, reason: str = "stop", **more: object) -> Answer:
    return whole({"role": "assistant", "content": text, **more}, reason)


def streams(*deltas: dict[str, object], reason: str | None = "stop", usage: object = USAGE) -> Answer:
    """Each delta as an event, then the reason, the usage, and the mark of the end."""
    chunks: list[object] = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    if reason:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    if usage:
        chunks.append({"choices": [], "usage": usage})
    events = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return sends(200, "".join(events) + "data: [DONE]\n\n", "text/event-stream")


def ask(
    server: Server,
    answer: Answer,
    on_text: Callable[[str], None] | None = None,
    name: str = "lmstudio/qwen2.5-coder-32b",
    request: Request = REQUEST,
    **settings: Any,
) -> Completion:
    server.answer = answer
    given = load_settings(**{"openai_base_url": server.url, **settings})
    key = SecretStr(SECRET) if name.startswith("openai/") else None
    card = resolve(name, given)
    known = PROVIDERS[card.provider]
    model = OpenAICompatibleModel(card, known, server.url, key, given, known.names)
    try:
        return model.complete(request, on_text)
    finally:
        model.close()
