"""Tables in words, the same for a terminal, for markdown and for a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from koderz_core.records import Scalar
from koderz_core.records.notes import NoteRow

NONE = "–"
CASES = "worst–best"
"""What columns are called that say what missing results could make of a share, or of a difference."""


WHY: Mapping[str, str] = {
    "interval": "at its interval",
    "plateau": "because of a plateau",
    "repeated_error": "because the same error came again",
    "repeated_program": "because a program came again",
    "budget": "because half of the budget was used",
}
"""Why a checkpoint was due."""

CONSENSUS: Mapping[str, str] = {"gate": "gate tests", "codebleu": "gate tests, then CodeBLEU"}
"""What told the program that was handed in from the others."""


@dataclass(frozen=True, slots=True)
class Table:
    """``title`` and columns are ours; cells may be a stranger's words."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def columns(names: str) -> tuple[str, ...]:
    """``letter | configuration | n``: names of columns; that of a configuration's letter is left empty."""
    return tuple("" if name == "letter" else name for name in names.split(" | "))


def with_column(table: Table, after: str, name: str, cells: Sequence[str | None]) -> Table:
    """With one column more, behind the one called ``after``; as it was if no row has anything to say there."""
    if not any(cells):
        return table
    at = table.columns.index(after) + 1
    rows = tuple((*row[:at], cell or NONE, *row[at:]) for row, cell in zip(table.rows, cells, strict=True))
    return Table(table.title, (*table.columns[:at], name, *table.columns[at:]), rows)


def noted(note: NoteRow, notes: Sequence[NoteRow]) -> str:
    """What one of an experiment's notes is, such as ``checkpoint 1 after iteration 3, because of a plateau``.

    Hostile, as all that a journal may hold.
    """
    empty = "" if note.text.strip() else "; the answer was empty"
    if note.kind == "checkpoint_reviewed":
        number = 1 + sum(one.kind == note.kind and one.ordinal < note.ordinal for one in notes)
        why = note.why or "interval"
        return f"checkpoint {number} after iteration {note.iteration}, {WHY.get(why, why)}{empty}"
    if note.kind == "turn_spoken":
        return f"round {note.round} of the debate: {note.speaker}"
    if note.kind == "consensus_reached":
        return f"consensus by {CONSENSUS.get(note.why or '', note.why)}"
    if note.kind == "recall_failed":
        return "nothing could be recalled"
    return f"spec ({note.prompt})" + (f", reused from {note.origin}" if note.origin else "") + empty


def worded(value: Scalar) -> str:
    """``yes``, ``no``, a number or a text as it is; nothing is a dash."""
    return NONE if value is None else {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
