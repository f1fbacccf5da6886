"""The course of an experiment in words: its steps, programs that came again, what reviews passed on and led to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from koderz_core.prompts.sections import WHOLE
from koderz_core.records.notes import NoteRow
from koderz_core.records.rows import IterationRow, Step, StepKind

NAMES: Mapping[StepKind, str] = {"checkpoint": "review"}
ALONE: frozenset[StepKind] = frozenset({"spec", "consensus", "answer"})  # mostly the only ones of their kind
OPEN = "…"


def step_name(step: Step) -> str:
    """In our words only: ``spec``, ``iteration 3``, ``review 1``."""
    number = "" if step.kind in ALONE and step.number == 1 else f" {step.number}"
    return NAMES.get(step.kind, step.kind) + number


def step_marks(step: Step) -> tuple[str, str]:
    """Whether its program passed the gate, and how many of its tests: ``✗`` and ``3/7``; both empty without a test."""
    if step.iteration is None:
        return (OPEN if step.kind == "iteration" else ""), ""
    return ("✓" if step.iteration.passed else "✗"), f"{step.iteration.tests_passed}/{step.iteration.tests_total}"


def repeated(iterations: Sequence[IterationRow]) -> Mapping[int, int]:
    """Iterations whose program is, letter by letter, that of an earlier one, and the first that had it."""
    first: dict[str, int] = {}
    for row in iterations:
        if row.code:
            first.setdefault(row.code, row.iteration)
    return {row.iteration: first[row.code] for row in iterations if row.code and first[row.code] != row.iteration}


def came_of(note: NoteRow, notes: Sequence[NoteRow], iterations: Sequence[IterationRow]) -> str:
    """How far attempts came before and after a review: ``at most 1 of 4 gate tests passed before, 3 of 4 since``.

    Before: since the review before it; since: until the next one. Empty for what is no review.
    """
    if note.kind != "checkpoint_reviewed" or note.iteration is None:
        return ""
    after = [one.iteration for one in notes if one.kind == note.kind and one.iteration is not None]
    begun = max((one for one in after if one < note.iteration), default=0)
    ended = min((one for one in after if one > note.iteration), default=None)
    before = [row for row in iterations if begun < row.iteration <= note.iteration]
    since = [row for row in iterations if note.iteration < row.iteration <= (ended or row.iteration)]
    return f"at most {_most(before)} gate tests passed before, {_most(since)} since"


def parted(note: NoteRow) -> tuple[str, Mapping[str, str]]:
    """Which sections of a review were passed on, in words, and those that were not, by heading. Hostile texts."""
    whole = WHOLE in note.passed_on
    kept_back = {name: text for name, text in note.sections.items() if not whole and name not in note.passed_on}
    passed_on = "the whole answer" if whole else ", ".join(note.passed_on)
    said = {"passed on": passed_on, "not passed on": ", ".join(kept_back)}
    return "; ".join(f"{title}: {names}" for title, names in said.items() if names), kept_back


def _most(rows: Sequence[IterationRow]) -> str:
    best = max(rows, key=lambda row: row.tests_passed, default=None)
    return "none" if best is None else f"{best.tests_passed} of {best.tests_total}"
