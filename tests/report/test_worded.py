"""What an experiment's notes are called."""

from __future__ import annotations

from koderz_core.records.notes import NoteRow
from koderz_core.report.formats import note_title


def test_an_answer_that_was_empty_is_named_as_such() -> None:
    notes = [
        NoteRow("exp_0", place, 0.0, "checkpoint_reviewed", place, text, why="plateau")
        for place, text in enumerate(["Mind zero.", " \n"], 1)
    ]
    said = [note_title(note, notes) for note in notes]
    assert [item.endswith("; the answer was empty") for item in said] == [False, True]
    assert note_title(NoteRow("exp_0", 1, 0.0, "spec_written", None, "", prompt="minimal"), ()).startswith(
        "spec (minimal);"
    )
