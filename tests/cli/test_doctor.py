"""``koderz doctor`` and ``koderz speed-test`` as a person calls them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import Server, sends, serving_chat, streams
from sample import only_whole

from koderz_core.config import load_settings
from koderz_core.records import Verdict
from koderz_core.sandbox.judge import BoxedJudge

Koderz = Callable[..., Any]
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="strong tiers need Linux")


@pytest.fixture
def chat() -> Iterator[Server]:
    with serving_chat() as served:
        served.models = ("it",)
        yield served


def test_what_is_missing_ends_with_3_and_names_the_command_that_mends_it(
    koderz: Koderz, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KODERZ_MODELS_DIR", str(tmp_path / "no weights"))
    said = koderz("doctor")
    assert said.code == 3
    assert "Missing or not working: any model" in said.out


def test_what_is_wrong_with_the_ground_is_told_like_all_else_and_written_down(koderz: Koderz, tmp_path: Path) -> None:
    home = load_settings().home
    home.mkdir()
    (home / "models.toml").write_text("[")
    said = koderz("doctor", "--json", str(tmp_path / "report.json"))
    first = json.loads((tmp_path / "report.json").read_text())["findings"][0]
    assert (said.code, first["area"], first["state"]) == (3, "settings", "missing")
    assert "not valid TOML" in first["said"]


def test_with_all_that_is_needed_it_ends_with_0_and_writes_a_report_without_keys(
    koderz: Koderz, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    said = koderz("doctor", "--json", str(tmp_path / "report.json"))
    written = (tmp_path / "report.json").read_text()
    assert said.code == 0, said.out
    assert json.loads(written)["missing"] == 0
    assert "sk-planted" not in written + said.out + said.err


def test_only_ports_are_checked_if_only_they_are_asked_for(koderz: Koderz) -> None:
    said = koderz("doctor", "--ports", "1,2")
    assert said.code == 0
    assert [line for line in said.out.splitlines() if line and not line.startswith("  ")] == ["servers"]
    assert "port 2 (chosen): no server uses this port" in said.out
    assert koderz("doctor", "--ports", "http").code == koderz("doctor", "--ports", "--real").code == 2


def test_the_loaded_models_are_told_with_the_free_memory(koderz: Koderz) -> None:
    said = koderz("models", "loaded")
    assert said.code == 0
    assert "Free: " in said.out


@only_whole("long tests")
def test_real_asks_each_ready_model(koderz: Koderz, monkeypatch: pytest.MonkeyPatch, chat: Server) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", chat.url)
    chat.answer = streams({"content": "ready"})
    assert "answered in" in koderz("doctor", "--real").out
    chat.answer = sends(401, {"error": {"message": "no"}})
    said = koderz("doctor", "--real")
    assert said.code == 3
    assert "Missing or not working: vllm/it" in said.out


def test_speed_test_tells_tokens_per_second(koderz: Koderz, monkeypatch: pytest.MonkeyPatch, chat: Server) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", chat.url)
    chat.answer = streams({"content": "a"}, {"content": "b"})
    (found,) = koderz("speed-test", "vllm/it", "--json").json
    assert found["model"] == "vllm/it"
    assert found["warm_up_seconds"] > 0
    chat.answer = sends(404, {"error": {"message": "no such model"}})
    said = koderz("speed-test", "vllm/it")
    assert said.code == 3
    assert "vllm/it did not answer" in said.err


@needs_linux
def test_the_whole_self_test_passes_every_canonical_solution_and_is_written_as_json_beside_every_tier(
    koderz: Koderz, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a")
    said = koderz("doctor", "--grader", "--json", tmp_path / "report.json")
    found = json.loads((tmp_path / "report.json").read_text())["findings"]
    (right,) = [item for item in found if item["subject"] == "correct programs"]
    assert (said.code, right["state"]) == (0, "ready")
    assert int(right["said"].partition("/")[0]) > 164
    assert all(f"{tier}: " in said.out for tier in ("hardened", "strong", "limited"))
    assert said.out.count("koderz runs programs in this tier") == 1
    assert "✓ correct program after the attacks: 1/1" in said.out


def test_a_tier_that_does_not_hold_ends_it_with_3_and_says_what_to_do(
    koderz: Koderz, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a")
    monkeypatch.setenv("KODERZ_SANDBOX", "hardened")
    monkeypatch.setenv("PATH", "")
    said = koderz("doctor")
    assert said.code == 3
    assert "apt install bubblewrap" in said.out
    assert "unset KODERZ_SANDBOX" in said.out


def test_each_failed_check_is_told_in_full_and_ends_it_with_3(koderz: Koderz, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = Verdict("P", (), True, None, "", 0.0, "strong")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a")
    monkeypatch.setattr(BoxedJudge, "check", lambda *_: everything)
    said = koderz("doctor")
    assert said.code == 3
    assert "Missing or not working: wrong programs: gives another number (it passed)." in said.out
