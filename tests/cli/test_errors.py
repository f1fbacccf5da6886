"""What goes wrong in the first hour: each time a message that names the cure, and the right exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

SMALL = ("benchmark", "--problems", "0:2", "--coder")


def test_an_unknown_model_is_named_with_its_neighbours(koderz: Any) -> None:
    said = koderz(*SMALL, "embedded/qwen2.5-coder-0.6b")
    assert said.code == 2
    assert "qwen2.5-coder-0.5b" in said.err


def test_an_unknown_problem_is_named(koderz: Any) -> None:
    said = koderz("run", "--problem-id", "HumanEval/999", "--coder", "scripted/weak")
    assert said.code == 2
    assert "HumanEval/999" in said.err


def test_an_unknown_strategy_is_named_with_those_there_are(koderz: Any) -> None:
    said = koderz(*SMALL, "scripted/weak", "--strategy", "supervise")
    assert said.code == 2
    assert "supervised" in said.err


def test_an_unknown_option_is_wrong_usage(koderz: Any) -> None:
    assert koderz("benchmark", "--iterations", "3").code == 2


def test_an_unknown_benchmark_is_named(koderz: Any) -> None:
    said = koderz("analyze", "bench_123")
    assert said.code == 2
    assert "bench_123" in said.err


@pytest.mark.parametrize("model", ["ollama/qwen2.5-coder:32b", "lmstudio/some-coder", "vllm/some-coder"])
def test_a_server_that_does_not_run_is_found_before_anything_is_begun(
    koderz: Any, model: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("OLLAMA_HOST", "LMSTUDIO_BASE_URL", "VLLM_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    said = koderz(*SMALL, model)
    assert said.code == 3
    assert "nothing answers at http://127.0.0.1:9" in said.err
    assert not list((tmp_path / "home").glob("journals/*"))


def test_a_missing_key_is_named_and_asked_for(koderz: Any) -> None:
    said = koderz(*SMALL, "gpt-4o-mini")
    assert said.code == 3
    assert "OPENAI_API_KEY" in said.err


def test_missing_weights_name_the_command_that_fetches_them(
    koderz: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KODERZ_MODELS_DIR", str(tmp_path / "none"))
    said = koderz(*SMALL, "embedded/qwen2.5-coder-1.5b")
    assert said.code == 3
    assert "koderz models pull" in said.err or "pip install 'koderz[embedded]'" in said.err


def test_a_wrong_data_file_is_named_with_line_and_field(koderz: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text('{"task_id": "a/0", "prompt": "def f(): ..."}\n')
    said = koderz(*SMALL, "scripted/weak", "--humaneval-path", tmp_path / "mine.jsonl")
    assert said.code == 3
    assert "mine.jsonl" in said.err
    assert "line 1" in said.err


def test_a_folder_that_cannot_be_written_is_named(koderz: Any) -> None:
    said = koderz(*SMALL, "scripted/weak", "--data-dir", "/proc/koderz")
    assert said.code == 3
    assert "/proc/koderz" in said.err


def test_a_corrupt_journal_line_is_named_with_the_cure(koderz: Any, tmp_path: Path) -> None:
    koderz(*SMALL, "scripted/weak")
    (journal,) = (tmp_path / "home" / "journals").glob("*.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:4], b"{broken\n", *lines[4:]]))
    said = koderz("results")
    assert said.code == 3
    assert "Line 5 of the journal" in said.err
    assert "koderz reindex" in said.err


def test_a_wrong_setting_is_named_and_its_value_is_not_shown(koderz: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KODERZ_NUM_CTX", "sk-secret")
    said = koderz(*SMALL, "scripted/weak")
    assert said.code == 2
    assert "num_ctx" in said.err
    assert "sk-secret" not in said.err


def test_no_key_stands_in_anything_that_is_said_or_stored(
    koderz: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-MARKED")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    said = koderz(*SMALL, "gpt-4o-mini")
    stored = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert said.code == 3
    assert "sk-MARKED" not in said.out + said.err
    assert b"sk-MARKED" not in stored


def test_offline_no_address_beyond_this_machine_is_asked(koderz: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-MARKED")
    monkeypatch.setenv("KODERZ_OFFLINE", "1")
    said = koderz("models", "test", "gpt-4o-mini")
    assert said.code == 3
    assert "KODERZ_OFFLINE" in said.err
