"""Journals of every released schema stay readable, with the same identities and the same results.

``golden/schema-1.jsonl`` was written by ``koderz benchmark --humaneval-path golden/problems.jsonl --problems all
--strategy direct,supervised --coder scripted/weak,scripted/strong --max-iterations 3 --checkpoint-interval 1
--seed 3``.
SCRIPTED: it shows nothing about models.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from koderz_core.analysis.forecast import seconds_left
from koderz_core.events import BenchmarkOpened, ExperimentStarted
from koderz_core.journal import read_all
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
