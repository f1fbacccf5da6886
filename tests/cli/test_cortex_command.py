"""``koderz cortex backfill`` and ``status``, with koderz' own server."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from koderz_core.config import Settings

GOLDEN = Path(__file__).parents[1] / "golden" / "schema-1.jsonl"
Koderz = Callable[..., Any]


@pytest.fixture
def home(settings: Settings) -> Path:
    settings.journals_dir.mkdir(parents=True)
    shutil.copy(GOLDEN, settings.journals_dir / "bench_d53bbf8f03e3.jsonl")
    return settings.home


def test_a_backfill_stores_each_memory_once_however_often_it_is_asked_for(home: Path, koderz: Koderz) -> None:
    assert koderz("cortex", "backfill", "bench_d5").code == 0
    again = koderz("cortex", "backfill", "--again")
    assert (again.code, "1 benchmark, 2 checkpoint, 6 iteration, 8 result, 4 spec" in again.out) == (0, True)
    with sqlite3.connect(home / "cortex.db") as memories:
        assert memories.execute("select count(*), count(distinct title) from memories").fetchone() == (21, 21)
    (row,) = koderz("cortex", "status", "--json").json["journals"]
    assert row["mirrored"] == row["events"] > 0


def test_status_names_what_is_missing_and_why(home: Path, koderz: Koderz, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KODERZ_CORTEX_COMMAND", f"{sys.executable} -I -c 'import sys; sys.exit(\"broken\")'")
    failed = koderz("cortex", "backfill")
    assert (failed.code, "broken" in failed.err) == (3, True)
    status = koderz("cortex", "status")
    assert (status.code, "Fails: " in status.out, "0 of " in status.out) == (3, True, True)
    assert "koderz cortex backfill" in status.out


def test_an_unknown_benchmark_is_told_with_those_there_are(home: Path, koderz: Koderz) -> None:
    told = koderz("cortex", "backfill", "bench_x")
    assert (told.code, "bench_d53bbf8f03e3" in told.err) == (2, True)
