"""Settings: command line > environment > .env and settings.toml > default; one gate for every outbound address."""

from __future__ import annotations

from pathlib import Path

import pytest
from ollama._client import _parse_host

from koderz_core.addresses import is_loopback
from koderz_core.config import load_settings
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


@pytest.mark.parametrize("name", ["home", "cortex_db"])
def test_a_path_of_an_unknown_user_is_a_clear_error(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name}: the path begins with ~ and a user that does not exist"):
        load_settings(**{name: "~no-such-user/it"})


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
        (":99", "http://127.0.0.1:99"),
    ],
)
def test_ollamas_host_may_be_where_its_server_listens(host: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert load_settings().ollama_base_url == address


@pytest.mark.parametrize("scheme", ["", "http://", "https://"])
@pytest.mark.parametrize("host", ["box", "box:80", "[::1]", "[::1]:99", "10.0.0.1", "box/", "box/a/b/", "box:99/a"])
def test_ollamas_host_is_understood_as_its_own_client_does(
    scheme: str, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", scheme + host)
    assert load_settings().ollama_base_url == _parse_host(scheme + host)


@pytest.mark.parametrize(
    "address",
    [
        "ftp://host/v1",
        "http://[::1/v1",
        "http://[fe80::1%25eth0]/v1",
        "http://localhost:80a0/v1",
        "http://localhost:99999/v1",
        "http://localhost:0/v1",
        "http://h..x/v1",
        "http://256.1.1.1/v1",
        "http://\u2603.example/v1",
        "http://exa mple/v1",
        "http://ho\x01st/v1",
        "http://ho\tst/v1",
        "http://host/v1\x07",
        "http://host\\@evil.example/v1",
        "http://me:12/secret@gw.example/v1",
        "http://me:pa/secret@gw.example/v1",
        "http://me:pa#secret@gw.example/v1",
        "http://me:pa?secret@gw.example/v1",
        "http://me:p@secret@gw.example/v1",
    ],
)
@pytest.mark.parametrize("name", ["openai", "anthropic", "ollama", "lmstudio", "vllm"])
def test_what_is_no_address_is_refused_without_showing_it(name: str, address: str) -> None:
    with pytest.raises(ConfigError, match=f"{name}_base_url: this is not an address") as caught:
        load_settings(**{f"{name}_base_url": address})
    assert "secret" not in str(caught.value)
    assert "Value error" not in str(caught.value)


@pytest.mark.parametrize("address", ["localhost:8000/v1", "localhost", "http:///v1", "http://:8000/v1"])
@pytest.mark.parametrize("name", ["openai", "anthropic", "lmstudio", "vllm"])
def test_only_ollamas_address_may_lack_scheme_or_host(name: str, address: str) -> None:
    with pytest.raises(ConfigError, match=f"{name}_base_url: this is not an address"):
        load_settings(**{f"{name}_base_url": address})
    assert load_settings(ollama_base_url=address)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (" HTTP://Me:pA%2Fss@Host:8/V1/ ", "http://Me:pA%2Fss@host:8/V1"),
        ("http://my_box/v1//", "http://my_box/v1"),
        ("http://10.0.0.1:8/v1", "http://10.0.0.1:8/v1"),
        ("https://b\u00fccher.example/v1", "https://b\u00fccher.example/v1"),
        ("https://gw.example/v1?version=2", "https://gw.example/v1?version=2"),
    ],
)
def test_an_address_is_kept_without_what_makes_no_difference(written: str, kept: str) -> None:
    assert load_settings(vllm_base_url=written).vllm_base_url == kept


def test_a_key_is_kept_as_it_is_sent() -> None:
    settings = load_settings(openai_api_key=" sk-MARKED \n", anthropic_api_key=" ")
    assert settings.secrets() == ("sk-MARKED",)


@pytest.mark.parametrize("pasted", ["sk-éMARKED", "sk-\nMARKED", "sk MARKED"])
def test_what_is_no_key_is_refused_without_showing_it(pasted: str) -> None:
    with pytest.raises(ConfigError, match="openai_api_key: a key has only printable ASCII characters") as caught:
        load_settings(openai_api_key=pasted)
    assert "MARKED" not in str(caught.value)


def test_offline_lets_only_this_machine_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KODERZ_OFFLINE", "1")
    settings = load_settings()
    settings.check_egress("http://127.0.0.1:11434/api", "an answer")
    with pytest.raises(OfflineError, match=r"api\.openai\.com was not contacted for an answer"):
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


@pytest.mark.parametrize(("key", "meant"), [("timout", "timeout"), ("OPENAI_API_KEY", "openai_api_key")])
def test_a_key_of_the_file_that_nothing_has_is_named_with_its_neighbours(tmp_path: Path, key: str, meant: str) -> None:
    toml(tmp_path, f'{key} = "sk-MARKED"\n')
    with pytest.raises(ConfigError) as caught:
        load_settings()
    assert f"home/settings.toml contains unknown settings: '{key}' (did you mean {meant}" in str(caught.value)
    assert "sk-MARKED" not in str(caught.value)


def test_the_file_in_the_data_folder_cannot_choose_another_data_folder(tmp_path: Path) -> None:
    toml(tmp_path, 'home = "/elsewhere"\n')
    with pytest.raises(ConfigError, match=r"home/settings\.toml contains the setting home\. .*with KODERZ_HOME"):
        load_settings()


def test_what_koderz_does_not_know_in_the_environment_is_somebody_elses(tmp_path: Path) -> None:
    toml(tmp_path, 'ollama_host = "box:1"\n')
    Path(".env").write_text("SOMETHING_ELSE=1\n")
    assert load_settings().ollama_base_url == "http://box:1"


@pytest.mark.parametrize(
    ("name", "meant"), [("KODERZ_OFLINE", "KODERZ_OFFLINE"), ("KODERZ_OPENAI_API_KEY", "OPENAI_API_KEY")]
)
def test_a_variable_of_the_env_file_that_sets_nothing_is_named_with_its_neighbours(name: str, meant: str) -> None:
    Path(".env").write_text(f"{name}=5ecret\n")
    with pytest.raises(ConfigError, match=rf"\.env contains unknown.*: '{name}' \(did you mean {meant}") as caught:
        load_settings()
    assert "5ecret" not in str(caught.value)


@pytest.mark.parametrize("name", ["KODERZ_CORTEX_COMMAND", "CORTEX_PATH", "cortex_path", "KODERZ_LLAMA_SERVER"])
def test_no_folder_chooses_a_program_by_its_env_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text(f"{name}=theirs\n")
    with pytest.raises(ConfigError, match=rf"\.env sets {name.upper()}"):
        load_settings()
