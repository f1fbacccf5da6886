"""The course of experiments in words: the steps of one, and of two side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from koderz_core.analysis.differences import Differences, StepPair
from koderz_core.prompts.review import WHOLE
from koderz_core.records.notes import NoteRow
from koderz_core.records.rows import ExperimentRow, IterationRow, Step, StepKind
from koderz_core.report.formats import (
    MARKS,
    NONE,
    TextTable,
    duration,
    money,
    value_text,
)

STEP_NAMES: Mapping[StepKind, str] = {"checkpoint": "review"}
SINGLE_STEPS: frozenset[StepKind] = frozenset({"spec", "consensus", "answer"})  # usually the only ones of their kind
OPEN = "…"
SIDES = ("A", "B")
RETURNED = "returned"


def step_name(step: Step) -> str:
    """The name of a step, free of hostile text: ``spec``, ``iteration 3``, ``review 1``."""
    number = "" if step.kind in SINGLE_STEPS and step.number == 1 else f" {step.number}"
    return STEP_NAMES.get(step.kind, step.kind) + number


def step_marks(step: Step) -> tuple[str, str]:
    """Whether its program passed the gate, and how many gate tests: ``✗`` and ``3/7``; both empty without a test."""
    if step.iteration is None:
        return (OPEN if step.kind == "iteration" else ""), ""
    return ("✓" if step.iteration.passed else "✗"), f"{step.iteration.tests_passed}/{step.iteration.tests_total}"


def repeated(iterations: Sequence[IterationRow]) -> Mapping[int, int]:
    """Iterations with exactly the program of an earlier one, and the first iteration that had it."""
    first: dict[str, int] = {}
    for row in iterations:
        if row.code:
            first.setdefault(row.code, row.iteration)
    return {row.iteration: first[row.code] for row in iterations if row.code and first[row.code] != row.iteration}


def review_outcome(note: NoteRow, notes: Sequence[NoteRow], iterations: Sequence[IterationRow]) -> str:
    """The best results before and after a review.

    ``gate tests passed by the best program: 1 of 4 before the review, 3 of 4 after it``.
    Before: since the previous review; since: until the next one. Empty for other notes.
    """
    if note.kind != "checkpoint_reviewed" or note.iteration is None:
        return ""
    reviews = [review.iteration for review in notes if review.kind == note.kind and review.iteration is not None]
    previous = max((iteration for iteration in reviews if iteration < note.iteration), default=0)
    following = min((iteration for iteration in reviews if iteration > note.iteration), default=None)
    before = [row for row in iterations if previous < row.iteration <= note.iteration]
    since = [row for row in iterations if note.iteration < row.iteration <= (following or row.iteration)]
    return f"gate tests passed by the best program: {_most(before)} before the review, {_most(since)} after it"


def passed_sections(note: NoteRow) -> tuple[str, Mapping[str, str]]:
    """Which sections of a review were given to the coder, in words, and the others by heading. Hostile texts."""
    whole = WHOLE in note.passed_on
    kept_back = {name: text for name, text in note.sections.items() if not whole and name not in note.passed_on}
    passed_on = "the whole review" if whole else ", ".join(note.passed_on)
    parts = {"given to the coder": passed_on, "withheld": ", ".join(kept_back)}
    return "; ".join(f"{title}: {names}" for title, names in parts.items() if names), kept_back


def _most(rows: Sequence[IterationRow]) -> str:
    best = max(rows, key=lambda row: row.tests_passed, default=None)
    return "none" if best is None else f"{best.tests_passed} of {best.tests_total}"


def settings_beside(found: Differences) -> TextTable:
    """Only the settings that differ, one per line."""
    rows = tuple((setting.name, *map(value_text, setting.values)) for setting in found.differing)
    return TextTable("Settings that differ", ("setting", *SIDES), rows)


def steps_beside(pairs: Sequence[StepPair], left: ExperimentRow, right: ExperimentRow) -> TextTable:
    """A line for the returned programs, then one per step, with tests, time and cost."""
    names = tuple(name for side in SIDES for name in (side, f"{side} tests", f"{side} time", f"{side} cost"))
    first = (RETURNED, *_ended(left), *_ended(right))
    names_of = (NONE if (step := pair.left or pair.right) is None else step_name(step) for pair in pairs)
    rows = ((name, *_step(pair.left), *_step(pair.right)) for name, pair in zip(names_of, pairs, strict=True))
    return TextTable("Steps of both experiments", ("step", *names), (first, *rows))


def _ended(row: ExperimentRow) -> tuple[str, str, str, str]:
    known = row.held_out_tests_total is not None
    passed, total = (
        (row.held_out_tests_passed, row.held_out_tests_total)
        if known
        else (row.gate_tests_passed, row.gate_tests_total)
    )
    tests = NONE if total is None else f"{passed}/{total}"
    return MARKS[row.shown], tests, duration(row.seconds), money(row.cost_usd)


def _step(step: Step | None) -> tuple[str, str, str, str]:
    if step is None:
        return NONE, "", "", ""
    mark, tests = step_marks(step)
    return mark or "·", tests, duration(step.seconds), money(step.cost_usd)
