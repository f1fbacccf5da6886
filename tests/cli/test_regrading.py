"""``koderz verify --regrade``: recorded programs are graded again, and an outcome that they contradict is named."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from koderz_core import Order, Wanted, open_workspace


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


def test_files_cannot_be_graded_again(koderz: Callable) -> None:
    said = koderz("verify", "bundle.zip", "--regrade")
    assert said.code == 2
    assert "Name a benchmark instead of a file" in said.err
