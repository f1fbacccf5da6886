"""The store's file: owned by nobody, rebuilt when it is lost, refused when it is of a later koderz."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from dataclasses import replace

import duckdb
import pytest

from koderz_core.errors import StoreError
from koderz_core.events import BenchmarkClosed
from koderz_core.store import connection
from koderz_core.store.benchmarks import benchmarks
from koderz_core.store.connection import failures
from koderz_core.store.index import Index, Writers
from koderz_core.store.store import Store

HOLD = "import sys, duckdb\ncon = duckdb.connect(sys.argv[1])\nprint(1, flush=True)\nsys.stdin.read()"
INGEST = """
import sys
from pathlib import Path
from koderz_core.store.store import Store
store = Store(Path(sys.argv[1]), Path(sys.argv[2]))
read, there = 0, 0
while there < int(sys.argv[3]):
    read += store.ingest().events
    with store.open() as con:
        there = con.execute("select sum(entries) from journals").fetchone()[0]
print(read)
"""
APPEND = """
import sys, time
for line in open(sys.argv[1], "rb"):
    half = len(line) // 2
    for part in (line[:half], line[half:]):
        with open(sys.argv[2], "ab") as file:
            file.write(part)
        time.sleep(0.001)
"""


def test_two_processes_ingest_what_a_third_appends_exactly_once(store, journal, plan, tmp_path, reindexed):
    for _ in range(3):
        for experiment in plan.experiments():
            journal.tell(experiment)
    lines = journal.path.read_bytes().splitlines(keepends=True)
    (tmp_path / "later").write_bytes(b"".join(lines[1:]))
    journal.path.write_bytes(lines[0])
    store.ingest()
    command = [sys.executable, "-c", INGEST, str(store.path), str(store.journals_dir), str(len(lines))]
    readers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    subprocess.run([sys.executable, "-c", APPEND, str(tmp_path / "later"), str(journal.path)], check=True)
    read = [int(reader.communicate()[0]) for reader in readers]
    assert [reader.returncode for reader in readers] == [0, 0]
    assert sum(read) == len(lines) - 1
    assert store.dump() == reindexed()


def test_killed_while_it_ingests_the_store_is_whole(store, journal, plan, reindexed):
    store.ingest()
    command = [sys.executable, "-c", INGEST, str(store.path), str(store.journals_dir), "1000000"]
    for kill_seconds in (0.3, 0.4, 0.5):
        reader = subprocess.Popen(command)
        for _ in range(100):
            journal.tell(plan.experiments()[0])
        with pytest.raises(subprocess.TimeoutExpired):
            reader.communicate(timeout=kill_seconds)
        reader.kill()
        reader.wait()
    store.ingest()
    assert store.dump() == reindexed()


def test_threads_share_a_store(store, journal, plan, reindexed):
    journal.tell(plan.experiments()[0])
    threads = [threading.Thread(target=store.ingest) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.dump() == reindexed()


def test_a_store_kept_open_by_another_program_is_waited_for_and_then_named(store, journal):
    store.ingest()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        holder.stdout.readline()
        impatient = Store(store.path, store.journals_dir, patience_seconds=0.2)
        with pytest.raises(StoreError, match=f"PID {holder.pid}"):
            impatient.ingest()
    finally:
        holder.communicate()
    assert store.ingest().events == 0


def test_a_store_in_use_by_koderz_is_waited_for_and_then_named(store, journal):
    impatient = Store(store.path, store.journals_dir, patience_seconds=0.2)
    with store.open(), pytest.raises(StoreError, match=r"used by another process \(PID \d+\)"):
        impatient.ingest()


def test_a_store_of_a_later_koderz_is_refused_and_can_be_rebuilt(store, journal, plan):
    store.ingest()
    with store.open() as con:
        con.execute("update schema_version set version = 99")
    with pytest.raises(StoreError, match=r"later version of koderz.*koderz reindex"):
        store.ingest()
    assert store.reindex().events == 1
    assert store.ingest().events == 0


def test_a_store_of_an_earlier_koderz_is_built_anew(store, journal, plan):
    journal.tell(plan.experiments()[0])
    store.ingest()
    before = store.dump()
    with store.open() as con:
        con.execute("update schema_version set version = 13; drop table notes; create table notes (what varchar)")
    assert store.dump() == before


@pytest.mark.parametrize("damage", ["deleted", "junk", "empty", "foreign", "checksum"])
def test_a_lost_store_is_rebuilt_from_the_journals_and_says_so(store, journal, plan, damage, caplog):
    journal.tell(plan.experiments()[0])
    store.ingest()
    before = store.dump()
    DAMAGES[damage](store.path)
    with caplog.at_level(logging.INFO, logger="koderz"):
        assert store.dump() == before
    assert "from the journals" in caplog.text


@pytest.mark.parametrize("failure", [duckdb.Error, duckdb.FatalException, duckdb.IOException])
def test_a_store_that_fails_in_use_names_the_cure(store, failure):
    with pytest.raises(StoreError, match="koderz reindex"), store.open():
        raise failure("block 7")


def test_faults_of_the_caller_pass_through_an_open_store(store):
    with pytest.raises(duckdb.BinderException), store.open() as con:
        con.execute("select no_such_column from texts")


def test_a_first_store_is_made_without_a_warning(store, journal, caplog):
    with store.open() as con:
        assert len(benchmarks(Index(con, Writers(store.journals_dir)))) == 1
    assert caplog.text == ""


def test_a_log_left_by_a_deleted_store_does_not_reach_the_new_one(store, journal):
    store.ingest()
    before = store.dump()
    store.path.unlink()
    store.path.with_name("koderz.duckdb.wal").write_bytes(b"what a dead process left" * 100)
    assert store.dump() == before


@pytest.mark.parametrize("change", ["shrank", "replaced", "gone"])
def test_a_journal_that_is_not_the_one_read_before_is_read_anew(store, journal, plan, write, reindexed, change):
    kept = write(replace(plan, seed=1))
    kept.tell(kept.plan.experiments()[0])
    journal.tell(plan.experiments()[0])
    store.ingest()
    lines = journal.path.read_bytes().splitlines(keepends=True)
    if change == "shrank":
        journal.path.write_bytes(b"".join(lines[:4]))
    elif change == "replaced":
        journal.path.write_bytes(b"".join(lines[:2] + lines[3:]))
        for _ in range(9):
            journal.say(BenchmarkClosed("stopped"))
    else:
        journal.path.unlink()
    store.ingest()
    assert store.dump() == reindexed()


def test_reindexing_leaves_nothing_beside_the_store(store, journal, tmp_path):
    store.reindex()
    assert {path.name for path in tmp_path.glob("koderz.*")} == {
        "koderz.duckdb",
        "koderz.duckdb.lock",
        "koderz.duckdb.fresh.lock",
    }


def test_a_folder_that_takes_no_files_is_named_with_the_cure(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreError, match="--data-dir"):
        Store(tmp_path / "file" / "koderz.duckdb", tmp_path).ingest()


def test_a_journal_larger_than_a_pass_is_read_to_its_end(store, journal, reindexed):
    store.ingest()
    for number in range(20):
        journal.text(f"{number}" + "x" * 1_000_000)
    assert store.ingest().events == 20
    assert store.dump() == reindexed()


def _overwrite_header(path):
    with path.open("r+b") as file:
        file.seek(4096 + 100)
        file.write(b"\xff" * 64)
        file.seek(8192 + 100)
        file.write(b"\xff" * 64)


def _make_foreign(path):
    path.unlink()
    with duckdb.connect(path) as con:
        con.execute("create table other (a integer)")


DAMAGES = {
    "deleted": lambda path: path.unlink(),
    "junk": lambda path: path.write_bytes(b"junk" * 5000),
    "empty": lambda path: path.write_bytes(b""),
    "foreign": _make_foreign,
    "checksum": _overwrite_header,
}


def test_a_ctrl_c_during_a_question_is_a_ctrl_c(tmp_path):
    with pytest.raises(KeyboardInterrupt), failures(tmp_path / "koderz.duckdb"):
        raise RuntimeError("Query interrupted")  # what DuckDB 2 makes of it


def test_a_long_running_process_replaces_its_database_while_an_index_is_open(store, tmp_path, monkeypatch):
    """DuckDB keeps memory of every index that was ever attached to it."""
    made, connect = [], duckdb.connect
    other = Store(tmp_path / "other.duckdb", store.journals_dir)
    store.ingest()
    other.ingest()
    monkeypatch.setattr(connection, "MOST_ATTACHED", 3)
    monkeypatch.setattr(connection, "_ENGINE", connection._Engine())
    monkeypatch.setattr(duckdb, "connect", lambda *of, **options: made.append(of) or connect(*of, **options))
    with store.open() as con:
        for _ in range(9):
            other.ingest()
        assert con.execute("select count(*) from journals").fetchone()
    assert made == [()] * 4  # ten indexes, of which one is open all the time
    for path in (store.path, other.path):  # free for other programs
        connect(path).close()
