"""What Anthropic's and Ollama's servers say, in their own wire formats, spoken by a real server on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from chat_server import REQUEST, SECRET, Answer, Server, sends

from koderz_core.config import load_settings
from koderz_core.models.catalogue import resolve
from koderz_core.models.providers import create
from koderz_core.records import Completion, Request

CLAUDE = "anthropic/claude-opus-5-5"
CLAUDE_USAGE = {
    "input_tokens": 11,
    "output_tokens": 5,
    "cache_read_input_tokens": 4,
    "cache_creation_input_tokens": 2,
}
QWEN = "ollama/qwen2.5-coder:7b"
COUNTS = {"prompt_eval_count": 11, "eval_count": 5, "load_duration": 0, "total_duration": 9}


def claude_says(*blocks: dict[str, Any], reason: str | None = "end_turn", usage: object = CLAUDE_USAGE) -> Answer:
    whole = {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": list(blocks)}
    return sends(200, {**whole, "stop_reason": reason, "usage": usage})


def claude_streams(*deltas: dict[str, Any], reason: str | None = "end_turn", output_tokens: int = 5) -> Answer:
    """One block of text or thinking in these deltas, between the events that the publisher documents."""
    begun = {**CLAUDE_USAGE, "output_tokens": 1}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"type": "message", "content": [], "usage": begun}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
    ]
    if reason:
        usage = {"output_tokens": output_tokens}
        events.append({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage})
        events.append({"type": "message_stop"})
    return sends(200, as_events(*events), "text/event-stream")


def as_events(*events: dict[str, Any]) -> str:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def ollama_says(text: str = "hello", **more: object) -> Answer:
    return sends(200, ollama_part(text, **{"done": True, "done_reason": "stop", **COUNTS, **more}))


def ollama_streams(*texts: str, **more: object) -> Answer:
    last = ollama_part("", **{"done": True, "done_reason": "stop", **COUNTS, **more})
    parts = [*(ollama_part(text, done=False) for text in texts), last]
    return sends(200, "".join(json.dumps(part) + "\n" for part in parts), "application/x-ndjson")


def ollama_part(text: str, **more: object) -> dict[str, object]:
    return {"model": "q", "created_at": "now", "message": {"role": "assistant", "content": text}, **more}


def ask_through(
    server: Server,
    answer: Answer,
    on_text: Callable[[str], None] | None = None,
    name: str = CLAUDE,
    request: Request = REQUEST,
    **given: Any,
) -> Completion:
    """Ask a model whose provider, Anthropic, Ollama or vLLM, is this server."""
    server.answer = answer
    url = server.url.removesuffix("/v1")
    addresses = {"anthropic_base_url": url, "ollama_base_url": url, "vllm_base_url": server.url}
    addresses["anthropic_api_key"] = SECRET
    settings = load_settings(**{**addresses, **given})
    model = create(resolve(name, settings), settings, dict)
    try:
        return model.complete(request, on_text)
    finally:
        model.close()
