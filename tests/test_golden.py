"""Journals of every released schema stay readable, with the same identities and the same results.

``golden/schema-1.jsonl`` was written by ``koderz benchmark --humaneval-path golden/problems.jsonl --problems all
--strategy direct,supervised --coder scripted/weak,scripted/strong --max-iterations 3 --checkpoint-interval 1
--seed 3``; ``schema-1-changed.jsonl`` likewise by a weak coder, while ``koderz change`` gave it another budget.
SCRIPTED: it shows nothing about models.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from koderz_core import open_workspace
from koderz_core.analysis.timing import seconds_left
from koderz_core.config import Settings
from koderz_core.events import (
    BenchmarkOpened,
    CallFinished,
    CheckpointReviewed,
    CodeTested,
    ExperimentStarted,
    SpecWritten,
)
from koderz_core.journal import read_all
from koderz_core.plan.order import Order, Wanted
from koderz_core.runner.header import recorded_plan
from koderz_core.runner.history import load
from koderz_core.store.results import Results
from koderz_core.store.store import Store

GOLDEN = Path(__file__).parent / "golden"
JOURNALS = sorted(GOLDEN.glob("schema-*.jsonl"))


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_its_identities_are_still_those_of_its_plan(path: Path) -> None:
    header, *entries = read_all(path)
    assert isinstance(header.event, BenchmarkOpened)
    started = {entry.event.experiment for entry in entries if isinstance(entry.event, ExperimentStarted)}
    assert header.event.plan.id == header.event.benchmark
    assert set(header.event.plan.experiments()) == started


def test_the_command_that_began_it_finds_it_again(settings: Settings) -> None:
    path = GOLDEN / "schema-1.jsonl"
    wanted = [Wanted("direct", {"coder": name}) for name in ("scripted/weak", "scripted/strong")]
    recorded = recorded_plan(path)
    direct = tuple(configuration for configuration in recorded.configurations if configuration.strategy == "direct")
    recorded = replace(recorded, configurations=direct)
    with open_workspace(humaneval_path=GOLDEN / "problems.jsonl") as workspace:
        assert workspace.plans.plan(Order(wanted, seed=3)).id != recorded.id  # nothing is recorded yet
        settings.journals_dir.mkdir(parents=True)
        (settings.journals_dir / f"{recorded.id}.jsonl").touch()
        assert workspace.plans.plan(Order(wanted, seed=3)) == recorded


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_its_results_are_still_the_same(path: Path, tmp_path: Path) -> None:
    (tmp_path / "journals").mkdir()
    shutil.copy(path, tmp_path / "journals" / "golden.jsonl")
    results = Results(Store(tmp_path / "koderz.duckdb", tmp_path / "journals"), seconds_left)
    found = {row.id: row for row in results.experiments()}
    expected = json.loads(path.with_suffix(".json").read_text())
    assert not results.faults
    assert [{name: getattr(found[row["id"]], name) for name in row} for row in expected] == expected
    assert len(found) == len(expected)


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_what_it_recorded_of_an_experiment_without_an_end_is_known_step_by_step(path: Path, tmp_path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    (tmp_path / "cut.jsonl").write_bytes(b"".join(line for line in lines if b'"experiment_finished"' not in line))
    answers = (CallFinished, CodeTested, SpecWritten, CheckpointReviewed)
    recorded = {(entry.experiment, entry.ordinal) for entry in read_all(path) if isinstance(entry.event, answers)}
    tapes = load(tmp_path / "cut.jsonl").tapes
    assert {(experiment, ordinal) for experiment, tape in tapes.items() for ordinal in tape.steps} == recorded
    assert all(tape.attempts.values() for tape in tapes.values())
