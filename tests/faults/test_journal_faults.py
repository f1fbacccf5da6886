"""What others do to a journal, while it is written and afterwards: what was finished is kept, and it is said."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from breaking import WEAK, finished, mended

import koderz_core
from koderz_core.errors import JournalError
from koderz_core.events import Entry, ExperimentFinished, TextStored
from koderz_core.journal import Journal, acquire, beside, holder, read_all

TEXT = Entry(1.0, TextStored("0" * 64, "text"))


def broken_off(harm: Callable[[Path], None]) -> str:
    """Run the benchmark and do that to its journal as soon as an experiment has ended; what is said."""
    with koderz_core.open_workspace() as workspace:
        plan = workspace.plans.plan(WEAK)
        path = workspace.settings.journals_dir / f"{plan.id}.jsonl"

        def watch(entry: Entry) -> None:
            if isinstance(entry.event, ExperimentFinished) and len(finished(path)) == 1:
                harm(path)

        with workspace.runs.runner(plan, [watch]) as runner:
            runner.start(1)
            with pytest.raises(JournalError) as said:
                runner.wait()
    return str(said.value)


def test_a_journal_that_is_deleted_while_it_is_written_is_put_back_and_goes_on(koderz: Any, tmp_path: Path) -> None:
    said = broken_off(lambda path: path.unlink())
    (journal,) = (tmp_path / "home").glob("journals/*.jsonl")
    assert "was deleted while koderz was writing to it" in said
    assert len(finished(journal)) == 1
    assert koderz("resume", journal.stem).code == 0
    assert len(finished(journal)) == 3


def test_a_data_folder_that_is_deleted_while_a_benchmark_runs_gets_its_journal_back(tmp_path: Path) -> None:
    said = broken_off(lambda path: shutil.rmtree(path.parent.parent))
    (journal,) = (tmp_path / "home").glob("journals/*.jsonl")
    assert "`koderz resume" in said
    assert len(finished(journal)) == 1


def test_a_journal_that_is_cut_short_while_it_is_written_stops_before_a_line_is_corrupt(
    koderz: Any, tmp_path: Path
) -> None:
    said = broken_off(lambda path: os.truncate(path, path.stat().st_size - 10))
    (journal,) = (tmp_path / "home").glob("journals/*.jsonl")
    assert "was shortened by another program" in said
    assert "incomplete last line" in mended()[journal.stem]
    assert koderz("resume", journal.stem).code == 0
    assert len(finished(journal)) == 3


def test_a_journal_that_somebody_else_writes_to_is_not_written_any_more(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "bench_x.jsonl")
    journal.append(TEXT)
    with journal.path.open("ab") as other:
        other.write(b"x")
    with pytest.raises(JournalError, match=r"extended by another program.*koderz doctor --repair"):
        journal.append(TEXT)
    journal.close()


def test_two_writers_after_a_lock_was_deleted_are_noticed_before_lines_mix(tmp_path: Path) -> None:
    first = Journal(tmp_path / "bench_x.jsonl")
    first.append(TEXT)
    (tmp_path / "bench_x.lock").unlink()
    second = Journal(first.path)
    second.append(TEXT)
    with pytest.raises(JournalError, match="by another program"):
        first.append(TEXT)
    second.close()
    first.close()
    assert len(list(read_all(first.path))) == 2


def test_a_journal_that_was_never_written_to_is_not_put_back(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "bench_x.jsonl")
    journal.path.unlink()
    journal.close()
    assert not journal.path.exists()


def test_who_waited_for_the_lock_of_a_deleted_journal_takes_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "bench_x.jsonl"
    lock = acquire(path)

    def delete() -> None:
        beside(path).unlink()
        lock.close()

    soon = threading.Timer(0.1, delete)
    soon.start()
    journal = Journal(path)
    soon.join()
    assert holder(path) == os.getpid()
    journal.close()


def test_zeros_that_a_power_cut_left_at_the_end_are_cut_off_and_nothing_else(journal: Path, koderz: Any) -> None:
    whole = journal.read_bytes()
    journal.write_bytes(whole + b"\0" * 4096)
    assert koderz("results").code == 0
    assert "incomplete last line (4096 bytes), which was removed" in mended()[journal.stem]
    assert journal.read_bytes() == whole


def test_a_journal_that_cannot_be_opened_keeps_nobody_from_the_others(home: Path, journal: Path, koderz: Any) -> None:
    (home / "journals" / "bench_000000000000.jsonl").mkdir()
    said = koderz("results", "--json")
    assert said.code == 3
    assert "bench_000000000000.jsonl cannot be read" in said.err
    assert said.json[0]["benchmark"] == journal.stem


def test_a_writer_that_was_killed_leaves_a_lock_that_repair_opens(journal: Path) -> None:
    write = (
        "import pathlib, sys, koderz_core.journal as j; j.Journal(pathlib.Path(sys.argv[1])); print(flush=True); "
        "sys.stdin.read()"
    )
    command = [sys.executable, "-c", write, str(journal)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout
        writer.stdout.readline()
        alive = mended()
        writer.send_signal(signal.SIGKILL)
    assert f"is being written by process {writer.pid} and was left unchanged" in alive[journal.stem]
    assert f"was locked by process {writer.pid}, which has ended, so the lock was released" in mended()[journal.stem]
    assert mended() == {}


def test_a_lock_without_a_journal_is_cleared_away(journal: Path) -> None:
    journal.with_name("bench_gone.lock").write_text("12345")
    journal.with_name("bench_gone.control").touch()
    assert "no longer has a journal" in mended()["bench_gone"]
    assert not list(journal.parent.glob("bench_gone*"))
