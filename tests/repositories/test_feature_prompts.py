"""The prompt for a feature, and the summary that a model writes: what they hold, what they cost, what is sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chat_server import serving_chat, streams
from small_repository import write

from koderz_core import open_workspace
from koderz_core.config import load_settings
from koderz_core.errors import OfflineError, UsageError
from koderz_core.repositories import map_repository, relevant_files


def test_files_are_chosen_by_rare_words_and_by_imports(folder: Path) -> None:
    found = relevant_files(map_repository(folder), "Round the sum of prices")
    assert [it.path for it in found[:2]] == ["src/shop/prices.py", "src/shop/cart.py"]
    assert found[0].words == ("prices", "sum")
    lone = {it.path: it for it in relevant_files(map_repository(folder), "numbers")}
    assert (lone["src/shop/cart.py"].words, lone["src/shop/cart.py"].neighbour) == ((), "src/shop/prices.py")
    assert relevant_files(map_repository(folder), "Quaternions") == ()


def test_a_file_that_the_task_names_is_the_first(folder: Path) -> None:
    found = relevant_files(map_repository(folder), "Let the cart in cli.py have a total")
    assert found[0].path == "src/shop/cli.py"


def test_a_prompt_has_goal_files_constraints_and_tests(folder: Path, koderz: Any) -> None:
    prompt = koderz("conduct", folder, "--feature", "Show the total of a cart").out
    assert prompt.startswith("# Goal\n\nShow the total of a cart\n")
    assert "- src/shop/cart.py (words: total, cart). Defines Cart\n" in prompt
    assert "- The code must run on Python >=3.11.\n" in prompt
    assert "- Run while you work: `pytest tests/test_cart.py`\n" in prompt
    assert "def total" not in prompt


@pytest.mark.parametrize("text", [" ", "x" * 8_001])
def test_a_feature_has_a_description_of_a_sensible_length(folder: Path, text: str) -> None:
    with open_workspace() as workspace, pytest.raises(UsageError, match="description of the feature"):
        workspace.repositories.feature(workspace.repositories.map(folder), text)


def test_a_summary_by_a_model_is_recorded_with_its_price_and_without_contents_or_keys(
    folder: Path, koderz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, {"src/shop/secret.py": '"""Uses planted-openai-key."""\nprivate_value = 1\n'})
    with serving_chat() as server:
        server.answer = streams({"content": "It sells things."})
        monkeypatch.setenv("OPENAI_API_KEY", "planted-openai-key")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        said = koderz("conduct", folder, "--summary", "openai/gpt-4o-mini", "--yes")
    assert said.code == 0, said.err
    assert "It sells things." in said.out
    (record,) = (load_settings().home / "summaries").iterdir()
    kept = json.loads(record.read_text())
    assert (kept["text"], kept["model"], kept["tier"]) == ("It sells things.", "openai/gpt-4o-mini", "small_frontier")
    assert (kept["usage"]["input_tokens"], kept["cost"]["usd"] > 0) == (11, True)
    assert "src/shop" in kept["prompt"]
    (sent,) = server.bodies
    assert sent["messages"] == [{"role": "user", "content": kept["prompt"]}]
    assert "planted-openai-key" not in str(sent)
    assert "private_value" not in str(sent)


def test_a_map_leaves_the_machine_only_after_a_yes_and_never_offline(
    folder: Path, koderz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted-openai-key")
    asked = koderz("conduct", folder, "--summary", "gpt-4o-mini")
    assert (asked.code, "gpt-4o-mini is not on this machine" in asked.err) == (2, True)
    with open_workspace(offline=True) as workspace, pytest.raises(OfflineError):
        workspace.repositories.summarize(workspace.repositories.map(folder), "gpt-4o-mini")
    with open_workspace() as workspace:
        assert not workspace.repositories.leaves_machine("embedded/qwen2.5-coder-0.5b")
        assert workspace.repositories.leaves_machine("ollama/big-cloud")
    assert koderz("conduct", folder, "--summary", "scripted/weak").code == 0


def test_no_model_is_paid_for_a_summary_in_the_temporary_folder_of_a_bundle(folder: Path) -> None:
    with open_workspace() as workspace:
        home = workspace.settings.home
        home.mkdir(parents=True, exist_ok=True)
        (home / "opened-bundle.json").write_text('{"run_id": "bench_1", "privacy_level": "team_safe"}')
        with pytest.raises(UsageError, match="shows a bundle"):
            workspace.repositories.summarize(workspace.repositories.map(folder), "scripted/weak")


def test_the_command_shows_hostile_names_without_control_characters(folder: Path, koderz: Any) -> None:
    (folder / "src/shop/a\x1b[31m\nb.py").write_text("import \\\n")
    said = koderz("conduct", folder)
    assert said.code == 0
    assert "\x1b" not in said.out + said.err
    assert koderz("conduct", folder, "--json").json["map"]["name"] == "shop"
    assert koderz("conduct", folder / "missing").code == 2
