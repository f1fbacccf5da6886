"""Index, clock, settings, datasets, caches and memories that are broken: what it is, what to do, and nothing lost."""

from __future__ import annotations

import gzip
import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pytest
from breaking import BENCHMARK, WEAK, finished, mended

import koderz_core
from koderz_core.memory.cortex.database import Cortex


def moved(journal: Path, seconds: float) -> None:
    """Let the clock have jumped by so much in the middle of a benchmark."""
    lines = journal.read_bytes().splitlines(keepends=True)
    half = len(lines) // 2
    told = re.compile(rb'"at":([0-9.e+]+)')
    later = [told.sub(lambda at: b'"at":%f' % (float(at[1]) + seconds), line, count=1) for line in lines[half:]]
    journal.write_bytes(b"".join([*lines[:half], *later]))


@pytest.mark.parametrize("seconds", [-3600.0, -1.7e9, 1e9])
def test_a_clock_that_jumps_makes_no_duration_negative_and_no_command_fail(
    journal: Path, koderz: Any, seconds: float
) -> None:
    moved(journal, seconds)
    rows = koderz("results", "--experiments", "--json").json
    assert len(rows) == 3
    assert all(0 <= row["seconds"] < 1000 for row in rows)
    assert koderz("analyze", journal.stem, "--timing").code == 0
    assert koderz("compare", journal.stem).code == 0


def test_an_index_of_a_later_koderz_is_told_by_the_doctor_and_built_anew_by_repair(
    home: Path, journal: Path, koderz: Any
) -> None:
    with duckdb.connect(home / "koderz.duckdb") as con:
        con.execute("update schema_version set version = 99")
    assert koderz("results").code == 3
    doctor = koderz("doctor")
    assert (doctor.code, "written by a later version of koderz (schema 99" in doctor.out) == (3, True)
    assert "was rebuilt" in mended()["index"]
    assert koderz("results", "--json").json[0]["benchmark"] == journal.stem


def test_an_index_that_is_a_folder_is_named_with_the_cure(home: Path, koderz: Any) -> None:
    (home / "koderz.duckdb").unlink()
    (home / "koderz.duckdb").mkdir()
    said = koderz("results")
    assert said.code == 3
    assert "koderz.duckdb" in said.err


def test_a_lock_of_the_index_that_cannot_be_opened_is_named(home: Path, koderz: Any) -> None:
    (home / "koderz.duckdb.lock").unlink()
    (home / "koderz.duckdb.lock").mkdir()
    said = koderz("results")
    assert (said.code, "cannot be written" in said.err) == (3, True)


def test_all_but_the_journals_can_be_lost(home: Path, journal: Path, koderz: Any) -> None:
    before = koderz("results", "--json").json
    for path in home.iterdir():
        if path.name != "journals":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert koderz("results", "--json").json == before


def test_settings_that_were_half_written_name_the_line(home: Path, koderz: Any) -> None:
    (home / "settings.toml").write_text('timeout = 10.0\nopenai_base_url = "http')
    said = koderz("results")
    assert said.code == 2
    assert "settings.toml is not valid TOML" in said.err
    assert "Unterminated string" in said.err


def test_settings_that_are_a_folder_are_named(home: Path, koderz: Any) -> None:
    (home / "settings.toml").mkdir()
    said = koderz("results")
    assert (said.code, "settings.toml is a folder" in said.err) == (2, True)


@pytest.mark.parametrize("cut", [0, 20, 200])
def test_a_dataset_that_was_cut_short_is_named_and_nothing_is_begun(tmp_path: Path, koderz: Any, cut: int) -> None:
    path = tmp_path / "mine.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"task_id": "a/0"}\n' * 500)[:cut])
    said = koderz(*BENCHMARK, "--humaneval-path", path)
    assert said.code == 3
    assert "mine.jsonl.gz" in said.err
    assert not list((tmp_path / "home").glob("journals/*.jsonl"))


def test_caches_that_were_spoiled_change_no_result(home: Path, journal: Path, koderz: Any) -> None:
    before = [(row["problem"], row["outcome"]) for row in koderz("results", "--experiments", "--json").json]
    journal.unlink()
    spoiled = list((home / "cache").rglob("*.json"))
    for path in spoiled:
        path.write_bytes(b"\xff{")
    with koderz_core.open_workspace() as workspace:
        workspace.runs.run(workspace.plans.plan(WEAK))
    after = [(row["problem"], row["outcome"]) for row in koderz("results", "--experiments", "--json").json]
    assert (bool(spoiled), journal.exists(), sorted(after)) == (True, True, sorted(before))


def test_memories_that_are_junk_are_named_and_keep_no_benchmark_from_being_deleted_halfway(
    home: Path, journal: Path, koderz: Any
) -> None:
    (home / "cortex.db").write_bytes(b"junk" * 4096)
    said = koderz("cortex", "recall", "x")
    assert (said.code, "cortex.db cannot be opened" in said.err) == (3, True)
    assert koderz("delete", journal.stem, "--yes").code == 3
    assert len(finished(journal)) == 3


def test_memories_of_a_later_koderz_are_left_alone(home: Path, koderz: Any) -> None:
    Cortex(home / "cortex.db").close()
    with sqlite3.connect(home / "cortex.db") as con:
        con.execute("pragma user_version = 99")
    con.close()
    said = koderz("cortex", "recall", "x")
    assert (said.code, "later koderz (version 99). Upgrade koderz" in said.err) == (3, True)


def test_doctor_makes_no_data_folder_where_none_was(tmp_path: Path, koderz: Any) -> None:
    koderz("doctor", "--repair")
    assert not (tmp_path / "home").exists()
