"""What the words of a command line come to: several coders, personas in a file, benchmarks by name."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from koderz_core.config import load_settings

ROOT = Path(__file__).parents[2]
TWO = "scripted/weak,scripted/strong"
ONE_PROBLEM = ("benchmark", "--problems", "0:1", "--coder", "scripted/strong", "--no-baselines")


@pytest.mark.parametrize("strategy", ["cascade", "escalation", "ensemble"])
def test_a_strategy_about_several_coders_gets_all_that_are_named_in_one_configuration(
    koderz: Any, strategy: str
) -> None:
    said = koderz("benchmark", "--problems", "0:2", "--strategy", strategy, "--coder", TWO, "--plan-only")
    assert (said.code, "2 problems, 2 experiments." in said.out) == (0, True), said.err


def test_other_strategies_beside_it_get_one_configuration_for_each_coder(koderz: Any) -> None:
    said = koderz("benchmark", "--problems", "0:2", "--strategy", "direct,cascade", "--coder", TWO, "--plan-only")
    assert "2 problems, 6 experiments." in said.out


@pytest.mark.parametrize("form", ["option", "configuration"])
def test_personas_are_read_from_a_file(koderz: Any, tmp_path: Path, form: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("poet: {style: In verse., rules: [Rhyme.]}", "utf-8-sig")
    words = (
        ("--strategy", "debate", "--agents", "coder,poet", "--personas", str(file))
        if form == "option"
        else ("--configuration", f"debate coder=scripted/strong agents=coder,poet personas={file}")
    )
    assert koderz("benchmark", "--problems", "0:1", *words, "--plan-only").code == 0


def test_a_personas_file_that_is_missing_is_named(koderz: Any) -> None:
    said = koderz(*ONE_PROBLEM, "--strategy", "debate", "--personas", "gone.yaml")
    assert (said.code, "gone.yaml cannot be read" in said.err) == (3, True)


def test_a_personas_file_with_a_wrong_field_is_named_with_role_and_field(koderz: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("poet: {style: In verse., rules: [Rhyme.], modle: x}\n")
    said = koderz(*ONE_PROBLEM, "--strategy", "debate", "--personas", str(file))
    told = (
        f"The personas in {file} cannot be read: role 'poet' has an unknown field 'modle'; the fields are style, rules."
    )
    assert (said.code, told in said.err) == (2, True), said.err


def test_benchmarks_are_shown_and_found_by_their_names(koderz: Any) -> None:
    koderz(*ONE_PROBLEM, "--name", "first-look")
    koderz(*ONE_PROBLEM, "--name", "second-look", "--seed", "1")
    shown = koderz("results").out.splitlines()
    assert [line.split()[0] for line in shown[1:3]] == ["second-look", "first-look"]
    assert shown[1].split()[1].startswith("20")
    (row,) = json.loads(koderz("results", "first", "--json").out)
    assert row["benchmark"].startswith("bench_")
    assert "begins" not in koderz("results", "sec").err


def test_the_reviewer_of_the_original_is_among_the_models(koderz: Any) -> None:
    assert "anthropic/claude-sonnet-4-5 " in koderz("models", "list").out


def test_the_command_that_would_measure_a_baseline_names_whom_to_ask_and_on_what(koderz: Any) -> None:
    journal = next((ROOT / "docs" / "study" / "journals").glob("bench_4a58*.gz"))  # of a dataset that is not here
    journals = load_settings().journals_dir
    journals.mkdir(parents=True)
    (journals / journal.stem).write_bytes(gzip.decompress(journal.read_bytes()))
    said = " ".join(koderz("compare", "hard20").out.split())
    assert "koderz benchmark --strategy direct --coder MODEL --dataset humaneval+ --problems FIRST:LAST" in said
