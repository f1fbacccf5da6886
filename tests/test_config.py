"""Settings: command line > environment > .env and settings.toml > default; one gate for every outbound address."""

from __future__ import annotations

from pathlib import Path

import pytest

from koderz_core.config import is_loopback, load_settings
from koderz_core.errors import ConfigError, OfflineError


def toml(tmp_path: Path, text: str) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "settings.toml").write_text(text)


def test_each_source_yields_to_the_one_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().num_ctx == 8192
    toml(tmp_path, "num_ctx = 1001\n")
    assert load_settings().num_ctx == 1001
    Path(".env").write_text("KODERZ_NUM_CTX=1002\n")
    assert load_settings().num_ctx == 1002
    monkeypatch.setenv("KODERZ_NUM_CTX", "1003")
    assert load_settings().num_ctx == 1003
    assert load_settings(num_ctx=1004).num_ctx == 1004


def test_an_option_that_was_not_given_overrides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KODERZ_NUM_CTX", "1003")
    assert load_settings(num_ctx=None).num_ctx == 1003


def test_broken_toml_is_a_clear_error(tmp_path: Path) -> None:
    toml(tmp_path, "num_ctx = \n")
    with pytest.raises(ConfigError, match=r"settings\.toml is not valid TOML"):
        load_settings()


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("box:1234", "http://box:1234"),
        ("https://ollama.example", "https://ollama.example:443"),
        ("[::1]:99", "http://[::1]:99"),
    ],
)
def test_ollamas_host_is_understood_as_ollama_does(host: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert load_settings().ollama_base_url == address


def test_offline_lets_only_this_machine_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KODERZ_OFFLINE", "1")
    settings = load_settings()
    settings.check_egress("http://127.0.0.1:11434/api", "an answer")
    with pytest.raises(OfflineError, match=r"api\.openai\.com was not asked for an answer"):
        settings.check_egress("https://api.openai.com/v1", "an answer")


@pytest.mark.parametrize("url", ["http://127.9.9.9", "http://localhost:1", "http://[::1]/x", "http://a.localhost"])
def test_loopback_is_recognised(url: str) -> None:
    assert is_loopback(url)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1.evil.example", "http://localhost.evil", "http://10.0.0.1", "nothing"]
)
def test_what_only_looks_like_loopback_is_not(url: str) -> None:
    assert not is_loopback(url)


def test_a_key_is_not_shown_by_the_record_that_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-MARKED")
    assert "sk-MARKED" not in repr(load_settings())


def test_a_tier_is_stated_in_the_file_or_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml(tmp_path, '[tiers]\n"openai/my-model" = "small_frontier"\n')
    assert load_settings().tiers == {"openai/my-model": "small_frontier"}
    monkeypatch.setenv("KODERZ_TIERS", '{"openai": "local"}')
    assert load_settings().tiers["openai"] == "local"


@pytest.mark.parametrize(("stated", "said"), [("openai=local", "KODERZ_TIERS is not JSON"), ('{"a": "b"}', "tiers")])
def test_a_tier_that_is_none_is_a_clear_error(stated: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KODERZ_TIERS", stated)
    with pytest.raises(ConfigError, match=said):
        load_settings()
