"""What goes wrong in the first hour: each time a message that names the cure, and the right exit code."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import click
import pytest

import koderz_core
from koderz_core.cli import COMMANDS, commands
from koderz_core.cli.options import WITHOUT_DATA_DIR
from koderz_core.errors import UnknownNameError, UsageError

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


def test_a_parameter_that_no_strategy_has_is_not_ignored(koderz: Any) -> None:
    said = koderz(*SMALL, "scripted/weak", "--strategy", "direct", "--max-iterations", "7")
    assert said.code == 2
    assert "Unknown parameter of direct: 'max_iterations'" in said.err


def test_a_model_for_a_role_that_nobody_asks_is_not_ignored(koderz: Any) -> None:
    said = koderz(*SMALL, "scripted/weak", "--strategy", "direct", "--reviewer", "scripted/strong")
    assert said.code == 2
    assert "No chosen strategy uses the role reviewer" in said.err


@pytest.mark.parametrize("seed", ["-1", str(2**63)])
def test_a_seed_that_no_table_can_hold_is_refused(koderz: Any, seed: str) -> None:
    assert koderz(*SMALL, "scripted/weak", "--seed", seed).code == 2


@pytest.mark.parametrize(
    "order",
    [
        koderz_core.Order([koderz_core.Wanted("direct", {"coder": "scripted/weak"})], seed=1.0),
        koderz_core.Order([koderz_core.Wanted("direct", {"coder": "scripted/weak"})], repeats=2.0),
        koderz_core.Order([koderz_core.Wanted("direct", {"coder": "scripted/weak", "wizard": "scripted/weak"})]),
        koderz_core.Order([koderz_core.Wanted("direct", {})]),
        koderz_core.Order([]),
        koderz_core.Order([koderz_core.Wanted("direct", {"coder": "scripted/weak"})] * 2),
    ],
)
def test_an_order_that_no_journal_could_hold_is_refused(order: Any) -> None:
    with koderz_core.open_workspace() as workspace, pytest.raises(UsageError):
        workspace.plans.plan(order)


def test_a_benchmark_in_a_journal_that_cannot_be_read_is_not_called_unknown(
    koderz: Any, ran_once: Any, tmp_path: Path
) -> None:
    ran_once(*SMALL, "scripted/weak")
    (journal,) = (tmp_path / "home" / "journals").glob("*.jsonl")
    journal.write_bytes(b"{broken\n" + journal.read_bytes())
    said = koderz("analyze", journal.stem)
    assert said.code == 3
    assert "Line 1 of the journal" in said.err


def test_other_conditions_make_another_benchmark(koderz: Any) -> None:
    koderz(*SMALL, "scripted/strong", "--test-timeout", "0.001")
    koderz(*SMALL, "scripted/strong", "--test-timeout", "20")
    assert len({row["benchmark"] for row in koderz("results", "--json").json}) == 2


def test_a_problem_without_a_test_that_counts_is_refused_when_planned(koderz: Any, tmp_path: Path) -> None:
    row = {"task_id": "a/0", "prompt": "def f():\n", "entry_point": "f", "canonical_solution": "    return 1\n"}
    (tmp_path / "mine.jsonl").write_text(json.dumps({**row, "test": "def check(candidate):\n    assert True\n"}))
    said = koderz("benchmark", "--coder", "scripted/weak", "--humaneval-path", tmp_path / "mine.jsonl")
    assert said.code == 3
    assert "a/0 contain no assert that can fail" in said.err


def test_an_unknown_problem_in_results_is_named(koderz: Any, ran_once: Any) -> None:
    ran_once(*SMALL, "scripted/weak")
    assert koderz("results", "--problem", "NOPE").code == 2
    assert {row["problem"] for row in koderz("results", "--problem", "1", "--json").json} == {"HumanEval/1"}


def test_text_that_a_terminal_would_obey_is_made_harmless_in_errors(koderz: Any) -> None:
    said = koderz("results", "RED\x1b]0;pwn\x07")
    assert said.code == 2
    assert "\x1b" not in said.err


def test_a_character_that_the_locale_lacks_is_escaped(koderz: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    written = BytesIO()
    monkeypatch.setattr("sys.stdout", TextIOWrapper(written, "latin-1"))
    assert koderz("example").code == 0
    sys.stdout.flush()
    assert rb"61 % [39, 80]\u2020" in written.getvalue()


@pytest.mark.parametrize("words", ["results", "export --out -", "--help", "benchmark --help"])
def test_a_reader_that_leaves_is_no_bug(ran_once: Any, words: str) -> None:
    ran_once(*SMALL, "scripted/weak")
    python = f"env -u PYTHONUNBUFFERED {shlex.quote(sys.executable)}"
    command = f"{python} -c 'from koderz_core.cli import main; main()' {words} | true"
    ended = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_benchmark_whose_reader_leaves_is_no_success() -> None:
    python = f"env -u PYTHONUNBUFFERED {shlex.quote(sys.executable)}"
    words = " ".join(map(str, (*SMALL, "scripted/weak")))
    command = f"{python} -c 'from koderz_core.cli import main; main()' {words} | true"
    ended = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False)
    assert (ended.returncode, "Exception ignored" in ended.stderr) == (3, False)
    assert "The program that reads the output ended before koderz." in ended.stderr


def test_a_key_that_is_no_key_and_a_setting_that_is_no_text_are_named(
    koderz: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "pässword")
    said = koderz("models", "list")
    assert (said.code, "pässword" in said.err) == (2, False)
    monkeypatch.delenv("OPENAI_API_KEY")
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "settings.toml").write_bytes(b'home = "\xff"')
    assert koderz("models", "list").code == 2


def test_an_unknown_option_is_wrong_usage(koderz: Any) -> None:
    assert koderz("benchmark", "--iterations", "3").code == 2


@pytest.mark.parametrize("command", ["analyze", "resume", "compare", "stop"])
def test_an_unknown_benchmark_is_named_with_the_data_folder_that_lacks_it(koderz: Any, command: str) -> None:
    said = koderz(command, "bench_123", "--data-dir", "other folder")
    assert said.code == 2
    assert "'bench_123'" in said.err
    assert "koderz searched the data folder other folder. To use another data folder, add --data-dir" in said.err


def test_advised_commands_use_the_data_folder_of_the_command_that_advises_them(
    koderz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KODERZ_DATASETS_DIR", raising=False)
    there = ("--data-dir", "other folder")
    advised = koderz(*SMALL, "scripted/weak", *there).out.rpartition("For details: koderz ")[2]
    assert koderz(*shlex.split(advised)).code == 0
    said = koderz(*SMALL, "scripted/weak", "--dataset", "mbpp+", *there).err
    assert "koderz download-data mbpp+" in said
    assert said.endswith("Add --data-dir 'other folder' to the commands in this message.\n")


def test_a_data_folder_is_advised_only_for_commands_that_accept_one(koderz: Any) -> None:
    found = {name: commands.get_command(click.Context(commands), name) for name in COMMANDS}
    options = {
        name: {option.name for option in command.params}
        for name, command in found.items()
        if command and not isinstance(command, click.Group)
    }
    assert {name for name, names in options.items() if "data_dir" not in names} == WITHOUT_DATA_DIR
    said = koderz(*SMALL, "scripted/weak", "--strategy", "nothing", "--data-dir", "other folder").err
    assert said.endswith("`koderz strategies` lists all strategies.\n")


@pytest.mark.parametrize("model", ["ollama/qwen2.5-coder:32b", "lmstudio/some-coder", "vllm/some-coder"])
def test_a_server_that_does_not_run_is_found_before_anything_is_begun(
    koderz: Any, model: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("OLLAMA_HOST", "LMSTUDIO_BASE_URL", "VLLM_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    said = koderz(*SMALL, model)
    assert said.code == 3
    assert "nothing answers at http://127.0.0.1:9" in said.err
    assert not list((tmp_path / "home").glob("journals/*.jsonl"))


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
    assert "koderz models pull" in said.err or "KODERZ_LLAMA_SERVER" in said.err


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


def test_a_corrupt_journal_line_is_named_with_the_cure(koderz: Any, ran_once: Any, tmp_path: Path) -> None:
    ran_once(*SMALL, "scripted/weak")
    (journal,) = (tmp_path / "home" / "journals").glob("*.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:4], b"{broken\n", *lines[4:]]))
    koderz(*SMALL, "scripted/weak", "--name", "sound")
    said = koderz("results", "--json")
    assert said.code == 3
    assert "Line 5 of the journal" in said.err
    assert "koderz doctor --repair" in said.err
    assert any(row["solved"] + row["unsolved"] == 2 for row in said.json)  # the sound one is there all the same


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


@pytest.mark.parametrize(
    ("kind", "known", "said"),
    [
        ("problem (no experiment uses it)", ["HumanEval/1"], "'HumanEval/999'. Did you mean: HumanEval/1."),
        ("strategy in mine.py", [], "'HumanEval/999'. There are none."),
        ("experiment", None, "'HumanEval/999'."),
    ],
)
def test_an_unknown_name_is_told_with_what_there_is(kind: str, known: list[str] | None, said: str) -> None:
    assert str(UnknownNameError(kind, "HumanEval/999", known)) == f"Unknown {kind}: {said}"
