"""``koderz verify --regrade``: recorded programs are graded again, and an outcome that they contradict is named."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest

from koderz_core import Order, Wanted, open_workspace
from koderz_core.grading.testsets import Split, deciding
from koderz_core.records import TestSet


@pytest.fixture
def benchmark() -> str:
    with open_workspace() as workspace:
        wanted = [Wanted(strategy, {"coder": "scripted/weak"}) for strategy in ("direct", "supervised")]
        plan = workspace.plans.plan(Order(wanted, "0:4"))
        workspace.runs.run(plan)
    return plan.id


def test_recorded_outcomes_are_those_of_the_programs(benchmark: str, koderz: Callable) -> None:
    said = koderz("verify", benchmark, "--regrade", "--workers", 2)
    assert said.code == 0
    assert "programs graded again 8)" in said.out


def test_a_journal_that_is_consistent_but_records_a_pass_of_a_wrong_program_is_refuted(
    benchmark: str, koderz: Callable
) -> None:
    with open_workspace() as workspace:
        path = workspace.settings.journals_dir / f"{benchmark}.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    wrong = next(
        line["experiment"]
        for line in lines
        if line["kind"] == "experiment_finished" and line["event"]["outcome"] == "unsolved"
    )
    for line in lines:
        if line.get("experiment") == wrong and line["kind"] == "experiment_finished":
            line["event"] |= {"outcome": "solved", "failure": None}
        for verdict in ("gate", "held_out", "verdict"):
            if line.get("experiment") == wrong and (held := line["event"].get(verdict)):
                passed = {"marks": "P" * len(held["marks"]), "failures": [], "completed": True, "error": None}
                line["event"][verdict] = held | passed
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert koderz("verify", benchmark).code == 0
    said = koderz("verify", benchmark, "--regrade")
    assert said.code == 1
    assert f"the outcome of {wrong}: solved; expected: unsolved (" in said.out


def test_programs_that_a_shared_journal_does_not_contain_are_counted_and_not_graded(
    benchmark: str, koderz: Callable, tmp_path: Path
) -> None:
    assert koderz("bundle", benchmark, "--out", tmp_path / "shared.zip").code == 0
    journals = tmp_path / "received" / "journals"
    journals.mkdir(parents=True)
    with ZipFile(tmp_path / "shared.zip") as bundle:
        (journals / f"{benchmark}.jsonl").write_bytes(bundle.read("journal.jsonl"))
    said = koderz("verify", benchmark, "--regrade", "--data-dir", tmp_path / "received")
    assert said.code == 0
    assert "programs graded again 0)" in said.out
    assert "does not contain 8 of the programs" in said.err


def test_each_part_of_a_divided_gate_keeps_its_own_time_limit() -> None:
    first, rest, base = (TestSet(name, seconds=seconds) for name, seconds in (("a", 1.0), ("b", 2.0), ("a b", 3.0)))
    tests = Split(gate=first, base=base, rest=rest)
    assert deciding(tests, gate_was_seen=True) == (first, rest)
    assert deciding(tests, gate_was_seen=False) == (base,)


def test_programs_are_graded_again_with_the_gate_of_their_configuration(koderz: Callable) -> None:
    with open_workspace() as workspace:
        plan = workspace.plans.plan(Order([Wanted("supervised", {"coder": "scripted/weak"}, gate="split:0.5")], "0:2"))
        workspace.runs.run(plan)
        recorded = workspace.regrading._recorded(plan.id).programs
    assert [(program.policy.gate, program.gate_was_seen) for program in recorded] == [("split:0.5", True)] * 2
    assert koderz("verify", plan.id, "--regrade").code == 0


def test_a_journal_with_contradictions_is_not_graded_again(benchmark: str, koderz: Callable) -> None:
    with open_workspace() as workspace:
        path = workspace.settings.journals_dir / f"{benchmark}.jsonl"
    path.write_text(path.read_text().replace('"outcome":"unsolved"', '"outcome":"solved"', 1))
    said = koderz("verify", benchmark, "--regrade")
    assert said.code == 1
    assert "were not graded again" in said.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bundle.zip", "--regrade"), "Name a benchmark instead of a file"),
        (("any", "--engine", "dask"), "Add --regrade"),
    ],
)
def test_options_that_do_not_fit_are_refused(koderz: Callable, arguments: Sequence[str], message: str) -> None:
    said = koderz("verify", *arguments)
    assert said.code == 2
    assert message in said.err
