"""Proxies and certificates of the environment that cannot be used: every kind of connection names the variable."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from koderz_core.config import load_settings
from koderz_core.download import download
from koderz_core.errors import ConfigError, KoderzError
from koderz_core.exports.otlp_sender import endpoint_of, send
from koderz_core.models.availability import listing
from koderz_core.models.open_models import OpenModels
from koderz_core.models.provider import ModelList
from koderz_core.notices.delivery import Notices
from koderz_core.notices.messages import Notice
from koderz_core.proxies import proxy_of
from koderz_core.web_search.client import Client

AWAY = "https://away.example"


def sentences(tmp_path: Path) -> list[str]:
    """What each kind of connection says."""
    settings = load_settings(slack_webhook_url=f"{AWAY}/x", openai_api_key="sk-test", ollama_base_url=AWAY)
    opened = OpenModels(settings, lambda _: {})
    said = [*Notices(settings).send(Notice("it ended", ())), listing(ModelList(AWAY), settings, 1.0).fault]
    for attempt in (
        lambda: opened.get("openai/gpt-4o", ""),
        lambda: opened.get("ollama/a", ""),
        lambda: Client(settings, AWAY, "a search").get("search", "", {}),
        lambda: send([], endpoint_of(AWAY, ())),
        lambda: download(AWAY, 1, tmp_path / "part", lambda _: None),
    ):
        with pytest.raises(KoderzError) as caught:
            attempt()
        said.append(str(caught.value))
    return said


@pytest.mark.parametrize(
    "proxy", ["nonsense://me:5ecret@proxy.example", "http://me:5ecret@[proxy", "socks5://me:5ecret@a"]
)
def test_every_connection_names_the_variable_of_an_unusable_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    monkeypatch.delitem(sys.modules, "ollama", raising=False)  # its import makes a client
    monkeypatch.setitem(sys.modules, "socksio", None)
    said = sentences(tmp_path)
    assert len(said) == 7
    assert not [each for each in said if "ALL_PROXY" not in each or "5ecret" in each]


@pytest.mark.parametrize("content", [None, "no certificate"], ids=["missing", "wrong"])
def test_every_connection_names_the_file_of_certificates_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    monkeypatch.delitem(sys.modules, "ollama", raising=False)  # as above
    assert [each for each in sentences(tmp_path) if f"SSL_CERT_FILE names {file}" not in each] == []


def test_a_request_uses_the_proxy_of_its_scheme_or_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ALL_PROXY", "proxy.example:3128")
    assert proxy_of(AWAY) == "http://proxy.example:3128"
    assert proxy_of("http://127.0.0.1:1") is None
    monkeypatch.setenv("HTTPS_PROXY", "http://other.example:99999")
    with pytest.raises(ConfigError, match="HTTPS_PROXY is not the address of a proxy"):
        proxy_of(AWAY)
