"""The fields of a line with ``"kind": "program"`` in a user's own file, and the faults of such a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from koderz_core.datasets.asserts import statements
from koderz_core.datasets.own_fields import CommonRow, Complaint, Text, require
from koderz_core.datasets.programs import (
    CHECKERS,
    ENTRY_POINT,
    EXACT,
    LINES,
    MOST_TEST_BYTES,
    Pair,
    kept,
    output_tests,
    program_problem,
)
from koderz_core.errors import DataError
from koderz_core.records import Problem

_CASES = 'write [{"input": "1 2\\n", "output": "3\\n"}, ...]'


class Case(BaseModel):
    """A standard input and the standard output that a correct program writes for it."""

    model_config = ConfigDict(strict=True, frozen=True)

    input: Text
    output: Text

    @property
    def pair(self) -> Pair:
        return self.input, self.output


class ProgramRow(CommonRow):
    """A problem that asks for a program. The description of a field is the cure for its faults."""

    cases: list[Case] = Field(min_length=1, description=_CASES)
    samples: list[Case] = Field(default=[], description=_CASES)
    entry_point: Annotated[str, require(lambda text: text == ENTRY_POINT, "is not run")] = Field(
        default=ENTRY_POINT, description="omit the field, because koderz always runs the whole program"
    )
    time_limit: float = Field(
        default=0.0, ge=0, le=600, description="write the time limit of one case in seconds, such as 2"
    )
    checker: Annotated[str, require(CHECKERS.__contains__, "is not a checker that koderz knows")] = Field(
        default=LINES, description=f"write one of {', '.join(CHECKERS)}"
    )
    tolerance: float = Field(
        default=0.0, ge=0, lt=1e9, description="write the tolerance for numbers in outputs, such as 1e-6"
    )


def program_complaints(row: ProgramRow) -> Iterator[Complaint]:
    """All faults of a row that concern several fields or the Python in a field."""
    first: dict[str, str] = {}
    for field, cases in (("cases", row.cases), ("samples", row.samples)):
        for number, case in enumerate(cases, 1):
            if first.setdefault(case.input, case.output) != case.output:
                yield (
                    field,
                    f"item {number} repeats an earlier input with a different output",
                    "give each input one output",
                )
    if row.tolerance and row.checker == EXACT:
        yield "tolerance", f"has no effect with the checker {EXACT}", f"omit it, or use the checker {LINES}"
    if not isinstance(kept(program_of(row)), Problem):
        yield "cases", f"are larger than {MOST_TEST_BYTES // 10**6} MB in total", "remove some cases"
    try:
        statements(row.canonical_solution, "canonical_solution")
    except DataError as fault:
        yield (
            "canonical_solution",
            str(fault).removeprefix("field canonical_solution "),
            "write a whole program, or omit the field",
        )


def program_of(row: ProgramRow) -> Problem:
    """The problem of a row without faults."""
    tests, samples = (
        output_tests([case.pair for case in cases], row.checker, row.tolerance, row.time_limit)
        for cases in (row.cases, row.samples)
    )
    solution = row.canonical_solution if row.canonical_solution.strip() else ""
    return program_problem(row.task_id, row.prompt, tests, samples, row.facts, solution)
