"""Several addresses of one provider: how they are set, named, listed, checked and priced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from chat_server import SECRET, Server, sends, serving_chat, streams

from koderz_core.conditions import check_same, conditions
from koderz_core.config import Settings, load_settings
from koderz_core.diagnosis.model_servers import addresses
from koderz_core.errors import ConfigError, ModelError, OfflineError, PlanError
from koderz_core.models.answer_cache import version_of
from koderz_core.models.availability import lacking, require, survey
from koderz_core.models.catalogue import resolve
from koderz_core.models.open_models import OpenModels
from koderz_core.models.pricing import price
from koderz_core.models.providers import PROVIDERS
from koderz_core.models.residency import Residency
from koderz_core.records import Configuration, Message, Request, Sampling, Usage
from koderz_core.settings_text import shown_settings

A, B = "http://127.0.0.1:9/v1", "http://box:9/v1"
CONFIGURATIONS = (Configuration("direct", {"coder": ("vllm/it",)}, {}),)


@contextmanager
def servers(*models: Sequence[str]) -> Iterator[list[Server]]:
    """Servers that list these models."""
    with ExitStack() as running:
        found = [running.enter_context(serving_chat()) for _ in models]
        for server, names in zip(found, models, strict=True):
            server.models = tuple(names)
        yield found


def at(*running: Server, provider: str = "vllm") -> Settings:
    return load_settings(**{f"{provider}_base_url": " ".join(server.url for server in running)})


@pytest.mark.parametrize("written", [f"{A},{B}", f"{A} {B}", f" {A} , {B}/\n"])
def test_addresses_are_separated_by_commas_or_spaces(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", written)
    assert PROVIDERS["vllm"].urls(load_settings()) == (A, B)


def test_in_the_file_they_are_a_list(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(f'vllm_base_url = ["{A}", "http://me:hidden@box/v1"]\n')
    (shown,) = [setting for setting in shown_settings(tmp_path) if setting.name == "vllm_base_url"]
    assert len(PROVIDERS["vllm"].urls(load_settings(home=tmp_path))) == 2
    assert (shown.kind, shown.value) == ("secret", "set")
    assert "hidden" in load_settings(home=tmp_path).secrets()
    (tmp_path / "settings.toml").write_text(f'openai_org_id = ["{A}"]\n')
    with pytest.raises(ConfigError, match="openai_org_id: the value must be text"):
        load_settings(home=tmp_path)


def test_ollamas_may_lack_their_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "box, :99")
    assert PROVIDERS["ollama"].urls(load_settings()) == ("http://box:11434", "http://127.0.0.1:99")


def test_a_comma_in_a_path_separates_nothing() -> None:
    assert load_settings(vllm_base_url="http://box/a,b/v1").vllm_base_url == "http://box/a,b/v1"


def test_all_are_a_condition_in_a_fixed_order_and_one_is_as_before() -> None:
    one, two, turned = (
        conditions(CONFIGURATIONS, load_settings(vllm_base_url=text)) for text in (A, f"{B} {A}", f"{A} {B}")
    )
    assert (one["vllm at"], two["vllm at"]) == (A, f"{A},{B}")
    check_same("bench_1", turned, two)
    with pytest.raises(PlanError, match=rf"the address of vllm was .* \(to undo the change: VLLM_BASE_URL={A},{B}\)"):
        check_same("bench_1", one, two)


def test_each_request_goes_to_the_address_that_it_names_with_the_key_of_the_provider() -> None:
    with servers(["it"], ["it"]) as (a, b):
        settings = load_settings(openai_base_url=f"{a.url} {b.url}", openai_api_key=SECRET, tiers={"openai": "local"})
        a.answer = b.answer = streams({"content": "hello"})
        opened = OpenModels(settings, lambda _: {})
        model = opened.get("openai/it", "")
        request = Request((Message("user", "hi"),), Sampling(max_tokens=5), seed=1, address=b.url)
        assert model.complete(request, lambda _: None).text == "hello"
        opened.close()
    assert (len(a.bodies), len(b.bodies)) == (0, 1)
    assert SECRET in b.headers[0]["authorization"]


def test_a_model_is_ready_if_all_addresses_that_answer_serve_it() -> None:
    with servers(["both", "one"], ["both"]) as (a, b):
        rows = {row.id: row for row in survey(at(a, b))}
        assert (rows["vllm/both"].ready, rows["vllm/both"].reason) == (True, "served now")
        assert (rows["vllm/one"].ready, rows["vllm/one"].reason) == (False, f"served only at {a.url}")
        assert f"Serve the model at {b.url} too" in rows["vllm/one"].cure
        with servers(["it"]) as (gone,):
            pass
        surveyed = survey(at(a, gone))
        assert [row.reason for row in surveyed if row.id == "vllm/*"] == [f"nothing answers at {gone.url}/models"]
        assert not lacking(["vllm/both"], surveyed)
        assert [row.reason for row in surveyed if row.id == "vllm/both"] == [f"served now at {a.url}"]
        found = {finding.subject: finding for finding in addresses(at(a, gone))}
        assert found[f"{a.url} (vllm)"].said == "chat models: both, one"
        assert (found[f"{gone.url} (vllm)"].state, "vllm serve" in found[f"{gone.url} (vllm)"].cure) == ("absent", True)


def test_two_spellings_of_one_address_are_one_server() -> None:
    with servers(["it"]) as (server,):
        settings = load_settings(vllm_base_url=f"{server.url} {server.url.replace('127.0.0.1', 'localhost')}")
        require("vllm/it", settings)
        assert ("vllm/it", True) in [(row.id, row.ready) for row in survey(settings)]


def test_a_benchmark_starts_if_one_address_answers_and_all_that_answer_serve_the_same() -> None:
    with servers(["it"]) as (gone,):
        pass
    with servers(["it"], ["other"]) as (a, b):
        require("vllm/it", at(gone, a))
        with pytest.raises(ModelError, match="nothing answers at"):
            require("vllm/it", at(gone, gone))
        with pytest.raises(ModelError, match=rf"listed at {a.url}, but not listed at {b.url}"):
            require("vllm/it", at(a, b))
        b.models = ("it",)
        require("vllm/it", at(a, b))
        b.listing = sends(200, {"data": [{"id": "it", "max_model_len": 4096}]})
        with pytest.raises(ModelError, match="but listed with a context length of 4096 tokens at"):
            require("vllm/it", at(a, b))


def test_an_address_that_offline_forbids_is_refused_before_the_start() -> None:
    with servers(["it"]) as (a,):
        settings = load_settings(vllm_base_url=f"{a.url} {B}", offline=True)
        with pytest.raises(ModelError, match=f"cannot be called at {B}: KODERZ_OFFLINE is set"):
            require("vllm/it", settings)
    with pytest.raises(OfflineError):
        settings.check_egress(B, "a test")


def test_a_price_is_known_if_it_is_the_same_at_all_addresses() -> None:
    used = Usage(1_000_000, 0)

    def usd(urls: str, name: str) -> float | None:
        settings = load_settings(openai_base_url=urls, vllm_base_url=urls)
        return price(resolve(name, settings), used, 1.0, settings).usd

    assert usd("https://api.openai.com/v1 http://localhost:4000/v1", "openai/gpt-4o-mini") == pytest.approx(0.15)
    assert usd("http://localhost:1/v1 http://localhost:2/v1", "vllm/it") == usd("http://localhost:1/v1", "vllm/it")
    assert usd(f"{A} {B}", "vllm/it") is None


def test_ollamas_weights_must_be_the_same_and_are_unloaded_at_each_address() -> None:
    with servers([], []) as (a, b):
        for server, digest in ((a, "1"), (b, "2")):
            models = [{"name": "it:latest", "model": "it:latest", "digest": digest, "size": 9}]
            server.listing = sends(200, {"models": models})
            server.answer = sends(200, {"done": True})
        settings = load_settings(ollama_base_url=[server.url.removesuffix("/v1") for server in (a, b)])
        with pytest.raises(ModelError, match="it differs between"):
            version_of("ollama/it", settings)
        room = Residency()
        opened = OpenModels(settings, lambda _: {}, room)
        opened.get("ollama/it", "")
        room._tenants["ollama/it"].model.unload()
        opened.close()
        assert [body["keep_alive"] for server in (a, b) for body in server.bodies] == [0, 0]
