"""Ollama and LM Studio: what is in their memory, and that koderz unloads only the models that it loaded there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from chat_server import Server, sends, serving_chat

from koderz_core.config import Settings, load_settings
from koderz_core.models.residency import Residency
from koderz_core.models.server_memory import LMStudioMemory, OllamaMemory, in_lmstudio, in_ollama

SHAPE = {
    "general.architecture": "qwen2",
    "qwen2.block_count": 24,
    "qwen2.embedding_length": 896,
    "qwen2.attention.head_count": 14,
    "qwen2.attention.head_count_kv": 2,
}


@contextmanager
def serving(replies: dict[str, Any]) -> Iterator[tuple[Server, Settings]]:
    """A server that answers by path, and settings with its address for both programs."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        reply = replies.get(handler.path)
        sends(404 if reply is None else 200, reply or {})(handler)

    with serving_chat() as server:
        server.answer = server.listing = answer
        root = server.url.removesuffix("/v1")
        yield server, load_settings(ollama_base_url=root, lmstudio_base_url=server.url, num_ctx=1000)


def ollama(*loaded: str) -> dict[str, Any]:
    return {
        "/api/tags": {"models": [{"name": "a:latest", "size": 1000}, {"name": "b:1b", "size": 5000}]},
        "/api/show": {"model_info": SHAPE},
        "/api/ps": {"models": [{"name": name, "size": 2000, "size_vram": 500} for name in loaded]},
        "/api/generate": {"done": True},
    }


def test_the_need_of_a_model_of_ollama_is_computed_from_its_metadata() -> None:
    with serving(ollama()) as (_, settings):
        assert OllamaMemory("a", settings, {}).needed_bytes() == 1000 + 1000 * 2 * 24 * 2 * 128 + 35_000_000
        assert OllamaMemory("unknown", settings, {}).needed_bytes() is None


def test_ollama_unloads_the_model_that_koderz_loaded_and_never_one_that_was_there() -> None:
    with serving(ollama("b:1b")) as (server, settings):
        room = Residency(1)
        for name in ("a", "b:1b"):
            room.add(name, OllamaMemory(name, settings, {}))
            with room.used(name):
                pass
        assert room.unload_idle() == ("a",)
        unloads = [body for body in server.bodies if "keep_alive" in body]
    assert unloads == [{"model": "a:latest", "keep_alive": 0}]
    assert json.dumps(unloads).count("b:1b") == 0


def test_what_ollama_holds_is_listed_with_its_part_in_gpus() -> None:
    with serving(ollama("b:1b")) as (_, settings):
        (held,) = in_ollama(settings)
    assert (held.name, held.size_bytes, held.gpu_bytes) == ("b:1b", 2000, 500)


def test_lm_studio_unloads_only_the_instance_that_a_call_loads() -> None:
    models = [
        {"key": "mine", "size_bytes": 1000, "loaded_instances": []},
        {"key": "theirs", "size_bytes": 1000, "loaded_instances": [{"id": "theirs:2"}]},
    ]
    with serving({"/api/v1/models": {"models": models}, "/api/v1/models/unload": {}}) as (server, settings):
        mine, theirs = (LMStudioMemory(name, settings) for name in ("mine", "theirs"))
        assert (mine.needed_bytes(), mine.is_loaded(), theirs.is_loaded()) == (1200, False, True)
        mine.unload()
        assert server.bodies == [{"instance_id": "mine"}]
        assert [held.name for held in in_lmstudio(settings)] == ["theirs:2"]


def test_a_server_that_does_not_say_what_it_holds_keeps_everything() -> None:
    with serving({}) as (_, settings):
        assert LMStudioMemory("a", settings).is_loaded()
        assert OllamaMemory("a", settings, {}).is_loaded()
        assert (in_ollama(settings), in_lmstudio(settings)) == ((), ())


@pytest.mark.parametrize("reply", [b'{"models": [{"name": "\xff"}]}', b"[" * 100_000])
def test_answers_that_cannot_be_decoded_are_ignored(reply: bytes) -> None:
    with serving({"/api/ps": reply}) as (_, settings):
        assert in_ollama(settings) == ()


def test_hostile_answers_are_ignored() -> None:
    rows: list[Any] = [None, 7, {"name": 3, "size": "big", "key": "a", "loaded_instances": "none"}]
    with serving({"/api/ps": {"models": rows}, "/api/v1/models": {"models": rows}}) as (_, settings):
        assert in_ollama(settings)[0].size_bytes is None
        assert in_lmstudio(settings) == ()
        assert not LMStudioMemory("a", settings).is_loaded()
