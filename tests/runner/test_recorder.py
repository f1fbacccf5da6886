"""What is said stands in the journal: texts once, and before anything that names them."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from koderz_core.errors import JournalError
from koderz_core.events import CandidateScored, ControlObeyed, Entry, SpecWritten, TextStored
from koderz_core.journal import Journal, read_all
from koderz_core.runner.recorder import Recorder

AT_ONCE = 8


def test_a_text_stands_once_and_before_every_mention_whoever_makes_it(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "b.jsonl")
    recorder, together = Recorder(journal, (), lambda: 1.0), threading.Barrier(AT_ONCE)

    def mention() -> None:
        together.wait()
        for number in range(50):
            recorder.say(SpecWritten(recorder.text(f"text {number}")))

    with ThreadPoolExecutor(AT_ONCE) as threads:
        for _ in range(AT_ONCE):
            threads.submit(mention)
    journal.close()
    stored: list[str] = []
    for entry in read_all(journal.path):
        if isinstance(entry.event, TextStored):
            stored.append(entry.event.sha256)
        elif isinstance(entry.event, SpecWritten):
            assert entry.event.text in stored
    assert len(stored) == len(set(stored)) == 50


def test_watchers_are_told_of_texts_too_in_the_order_of_the_journal(tmp_path: Path) -> None:
    journal, seen = Journal(tmp_path / "b.jsonl"), list[Entry]()
    recorder = Recorder(journal, [seen.append], lambda: 1.0)
    recorder.say(SpecWritten(recorder.text("a")))
    journal.close()
    assert seen == list(read_all(journal.path))
    assert [type(entry.event) for entry in seen] == [TextStored, SpecWritten]


def test_a_text_that_found_no_room_stands_before_its_mention_by_another_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "b.jsonl")
    recorder = Recorder(journal, (), lambda: 1.0)
    one, other = (CandidateScored(recorder.text("the same program"), True, None, None) for _ in range(2))
    with monkeypatch.context() as full:
        full.setattr("koderz_core.journal.os.write", lambda file, lines, write=os.write: write(file, lines[:5]))
        with pytest.raises(JournalError, match="is full"):
            recorder.say(one)
    recorder.say(ControlObeyed("stop", None, 1))  # it names no text, so it needs no room for one
    recorder.say(other)
    journal.close()
    assert [type(entry.event) for entry in read_all(journal.path)] == [ControlObeyed, TextStored, CandidateScored]
