"""The experiments of a benchmark as lanes of cells, a lane per configuration; where they are many, stretches."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from koderz_core.analysis.bounds import Cases
from koderz_core.analysis.rates import clustered
from koderz_core.analysis.remarks import footnotes
from koderz_core.export.formats import count, marked_rate, share_cases
from koderz_core.records import Outcome
from koderz_core.records.marks import Marks, marks_of
from koderz_core.records.rows import ExperimentRow, State

MOST_CELLS = 400  # more would cost a browser more than a second to draw


@dataclass(frozen=True, slots=True)
class Cell:
    """An experiment, or a stretch of them and what most of them are; ``experiment``: the first that was begun."""

    shown: Outcome | State
    name: str  # digits only
    experiment: str | None


@dataclass(frozen=True, slots=True)
class Lane:
    """The experiments of one configuration. ``label``: hostile text; ``told``: how many are solved, in our words."""

    label: str
    told: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Lanes:
    """All of a benchmark; ``each``: how many experiments a cell stands for at most. ``footnotes``: of their rates."""

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
    drawn = (Lane(label, _told(lane, marks[label]), tuple(_cells(lane, each))) for label, lane in found.items())
    return Lanes(tuple(drawn), each, footnotes(marks.values()))


def _cells(lane: Sequence[ExperimentRow], each: int) -> list[Cell]:
    if each == 1:
        return [_cell(row, place) for place, row in enumerate(lane)]
    return [_stretch(lane[start : start + each]) for start in range(0, len(lane), each)]


def _cell(row: ExperimentRow, place: int) -> Cell:
    """Named by the number in its problem's id, of which nothing but digits is shown."""
    number = re.search(r"[0-9]{1,6}$", row.problem)
    return Cell(row.shown, number[0] if number else str(place), None if row.shown == "planned" else row.id)


def _stretch(rows: Sequence[ExperimentRow]) -> Cell:
    shown = Counter(row.shown for row in rows)
    begun = next((row.id for row in rows if row.state != "planned"), None)
    return Cell(shown.most_common(1)[0][0], f"{shown['solved']}/{len(rows)}", begun)


def _marks(lane: Sequence[ExperimentRow]) -> Marks:
    kinds = ((row.problem, row.score_kind) for row in lane if row.state == "finished")
    return marks_of(kinds, saw_base_tests=any(row.saw_base_tests for row in lane))


def _told(lane: Sequence[ExperimentRow], marks: Marks) -> str:
    """A rate of which a part is still to come says so."""
    ended = Counter((row.problem, row.outcome) for row in lane if row.state == "finished")
    tried = dict.fromkeys(problem for problem, outcome in ended if outcome in ("solved", "unsolved"))
    known = clustered({one: (solved := ended[one, "solved"], solved + ended[one, "unsolved"]) for one in tried})
    if not known.n:
        errors, planned = sum(row.shown == "error" for row in lane), count(len(lane))
        return f"{count(errors)} of {planned} errors, no result" if errors else f"no result yet of {planned}"
    left = len(lane) - known.n
    cases = share_cases(Cases(known.successes / len(lane), (known.successes + left) / len(lane)))
    partial = (
        f" · partial: {count(left)} of {count(len(lane))} without a result (worst to best case: {cases})"
        if left
        else ""
    )
    return f"solved {marked_rate(known.value, known.low, known.high, marks)} of {count(known.n)}{partial}"
