"""The course of experiments in words: the steps of one, two side by side, a benchmark as lanes of cells.

If a benchmark has very many experiments, a cell represents several.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from koderz_core.analysis.bounds import Cases
from koderz_core.analysis.differences import Differences, StepPair
from koderz_core.analysis.rates import clustered
from koderz_core.prompts.review import WHOLE
from koderz_core.records import Outcome
from koderz_core.records.marks import Marks, marks_of
from koderz_core.records.notes import NoteRow
from koderz_core.records.rows import ExperimentRow, IterationRow, State, Step, StepKind
from koderz_core.report.findings import footnotes
from koderz_core.report.formats import (
    MARKS,
    NONE,
    TextTable,
    count,
    duration,
    marked_rate,
    money,
    numbered,
    share_cases,
    value_text,
)

STEP_NAMES: Mapping[StepKind, str] = {"checkpoint": "review"}
SINGLE_STEPS: frozenset[StepKind] = frozenset({"spec", "consensus", "answer"})  # usually the only ones of their kind
OPEN = "…"
MOST_CELLS = 400  # more would cost a browser more than a second to draw
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


@dataclass(frozen=True, slots=True)
class Cell:
    """An experiment, or several with the state of most of them; ``experiment``: the first that was started."""

    shown: Outcome | State
    name: str  # digits only
    experiment: str | None


@dataclass(frozen=True, slots=True)
class Lane:
    """The experiments of one configuration. ``label``: hostile text; ``summary``: how many are solved."""

    label: str
    summary: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Lanes:
    """A benchmark; ``each``: how many experiments a cell represents at most. ``footnotes``: of their rates."""

    lanes: tuple[Lane, ...]
    each: int
    footnotes: tuple[str, ...]


def lanes(rows: Sequence[ExperimentRow]) -> Lanes:
    """The lanes of these experiments, in their order."""
    each = -(-len(rows) // MOST_CELLS) or 1
    found: dict[str, list[ExperimentRow]] = {}
    for row in rows:
        found.setdefault(row.label, []).append(row)
    marks = {label: _marks(lane) for label, lane in found.items()}
    drawn = (Lane(label, _summary(lane, marks[label]), tuple(_cells(lane, each))) for label, lane in found.items())
    return Lanes(tuple(drawn), each, footnotes(marks.values()))


def _cells(lane: Sequence[ExperimentRow], each: int) -> list[Cell]:
    if each == 1:
        return [_cell(row, place) for place, row in enumerate(lane)]
    return [_stretch(lane[start : start + each]) for start in range(0, len(lane), each)]


def _cell(row: ExperimentRow, place: int) -> Cell:
    """Named by the number in its problem's id; only digits are shown."""
    number = re.search(r"[0-9]{1,6}$", row.problem)
    return Cell(row.shown, number[0] if number else str(place), None if row.shown == "planned" else row.id)


def _stretch(rows: Sequence[ExperimentRow]) -> Cell:
    shown = Counter(row.shown for row in rows)
    started = next((row.id for row in rows if row.state != "planned"), None)
    return Cell(shown.most_common(1)[0][0], f"{shown['solved']}/{len(rows)}", started)


def _marks(lane: Sequence[ExperimentRow]) -> Marks:
    kinds = ((row.problem, row.score_kind) for row in lane if row.state == "finished")
    return marks_of(kinds, saw_base_tests=any(row.saw_base_tests for row in lane))


def _summary(lane: Sequence[ExperimentRow], marks: Marks) -> str:
    """The rate of a lane, and its missing results."""
    ended = Counter((row.problem, row.outcome) for row in lane if row.state == "finished")
    tried = dict.fromkeys(problem for problem, outcome in ended if outcome in ("solved", "unsolved"))
    known = clustered(
        {problem: (solved := ended[problem, "solved"], solved + ended[problem, "unsolved"]) for problem in tried}
    )
    if not known.n:
        errors, planned = sum(row.shown == "error" for row in lane), count(len(lane))
        return (
            f"no result: {count(errors)} of {planned} experiments ended with an error"
            if errors
            else f"no result yet ({numbered(len(lane), 'experiment')} planned)"
        )
    left = len(lane) - known.n
    cases = share_cases(Cases(known.successes / len(lane), (known.successes + left) / len(lane)))
    partial = (
        f" · partial: {count(left)} of {count(len(lane))} experiments without a result (worst to best case: {cases})"
        if left
        else ""
    )
    rate = marked_rate(known.value, known.low, known.high, marks)
    return f"solved {rate} of {numbered(known.n, 'experiment')}{partial}"


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
