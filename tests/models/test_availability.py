"""Which models can be asked right now."""

import json
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from loopback import listening

from koderz_core.config import load_settings
from koderz_core.errors import ModelError, OfflineError
from koderz_core.models import availability
from koderz_core.models.availability import Availability, first_ready_local, lacking, require, survey
from koderz_core.models.catalogue import resolve

OLLAMA = {
    "models": [
        {"name": "nomic-embed-text:latest", "size": 1},
        {"name": "llama3.2:3b", "size": 2},
        {"name": "qwen2.5-coder:7b", "size": 3},
        {"name": "gpt-oss:120b-cloud", "remote_host": "https://ollama.com:443"},
    ]
}
LMSTUDIO = {"data": [{"id": "text-embedding-nomic"}, {"id": "qwen/qwen3-8b", "object": "model"}]}


@contextmanager
def serving(pages: Mapping[str, object]) -> Iterator[str]:
    """A server on loopback that knows these paths; gives its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path)
            raw = page if isinstance(page, bytes) else json.dumps(page).encode()
            self.send_response(404 if page is None else 200)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    with listening(Handler) as url:
        yield url


@pytest.fixture(autouse=True)
def _busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The servers of these tests share the processor with other tests: half a second may be too short for them."""
    monkeypatch.setattr(availability, "ANSWER_SECONDS", availability.PATIENT_SECONDS)


@pytest.fixture
def nowhere() -> str:
    """An address where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        return f"http://127.0.0.1:{unused.getsockname()[1]}"


@pytest.fixture
def absent(nowhere: str) -> dict[str, Any]:
    """Settings of a machine without model servers."""
    return {"ollama_base_url": nowhere, "lmstudio_base_url": f"{nowhere}/v1", "vllm_base_url": f"{nowhere}/v1"}


def rows(**settings: Any) -> dict[str, Availability]:
    return {row.id: row for row in survey(load_settings(**settings))}


def test_served_models_are_ready_and_only_those_that_chat_here(absent: dict[str, Any]) -> None:
    with serving({"/api/tags": OLLAMA}) as ollama, serving({"/v1/models": LMSTUDIO}) as lmstudio:
        found = rows(**{**absent, "ollama_base_url": ollama, "lmstudio_base_url": f"{lmstudio}/v1"})
    ready = {id_ for id_, row in found.items() if row.ready and row.id.startswith(("ollama/", "lmstudio/"))}
    assert ready == {"ollama/llama3.2:3b", "ollama/qwen2.5-coder:7b", "lmstudio/qwen/qwen3-8b"}
    assert found["ollama/llama3.2:3b"].tier == "local"


def test_a_server_that_is_not_there_says_how_to_start_it(absent: dict[str, Any], nowhere: str) -> None:
    row = rows(**absent)["ollama/*"]
    assert not row.ready
    assert row.reason == f"nothing answers at {nowhere}/api/tags"
    assert "ollama serve" in row.cure
    assert "lms server start" in rows(**absent)["lmstudio/*"].cure


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ({"models": []}, "no chat model"),
        (b"<html>", "does not answer with a list"),
        ({"models": [{"name": 7}]}, "does not answer with a list"),
        (b'{"models": [{"name": "\xff"}]}', "does not answer with a list"),
        (b'{"models": [{"max_model_len": ' + b"[" * 100_000, "does not answer with a list"),
        (None, "answers with HTTP status 404"),
    ],
)
def test_a_server_without_models_says_so(absent: dict[str, Any], page: object, reason: str) -> None:
    with serving({"/api/tags": page}) as ollama:
        row = rows(**{**absent, "ollama_base_url": ollama})["ollama/*"]
    assert not row.ready
    assert reason in row.reason
    assert row.cure


def test_paid_models_are_ready_when_their_key_is_there(absent: dict[str, Any]) -> None:
    without, with_key = rows(**absent), rows(**absent, openai_api_key="sk-test-5ecret")
    assert not without["openai/gpt-4o-mini"].ready
    assert "OPENAI_API_KEY" in without["openai/gpt-4o-mini"].cure
    assert with_key["openai/gpt-4o-mini"].ready
    assert "5ecret" not in repr(with_key)


def test_claude_is_ready_when_its_key_is_there(absent: dict[str, Any]) -> None:
    without, with_key = rows(**absent), rows(**absent, anthropic_api_key="sk-ant")
    row = with_key["anthropic/claude-opus-4-5"]
    assert (row.ready, row.reason, row.tier) == (True, "ANTHROPIC_API_KEY is set", "frontier")
    assert "Set ANTHROPIC_API_KEY" in without["anthropic/claude-opus-4-5"].cure


def test_another_anthropic_address_lists_its_own_models(absent: dict[str, Any]) -> None:
    listed = {"data": [{"id": "my-claude", "type": "model"}], "models": [{"name": "my-claude"}]}
    with serving({"/v1/models": listed}) as proxy:
        found = survey(load_settings(**absent, anthropic_base_url=proxy))
    (row,) = (row for row in found if row.id.startswith("anthropic/"))
    assert (row.id, row.tier, row.ready) == ("anthropic/my-claude", "local", True)


def test_offline_paid_models_are_not_ready(absent: dict[str, Any]) -> None:
    row = rows(**absent, openai_api_key="sk-test", offline=True)["openai/gpt-4o"]
    assert (row.ready, row.reason) == (False, "KODERZ_OFFLINE is set")


def test_offline_no_server_beyond_this_machine_is_asked(absent: dict[str, Any]) -> None:
    row = rows(**{**absent, "vllm_base_url": "http://gpu.example/v1"}, offline=True)["vllm/*"]
    assert "KODERZ_OFFLINE is set" in row.reason


def test_another_openai_compatible_address_lists_its_own_models(absent: dict[str, Any]) -> None:
    with serving({"/v1/models": {"data": [{"id": "my-model"}]}}) as proxy:
        found = rows(**absent, openai_base_url=f"{proxy}/v1", openai_api_key="sk-test")
    assert found["openai/my-model"].ready
    assert "openai/gpt-4o" not in found


@pytest.mark.parametrize(
    "page", [{"data": [{"id": "openai/gpt-4o", "name": "OpenAI: GPT-4o"}]}, [{"id": "openai/gpt-4o", "name": None}]]
)
def test_a_router_lists_what_requests_call_a_model_and_not_its_title(absent: dict[str, Any], page: object) -> None:
    with serving({"/v1/models": page}) as router:
        found = rows(**absent, openai_base_url=f"{router}/v1", openai_api_key="sk-test")
    assert [name for name in found if name.startswith("openai/")] == ["openai/openai/gpt-4o"]


def test_without_the_embedded_runtime_the_cure_is_to_install_it(
    absent: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    row = rows(**absent)["embedded/smollm2-135m"]
    assert (row.ready, row.reason) == (False, "xllamacpp is not installed, because it has no wheel for this system")
    assert "KODERZ_LLAMA_SERVER" in row.cure


def test_with_the_runtime_but_without_weights_the_cure_is_to_pull_them(
    absent: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xllamacpp.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))  # no other program's weights
    row = rows(**absent, models_dir=tmp_path / "none")["embedded/smollm2-135m"]
    assert (row.ready, row.cure) == (False, "Run `koderz models pull smollm2-135m`")


def test_scripted_models_are_always_ready_and_marked(absent: dict[str, Any]) -> None:
    row = rows(**absent)["scripted/strong"]
    assert row.ready
    assert "SCRIPTED" in row.reason


def test_every_ready_id_can_be_resolved(absent: dict[str, Any]) -> None:
    settings = load_settings(**absent, openai_api_key="sk-test")
    for row in survey(settings):
        if row.ready:
            assert resolve(row.id, settings).tier == row.tier


@pytest.mark.parametrize(
    ("ollama", "lmstudio", "first"),
    [
        (OLLAMA, LMSTUDIO, "ollama/qwen2.5-coder:7b"),
        ({"models": [{"name": "llama3.2:3b"}]}, {"data": [{"id": "qwen3-coder-30b"}]}, "lmstudio/qwen3-coder-30b"),
        ({"models": [{"name": "llama3.2:3b"}]}, {"data": []}, "ollama/llama3.2:3b"),
        ({"models": [{"name": "bge-m3:latest"}]}, LMSTUDIO, "lmstudio/qwen/qwen3-8b"),
        (None, None, None),
    ],
)
def test_a_running_model_made_for_coding_is_preferred(ollama: object, lmstudio: object, first: str | None) -> None:
    with ExitStack() as stack:
        one = stack.enter_context(serving({"/api/tags": ollama}))
        two = stack.enter_context(serving({"/v1/models": lmstudio}))
        settings = load_settings(ollama_base_url=one, lmstudio_base_url=f"{two}/v1")
        assert first_ready_local(settings) == first


@pytest.mark.parametrize(
    ("allowed", "first"),
    [("ollama/llama3.2:3b", "ollama/llama3.2:3b"), ("embedded/qwen2.5-coder-0.5b", None), ("openai/gpt-4o", None)],
)
def test_of_the_running_models_only_an_allowed_one_is_chosen(allowed: str, first: str | None) -> None:
    models = {"models": [{"name": "qwen2.5-coder:7b"}, {"name": "llama3.2:3b"}]}
    with serving({"/api/tags": models}) as one, serving({"/v1/models": LMSTUDIO}) as two:
        settings = load_settings(ollama_base_url=one, lmstudio_base_url=f"{two}/v1", allowed_models=allowed)
        assert first_ready_local(settings) == first


OLLAMA_AWAY = Availability("ollama/*", "local", False, "nothing answers", "ollama serve")
OLLAMA_THERE = Availability("ollama/llama3:8b", "local", True, "served now", "")
PAID = Availability("openai/gpt-4o", "frontier", True, "a key is set", "")


def test_a_model_of_an_absent_server_lacks_what_the_server_lacks() -> None:
    (row,) = lacking(["ollama/gpt-oss:20b"], [OLLAMA_AWAY, PAID])
    assert (row.id, row.reason, row.cure) == ("ollama/gpt-oss:20b", "nothing answers", "ollama serve")


def test_a_server_that_does_not_list_a_model_is_told_how_to_fetch_it() -> None:
    (row,) = lacking(["ollama/gpt-oss:20b", "ollama/llama3:8b"], [OLLAMA_THERE])
    assert (row.id, row.reason) == ("ollama/gpt-oss:20b", "ollama does not list this model")
    assert "ollama pull" in row.cure


def test_a_paid_model_that_was_not_offered_may_still_be_asked() -> None:
    assert lacking(["openai/gpt-of-tomorrow"], [PAID]) == []


def test_a_model_of_a_router_whose_list_cannot_be_read_may_still_be_asked(absent: dict[str, Any]) -> None:
    with serving({}) as router:
        settings = load_settings(**absent, openai_base_url=f"{router}/v1", openai_api_key="sk-test")
        surveyed = survey(settings)
    assert not next(row for row in surveyed if row.id == "openai/*").ready
    assert lacking(["openai/sonar"], surveyed) == []
    assert lacking(["openai/sonar"], survey(settings))  # now that no server answers


def test_ollama_lists_a_model_without_tag_as_the_latest() -> None:
    listed = Availability("ollama/llama3.2:latest", "local", True, "served now", "")
    assert lacking(["ollama/llama3.2", "ollama/llama3.2:latest"], [listed]) == []


def test_a_model_in_ollamas_cloud_is_never_listed_but_can_be_asked() -> None:
    assert lacking(["ollama/gpt-oss:120b-cloud"], [OLLAMA_THERE]) == []
    assert lacking(["ollama/gpt-oss:120b-cloud"], [OLLAMA_AWAY])


def test_a_host_name_that_nobody_knows_is_corrected_in_the_providers_own_setting(absent: dict[str, Any]) -> None:
    settings = load_settings(**{**absent, "lmstudio_base_url": "http://models.invalid/v1"})
    with pytest.raises(ModelError) as caught:
        require("lmstudio/it", settings)
    message = "its host name cannot be resolved (DNS). Check the network, or correct LMSTUDIO_BASE_URL"
    assert message in str(caught.value)
    assert "lms server start" not in str(caught.value)


def test_offline_a_model_in_ollamas_cloud_is_refused_before_anything_is_begun() -> None:
    with serving({"/api/tags": OLLAMA}) as ollama:
        settings = load_settings(ollama_base_url=ollama, offline=True)
        require("ollama/llama3.2:3b", settings)
        with pytest.raises(
            OfflineError, match=r"ollama\.com was not contacted for a call to ollama/gpt-oss:120b-cloud"
        ):
            require("ollama/gpt-oss:120b-cloud", settings)
