"""``koderz doctor``, as a person calls it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from koderz_core.records import Verdict
from koderz_core.sandbox.judge import BoxedJudge

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="strong tiers need Linux")


@needs_linux
def test_it_names_every_tier_the_one_that_is_used_and_what_the_grader_came_to(koderz: Any) -> None:
    said = koderz("doctor")
    assert said.code == 0
    assert all(tier in said.out for tier in ("hardened", "strong", "limited"))
    assert said.out.count("programs are judged in this one") == 1
    assert "right after all that 1/1" in said.out


@needs_linux
def test_the_whole_self_test_passes_every_canonical_solution_and_is_written_as_json(
    koderz: Any, tmp_path: Path
) -> None:
    said = koderz("doctor", "--grader", "--json", tmp_path / "report.json")
    report = json.loads((tmp_path / "report.json").read_text())
    passed = [one["name"] for one in report["self_test"]["checks"] if one["group"] == "right programs"]
    assert (said.code, report["self_test"]["passed"]) == (0, True)
    assert len([name for name in passed if name.startswith("HumanEval/")]) == 164


def test_a_tier_that_does_not_hold_ends_it_with_3_and_says_what_to_do(
    koderz: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KODERZ_SANDBOX", "hardened")
    monkeypatch.setenv("PATH", "")
    said = koderz("doctor")
    assert said.code == 3
    assert "apt install bubblewrap" in said.out
    assert "unset KODERZ_SANDBOX" in said.out


def test_each_failed_check_is_told_in_full_and_ends_it_with_3(koderz: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = Verdict("P", (), True, None, "", 0.0, "strong")
    monkeypatch.setattr(BoxedJudge, "check", lambda *_: everything)
    said = koderz("doctor")
    assert said.code == 3
    assert "FAILED wrong programs: gives another number\n  it passed" in said.out


@needs_linux
def test_what_is_begun_says_first_what_its_programs_run_in(koderz: Any) -> None:
    said = koderz("benchmark", "--problems", "0:1", "--coder", "scripted/strong")
    identifier = said.err.split(":")[0]
    (row,) = koderz("analyze", identifier, "--json").json["experiments"]
    assert f"Isolation: {row['isolation']}, self-test {row['self_test']}." in said.err
    assert (row["isolation"] in ("hardened", "strong"), row["shared"]) == (True, False)
