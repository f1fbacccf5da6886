"""Two experiments side by side, as tables in words."""

from __future__ import annotations

from collections.abc import Sequence

from koderz_core.analysis.aligned import Beside
from koderz_core.analysis.differences import Differences
from koderz_core.export.course import step_marks, step_name
from koderz_core.export.formats import MARKS, duration, money
from koderz_core.export.worded import NONE, Table, worded
from koderz_core.records.rows import ExperimentRow, Step

SIDES = ("A", "B")
RETURNED = "returned"


def settings_beside(found: Differences) -> Table:
    """Only what differs: a line per setting."""
    rows = tuple((one.name, *map(worded, one.values)) for one in found.differing)
    return Table("What differs", ("setting", *SIDES), rows)


def steps_beside(pairs: Sequence[Beside], left: ExperimentRow, right: ExperimentRow) -> Table:
    """A line for what each returned, then one per step, with what it took."""
    names = tuple(name for side in SIDES for name in (side, f"{side} tests", f"{side} time", f"{side} cost"))
    first = (RETURNED, *_ended(left), *_ended(right))
    rows = ((_named(pair), *_step(pair.left), *_step(pair.right)) for pair in pairs)
    return Table("Step by step", ("step", *names), (first, *rows))


def _named(pair: Beside) -> str:
    """By the side that has it."""
    step = pair.left or pair.right
    return NONE if step is None else step_name(step)


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
