"""Live with thousands of experiments: what every browser is sent at every look stays small."""

from __future__ import annotations

from dataclasses import fields

import pytest

from koderz_core.records.progress import BenchmarkProgress
from koderz_core.records.rows import ExperimentRow
from pages.ui import run_controls
from pages.ui.run_controls import MOST_WAITING, WHOLE


def experiment(number: int, state: str) -> ExperimentRow:
    began = 1.0 if state == "running" else None
    named = {
        "id": f"exp_{number}",
        "problem": f"P/{number}",
        "configuration": "conf_1",
        "label": "direct",
        "repeat": 0,
        "started_at": began,
    }
    return ExperimentRow(**dict.fromkeys(field.name for field in fields(ExperimentRow)) | named | {"state": state})


def test_of_thousands_that_wait_only_the_next_can_be_stopped_singly_and_all_that_run() -> None:
    rows = tuple(experiment(number, "planned" if number < 5000 else "running") for number in range(5003))
    parts = run_controls._parts(BenchmarkProgress(None, rows, (), None))
    assert list(parts)[:2] == [WHOLE, "conf_1"]
    assert {"exp_0", "exp_5000", "exp_5001", "exp_5002"} < set(parts)
    assert len(parts) == 2 + 3 + MOST_WAITING


@pytest.mark.parametrize("state", ["planned", "paused"])
def test_one_that_was_chosen_can_still_be_chosen(state: str) -> None:
    rows = tuple(experiment(number, state) for number in range(5000))
    parts = run_controls._parts(BenchmarkProgress(None, rows, (), None), "exp_4000")
    assert "exp_4000" in parts
    assert len(parts) == 2 + 1 + MOST_WAITING
