"""Live with thousands of experiments: what every browser is sent at every look stays small."""

from __future__ import annotations

from dataclasses import fields

import pytest

from koderz_core.export.lanes import Lanes
from koderz_core.records.progress import BenchmarkProgress
from koderz_core.records.rows import ExperimentRow
from pages.ui import cells, running
from pages.ui.running import MOST_WAITING, WHOLE


def experiment(number: int, state: str) -> ExperimentRow:
    named = {"id": f"exp_{number}", "problem": f"P/{number}", "configuration": "conf_1", "label": "direct", "repeat": 0}
    return ExperimentRow(**dict.fromkeys(one.name for one in fields(ExperimentRow)) | named | {"state": state})


def test_of_thousands_that_wait_only_the_next_can_be_stopped_singly_and_all_that_run() -> None:
    rows = tuple(experiment(number, "planned" if number < 5000 else "running") for number in range(5003))
    parts = running._parts(BenchmarkProgress(None, rows, (), None))
    assert list(parts)[:2] == [WHOLE, "conf_1"]
    assert {"exp_0", "exp_5000", "exp_5001", "exp_5002"} < set(parts)
    assert len(parts) == 2 + 3 + MOST_WAITING


@pytest.mark.parametrize(("number", "made"), [(cells.FEW, 3), (cells.FEW + 1, 2)])
def test_many_cells_are_not_made_anew_at_every_look(number: int, made: int, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    now = iter((100.0, 100.0 + cells.EVERY_SECONDS / 2, 100.0 + cells.EVERY_SECONDS))
    monkeypatch.setattr(cells.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(cells, "lanes", lambda rows: looks.append(len(rows)) or Lanes((), 1))
    monkeypatch.setattr(cells, "_draw", lambda _lanes: None)
    shown = cells.Cells()
    for _ in range(3):
        shown.draw([experiment(one, "running") for one in range(number)])
    assert looks == [number] * made
