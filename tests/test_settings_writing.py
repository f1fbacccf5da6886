"""Settings as a person sees them, and the file that is written for them."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from koderz_core.config import SETTINGS, load_settings
from koderz_core.errors import ConfigError
from koderz_core.settings_text import ShownSetting, awaiting_start, remove_setting, shown_settings, write_setting

WITH_COMMENTS = """# of this machine
num_ctx = 1001  # fits
ollama_host = "box"

[limits.openai]  # what I pay for
concurrency = 3
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def file(home: Path) -> Path:
    home.mkdir()
    path = home / "settings.toml"
    path.write_text(WITH_COMMENTS)
    return path


def shown(name: str) -> ShownSetting:
    return next(setting for setting in shown_settings() if setting.name == name)


def test_every_setting_is_shown_with_what_it_means() -> None:
    assert [setting.name for setting in shown_settings()] == list(SETTINGS)
    assert [setting.name for setting in shown_settings() if not setting.meaning] == []


def test_a_setting_says_where_its_value_comes_from(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown("timeout").origins == ("default",)
    assert shown("num_ctx").origins == ("settings.toml",)
    assert shown("ollama_base_url").origins == ("settings.toml",)
    Path(".env").write_text("KODERZ_NUM_CTX=1002\n")
    monkeypatch.setenv("OLLAMA_HOST", "other")
    assert shown("num_ctx").origins == (".env", "settings.toml")
    assert shown("num_ctx").value == "1002"
    assert shown("num_ctx").overridden_by == ".env"
    assert shown("ollama_base_url").origins == ("environment", "settings.toml")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("openai_api_key", "sk-hidden"),
        ("slack_webhook_url", "https://hooks.example/hidden"),
        ("vllm_base_url", "http://me:hidden@box/v1"),
    ],
)
def test_a_secret_is_only_said_to_be_set_and_is_not_written(
    name: str, value: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match=r"in the environment, or in the file \.env"):
        write_setting(home, name, value)
    monkeypatch.setenv(name.upper(), value)
    assert shown(name).value == "set"
    assert "hidden" not in repr(shown_settings())
    assert not home.exists()


def test_what_is_written_is_in_force_and_all_else_stays(home: Path, file: Path) -> None:
    after = write_setting(home, "timeout", " 60 ")
    assert (after.value, after.origins, after.written) == ("60", ("settings.toml",), "60")
    assert load_settings().timeout == 60
    assert file.read_text() == WITH_COMMENTS.replace('"box"\n', '"box"\ntimeout = 60.0\n')


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("offline", "yes", True),
        ("sandbox", "strong", "strong"),
        ("retries", "3", 3),
        ("cortex_db", "~/it.db", Path.home() / "it.db"),
    ],
)
def test_every_kind_of_value_comes_back_as_it_was_meant(name: str, text: str, value: object, home: Path) -> None:
    write_setting(home, name, text)
    assert getattr(load_settings(), name) == value


@pytest.mark.parametrize("text", ["soon", "-1", "", "nan"])
def test_a_wrong_value_is_refused_and_nothing_is_written(text: str, home: Path, file: Path) -> None:
    with pytest.raises(ConfigError, match="timeout"):
        write_setting(home, "timeout", text)
    assert file.read_text() == WITH_COMMENTS


def test_a_file_that_is_wrong_as_it_is_is_left_alone(home: Path, file: Path) -> None:
    file.write_text("num_ctx = \n")
    with pytest.raises(ConfigError, match="not valid TOML"):
        write_setting(home, "timeout", "60")
    assert file.read_text() == "num_ctx = \n"


@pytest.mark.parametrize("name", ["cortex_path", "cortex_command", "llama_server", "home", "limits", "no_such_thing"])
def test_programs_folders_and_tables_are_not_written(name: str, home: Path) -> None:
    with pytest.raises(ConfigError, match=name):
        write_setting(home, name, "/bin/true")
    assert not home.exists()


def test_a_removed_setting_has_its_default_again_whatever_it_was_called(home: Path, file: Path) -> None:
    assert remove_setting(home, "ollama_base_url").origins == ("default",)
    assert remove_setting(home, "num_ctx").value == "8192"
    assert "concurrency = 3" in file.read_text()


def test_the_file_keeps_its_rights_and_a_link_stays_one(home: Path, file: Path, tmp_path: Path) -> None:
    file.rename(tmp_path / "kept.toml").chmod(0o640)
    file.symlink_to(tmp_path / "kept.toml")
    write_setting(home, "timeout", "60")
    assert file.is_symlink()
    assert stat.S_IMODE((tmp_path / "kept.toml").stat().st_mode) == 0o640
    assert sorted(path.name for path in home.iterdir()) == ["settings.toml"]


def test_what_a_process_does_not_use_yet_awaits_its_next_start(
    home: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-old")
    in_use = load_settings()
    assert awaiting_start(in_use) == []
    monkeypatch.setenv("OPENAI_API_KEY", "sk-new")
    file.write_text(WITH_COMMENTS.replace("concurrency = 3", "concurrency = 4"))
    write_setting(home, "timeout", "60")
    assert sorted(awaiting_start(in_use)) == ["limits", "openai_api_key", "timeout"]
