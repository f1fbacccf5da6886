"""Journals: whole lines only, one writer, nothing acknowledged is lost."""

from __future__ import annotations

import errno
import fcntl
import os
import random
import signal
import subprocess
import sys
import threading
import time
from itertools import takewhile
from pathlib import Path
from typing import IO

import pytest

from koderz_core.errors import JournalError
from koderz_core.events import BenchmarkOpened, Entry, ExperimentFinished, TextStored, encode
from koderz_core.journal import Journal, holder, read, read_all
from koderz_core.records import Configuration, DatasetOrigin, Plan

PLAN = Plan(DatasetOrigin("d", "0" * 64, "MIT"), ("p/0",), (Configuration("direct", {"coder": ("scripted/weak",)}),))
HEADER = Entry(1.0, BenchmarkOpened(1, "0.1.0", PLAN.id, PLAN, {}, "prices", "limited", {}))

WRITER = """
import sys
from pathlib import Path
from koderz_core.events import Entry, ExperimentFinished, TextStored
from koderz_core.journal import Journal
journal, number = Journal(Path(sys.argv[1])), int(sys.argv[2])
while True:
    journal.append(Entry(1.0, TextStored("0" * 64, "x" * (number % 977) * 20)))
    journal.append(Entry(1.0, ExperimentFinished("solved", "gate", "oracle", None, 1.0), f"exp_{number}"))
    print(number, flush=True)
    number += 1
"""
STARTER = """
import os, sys
import koderz_core.events, koderz_core.journal  # once for all writers
for number in sys.stdin:
    writer = os.fork()
    if writer == 0:
        sys.argv[2] = number
        print(os.getpid(), flush=True)
        exec(sys.argv[3])
    os.waitpid(writer, 0)
    print("\\nended", flush=True)  # the writer may have been killed within a line
"""


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The size of the file whenever the disk had all of it."""
    sizes: list[int] = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (fsync(file), sizes.append(os.fstat(file).st_size)))
    return sizes


def text(number: int) -> Entry:
    return Entry(2.0, TextStored(f"{number:064}", f"text {number}"))


def begin(path: Path) -> Journal:
    journal = Journal(path)
    journal.append(HEADER)
    return journal


def test_what_was_synced_is_on_the_disk_when_sync_returns(tmp_path: Path, on_disk: list[int]) -> None:
    journal = begin(tmp_path / "b.jsonl")
    journal.append(text(1))
    journal.sync()
    assert on_disk[-1] == journal.path.stat().st_size
    journal.append(text(2))
    journal.close()
    assert on_disk[-1] == journal.path.stat().st_size


def test_the_end_of_an_experiment_reaches_the_disk_at_once(
    tmp_path: Path, on_disk: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("koderz_core.journal.SYNC_SECONDS", 3600.0)
    journal = begin(tmp_path / "b.jsonl")
    journal.append(Entry(1.0, ExperimentFinished("solved", "gate", "oracle", None, 1.0), "exp_1"))
    deadline = time.monotonic() + 10.0
    while not on_disk and time.monotonic() < deadline:
        time.sleep(0.01)
    assert on_disk == [journal.path.stat().st_size]
    journal.close()


def test_ends_that_follow_each_other_reach_the_disk_together_and_closing_waits_for_none(
    tmp_path: Path, on_disk: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("koderz_core.journal.REST_SECONDS", 3600.0)
    journal = begin(tmp_path / "b.jsonl")
    for number in range(5):
        journal.append(Entry(1.0, ExperimentFinished("solved", "gate", "oracle", None, 1.0), f"exp_{number}"))
        deadline = time.monotonic() + (0.1 if on_disk else 10.0)
        while len(on_disk) <= min(number, 1) and time.monotonic() < deadline:
            time.sleep(0.01)
    journal.close()
    assert (len(on_disk), on_disk[-1]) == (2, journal.path.stat().st_size)


def test_a_journal_in_which_nothing_was_begun_leaves_no_file(tmp_path: Path) -> None:
    Journal(tmp_path / "b.jsonl").close()
    assert not (tmp_path / "b.jsonl").exists()


def test_what_is_appended_is_read_back_in_order(tmp_path: Path) -> None:
    journal = begin(tmp_path / "b.jsonl")
    for number in range(50):
        journal.append(text(number))
    journal.close()
    assert list(read_all(journal.path)) == [HEADER, *map(text, range(50))]


def test_reading_goes_on_at_the_offset_where_it_stopped(tmp_path: Path) -> None:
    journal = begin(tmp_path / "b.jsonl")
    first = read(journal.path)
    journal.append(text(1))
    assert read(journal.path, first.offset).entries == (text(1),)
    journal.close()


def test_a_line_longer_than_the_chunk_is_read_whole(tmp_path: Path) -> None:
    journal = begin(tmp_path / "b.jsonl")
    journal.append(Entry(1.0, TextStored("1" * 64, "y" * 5000)))
    journal.close()
    offset = read(journal.path, max_bytes=len(encode(HEADER))).offset
    assert len(read(journal.path, offset, max_bytes=100).entries) == 1


def test_a_torn_last_line_is_neither_read_nor_kept(tmp_path: Path) -> None:
    begin(tmp_path / "b.jsonl").close()
    whole = (tmp_path / "b.jsonl").read_bytes()
    (tmp_path / "b.jsonl").write_bytes(whole + encode(text(1))[:-5])
    assert list(read_all(tmp_path / "b.jsonl")) == [HEADER]
    Journal(tmp_path / "b.jsonl").close()
    assert (tmp_path / "b.jsonl").read_bytes() == whole


def test_a_corrupt_line_in_the_middle_is_named_with_its_cure(tmp_path: Path) -> None:
    path = tmp_path / "bench_x.jsonl"
    path.write_bytes(encode(HEADER) + encode(text(1)) + b"{broken\n" + encode(text(2)))
    with pytest.raises(JournalError, match=r"Line 3 of the journal bench_x\.jsonl cannot be read.*doctor --repair"):
        list(read_all(path))


def test_a_journal_of_a_later_koderz_says_so(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    path.write_bytes(encode(HEADER) + encode(text(1)).replace(b'"v":1', b'"v":99'))
    assert read(path).entries == (HEADER,)
    with pytest.raises(JournalError, match="a later version of koderz wrote this line"):
        list(read_all(path))


def test_kinds_that_are_not_known_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    path.write_bytes(encode(HEADER) + b'{"v":9,"at":1.0,"kind":"moon_landed","event":{"x":1}}\n' + encode(text(1)))
    assert list(read_all(path)) == [HEADER, text(1)]


def test_a_second_writer_is_refused_and_told_who_writes(tmp_path: Path) -> None:
    journal = begin(tmp_path / "bench_x.jsonl")
    with pytest.raises(JournalError, match="bench_x is being run by this process already"):
        Journal(journal.path)
    journal.close()


def test_the_holder_is_the_process_that_writes_and_nobody_afterwards(tmp_path: Path) -> None:
    assert holder(tmp_path / "b.jsonl") is None
    journal = begin(tmp_path / "b.jsonl")
    assert holder(journal.path) == os.getpid()
    journal.close()
    assert holder(journal.path) is None


def test_a_journal_that_was_closed_leaves_nobody_to_be_taken_for_the_next_writer(tmp_path: Path) -> None:
    begin(tmp_path / "b.jsonl").close()
    with (tmp_path / "b.lock").open("rb") as next_writer:
        fcntl.flock(next_writer, fcntl.LOCK_EX)
        assert holder(tmp_path / "b.jsonl") == 0


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path), "0"], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    writer.stdout.readline()
    assert holder(path) == writer.pid
    writer.kill()
    writer.communicate()
    assert holder(path) is None


def test_who_asks_for_the_holder_keeps_nobody_from_writing(tmp_path: Path) -> None:
    begin(tmp_path / "b.jsonl").close()
    asked = (tmp_path / "b.lock").open("rb")
    fcntl.flock(asked, fcntl.LOCK_SH)
    enough = threading.Timer(0.1, asked.close)
    enough.start()
    Journal(tmp_path / "b.jsonl").close()
    enough.join()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(JournalError, match="cannot be written"):
        Journal(tmp_path / "file" / "b.jsonl")


def test_a_full_disk_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").symlink_to("/dev/full")
    with pytest.raises(JournalError, match="No space left"):
        Journal(tmp_path / "b.jsonl").append(HEADER)


def test_what_cannot_be_synced_is_no_fault_of_its_own(tmp_path: Path) -> None:
    journal = begin(tmp_path / "b.jsonl")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, journal._file)
    os.close(null)
    journal.append(text(1))
    journal.sync()
    journal.close()


def test_lines_that_did_not_reach_the_disk_are_no_success_although_it_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, failed = begin(tmp_path / "b.jsonl"), threading.Event()
    journal.sync()

    def full(_: int) -> None:
        failed.set()
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as on_network:
        on_network.setattr(os, "fsync", full)
        journal.append(text(1))
        assert failed.wait(10)
    with pytest.raises(JournalError, match="No space left"):
        journal.close()
    assert holder(journal.path) is None


def test_killed_in_mid_write_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    path, chance, told = tmp_path / "b.jsonl", random.Random(7), 0
    begin(path).close()
    command = [sys.executable, "-c", STARTER, str(path), "", WRITER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdin
        assert starter.stdout
        for _ in range(20):
            print(told, file=starter.stdin, flush=True)
            told = killed(starter.stdout, chance.random() * 0.05) + 1
            Journal(path).close()
            finished = {e.experiment for e in read_all(path) if isinstance(e.event, ExperimentFinished)}
            assert {f"exp_{number}" for number in range(told)} <= finished


def killed(said: IO[str], seconds: float) -> int:
    """The last number that a writer has acknowledged, which is killed ``seconds`` after the first."""
    writer, first = int(said.readline()), int(said.readline())
    time.sleep(seconds)
    os.kill(writer, signal.SIGKILL)
    more = [int(line) for line in takewhile(lambda line: line != "ended\n", said) if line.strip()]
    return [first, *more][-1]
