"""``koderz cortex backfill`` and ``status``, with koderz' own server."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from koderz_core.config import Settings
from koderz_core.memory.cortex.database import Cortex
from koderz_core.memory.cortex.server import call
from koderz_core.memory.mirror import JournalReader, as_entry

GOLDEN = Path(__file__).parents[1] / "golden" / "schema-1.jsonl"
HOSTILE = Path(__file__).parents[1] / "memory" / "hostile_server.py"
Koderz = Callable[..., Any]


@pytest.fixture
def home(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KODERZ_MEMORY", "all")  # the golden journal is of scripted models
    settings.journals_dir.mkdir(parents=True)
    shutil.copy(GOLDEN, settings.journals_dir / "bench_d53bbf8f03e3.jsonl")
    return settings.home


@pytest.fixture
def _half_remembered(home: Path) -> None:
    """As when a backfill was killed before its server had acknowledged anything. A server takes long to start."""
    told = [one for read in JournalReader(GOLDEN, scripted=True).read() if (one := read.memory)]
    stored = json.dumps([as_entry(row) for row in told[::2]])
    cortex = Cortex(home / "cortex.db")
    assert call(cortex, "import_memories", {"data": stored}).content["imported"] == 11
    cortex.close()


@pytest.mark.usefixtures("_half_remembered")
def test_a_backfill_stores_each_memory_once_however_often_it_is_asked_for(home: Path, koderz: Koderz) -> None:
    first = koderz("cortex", "backfill", "bench_d5", "--again")
    assert (first.code, "1 benchmark, 2 checkpoint, 6 iteration, 8 result, 4 spec" in first.out) == (0, True)
    assert re.search(r": ([1-9]\d*) of \1 events sent", first.out)
    assert koderz("cortex", "backfill").out == first.out
    with sqlite3.connect(home / "cortex.db") as memories:
        assert memories.execute("select count(*), count(distinct title) from memories").fetchone() == (21, 21)


def test_status_tells_how_far_each_journal_is_remembered(
    home: Path, koderz: Koderz, monkeypatch: pytest.MonkeyPatch
) -> None:
    obeys = shlex.join((sys.executable, "-I", str(HOSTILE), "obeys", str(home / "log.txt")))
    monkeypatch.setenv("KODERZ_CORTEX_COMMAND", obeys)
    (row,) = koderz("cortex", "status", "--json").json["journals"]
    assert row["mirrored"] == 0 < row["events"]
    assert koderz("cortex", "backfill").code == 0
    status = koderz("cortex", "status", "--json")
    (row,) = status.json["journals"]
    assert (status.code, row["mirrored"]) == (0, row["events"])


def test_status_names_what_is_missing_and_why(home: Path, koderz: Koderz, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KODERZ_CORTEX_COMMAND", f"{sys.executable} -I -c 'import sys; sys.exit(\"broken\")'")
    failed = koderz("cortex", "backfill")
    assert (failed.code, "broken" in failed.err) == (3, True)
    status = koderz("cortex", "status")
    assert (status.code, "No answer: " in status.out, "0 of " in status.out) == (3, True, True)
    assert "koderz cortex backfill" in status.out


def test_an_unknown_benchmark_is_told_with_those_there_are(home: Path, koderz: Koderz) -> None:
    told = koderz("cortex", "backfill", "bench_x")
    assert (told.code, "bench_d53bbf8f03e3" in told.err) == (2, True)
