"""A disk that is full or read-only: what was finished is kept, the exit code is honest, and room is all it needs."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from breaking import BENCHMARK, WEAK, finished

import koderz_core
from koderz_core.errors import JournalError, StoreError
from koderz_core.events import Entry, ExperimentFinished, TextStored, encode
from koderz_core.memory.cortex.database import Cortex
from koderz_core.memory.cortex.write_tools import remember
from koderz_core.store.store import Store


def fill(disk: Path) -> Path:
    """A file that takes all the room there is."""
    full = disk / "full"
    with full.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            return full


def read_only(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)


def test_a_disk_that_gets_full_meanwhile_keeps_what_was_finished_and_goes_on_with_room(small_disk: Path) -> None:
    with koderz_core.open_workspace(home=small_disk) as workspace:
        plan = workspace.plans.plan(replace(WEAK, problems="0:8"))
        journal = workspace.settings.journals_dir / f"{plan.id}.jsonl"

        def watch(entry: Entry) -> None:
            if isinstance(entry.event, ExperimentFinished) and len(finished(journal)) == 1:
                fill(small_disk)

        with workspace.runs.runner(plan, [watch]) as runner:
            runner.start(1)
            with pytest.raises(JournalError, match=r"No space left|is full"):
                runner.wait()
        assert 1 <= len(finished(journal)) < 8  # the block that it ends in may hold more than the first
        (small_disk / "full").unlink()
        workspace.runs.run(plan)
        assert len(finished(journal)) == 8


def test_results_on_a_full_disk_name_the_disk(small_disk: Path, journal: Path, koderz: Any) -> None:
    shutil.copytree(journal.parent, small_disk / "journals")
    full = fill(small_disk)
    said = koderz("results", "--data-dir", small_disk)
    assert said.code == 3
    assert "space" in said.err
    full.unlink()


@pytest.mark.parametrize("pages", [0, 6, 12, 24, 36, 48])
def test_an_index_that_runs_out_of_room_at_whatever_it_does_is_not_called_damaged(small_disk: Path, pages: int) -> None:
    full = fill(small_disk)
    os.truncate(full, full.stat().st_size - 4096 * pages)
    with pytest.raises(StoreError, match="No space left") as raised:
        Store(small_disk / "koderz.duckdb", small_disk / "journals").ingest()
    assert "damaged" not in str(raised.value)


def test_a_deletion_frees_a_full_disk_and_deletes_the_memories_too(
    small_disk: Path, journal: Path, koderz: Any
) -> None:
    shutil.copytree(journal.parent, small_disk / "journals")
    there = small_disk / "journals" / journal.name
    there.write_bytes(there.read_bytes() + encode(Entry(1.0, TextStored("0" * 64, "x" * 400_000))))
    cortex = Cortex(small_disk / "cortex.db")
    remember(cortex, title="its", content="x", metadata={"benchmark_id": journal.stem})
    cortex.close()
    full = fill(small_disk)
    koderz("delete", journal.stem, "--yes", "--data-dir", small_disk)
    assert not there.exists()
    full.unlink()
    cortex = Cortex(small_disk / "cortex.db")
    assert cortex.connection.execute("select count(*) from memories").fetchone()[0] == 0
    cortex.close()


def test_a_benchmark_on_a_read_only_disk_begins_nothing(small_disk: Path, koderz: Any) -> None:
    read_only(small_disk)
    said = koderz(*BENCHMARK, "--data-dir", small_disk)
    assert said.code == 3
    assert "Read-only file system" in said.err


def test_results_on_a_read_only_disk_say_where_else(small_disk: Path, journal: Path, koderz: Any) -> None:
    shutil.copytree(journal.parent, small_disk / "journals")
    read_only(small_disk)
    said = koderz("results", "--data-dir", small_disk)
    assert said.code == 3
    assert "--data-dir" in said.err


def test_a_backup_that_finds_no_room_leaves_no_file(small_disk: Path, journal: Path, koderz: Any) -> None:
    full = fill(small_disk)
    said = koderz("backup", small_disk / "a.zip")
    assert said.code == 3
    assert "cannot be written (No space left on device)" in said.err
    assert list(small_disk.iterdir()) == [full]


def test_a_restore_that_finds_no_room_puts_nothing_there(
    small_disk: Path, journal: Path, tmp_path: Path, koderz: Any
) -> None:
    koderz("backup", tmp_path / "a.zip")
    full = fill(small_disk)
    said = koderz("restore", tmp_path / "a.zip", "--data-dir", small_disk)
    assert said.code == 3
    assert "No space left" in said.err
    assert list(small_disk.iterdir()) == [full]


def test_repair_on_a_full_disk_changes_nothing_and_says_so(small_disk: Path, journal: Path, koderz: Any) -> None:
    shutil.copytree(journal.parent, small_disk / "journals")
    there = small_disk / "journals" / journal.name
    there.write_bytes(there.read_bytes() + b"broken\n")
    before = there.read_bytes()
    fill(small_disk)
    said = koderz("doctor", "--repair", "--data-dir", small_disk)
    assert (said.code, "Not repaired" in said.out, there.read_bytes() == before) == (3, True, True)
