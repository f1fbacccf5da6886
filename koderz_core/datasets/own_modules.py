"""The fields of a line with ``"kind": "module"`` in a user's own file, and the faults of such a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from koderz_core.datasets.asserts import statements
from koderz_core.datasets.methods import ModuleTests, module_tests
from koderz_core.datasets.own_fields import CommonRow, Complaint, SomeText, Text, require
from koderz_core.errors import DataError
from koderz_core.records import Problem, TestSet

_CURE = "write the text of a test file for unittest or pytest; the tests must import names from the model's file"


class ModuleRow(CommonRow):
    """A problem that asks for a whole file. The description of a field is the cure for its faults."""

    file: Annotated[
        str, require(lambda text: re.fullmatch(r"[^\W\d]\w{0,99}\.py", text), "is not the name of a Python file")
    ] = Field(description="write the name of the file that the tests import, such as leap.py")
    test: SomeText = Field(description=_CURE)
    given: Text = Field(
        default="",
        description="write the beginning of the file that the model completes, or omit the field",
    )
    entry_point: Text = Field(
        default="", description="omit the field: koderz reads the names of the tested code from the tests"
    )


def module_complaints(row: ModuleRow) -> Iterator[Complaint]:
    """All faults of a row that concern several fields or the Python in a field."""
    for field, text in (("given", row.given), ("canonical_solution", row.canonical_solution)):
        try:
            statements(text, field)
        except DataError as fault:
            yield field, str(fault).removeprefix(f"field {field} "), "write a whole file, or omit the field"
    try:
        tests = _tests(row)
    except DataError as fault:
        yield "test", re.sub(r"^field test:? ", "", str(fault)), _CURE
        return
    text = f"{row.prompt}\n{row.given}"
    for name in (name for name in tests.names if not re.search(rf"\b{re.escape(name)}\b", text)):
        cure = "mention it in the field 'prompt' or in the field 'given'"
        yield "prompt", f"does not mention {name}, which the tests use", cure
    if row.entry_point and row.entry_point not in tests.names:
        yield "entry_point", f"is not a name that the tests import: {row.entry_point[:40]!r}", "omit the field"
    yield from _undefined(row, tests)


def module_of(row: ModuleRow) -> Problem:
    """The problem of a row without faults."""
    tests = _tests(row)
    first = row.entry_point or tests.names[0]
    ordered = replace(tests, names=(first, *(name for name in tests.names if name != first)))
    public = ordered.problem(row.task_id, _task(row), row.file, row.given)
    solution = row.canonical_solution if row.canonical_solution.strip() else ""
    return Problem(public, TestSet(tests.source), solution, facts=row.facts)


def _tests(row: ModuleRow) -> ModuleTests:
    return module_tests(row.test, row.file.removesuffix(".py"))


def _undefined(row: ModuleRow, tests: ModuleTests) -> Iterator[Complaint]:
    """The names that the tests use and that do not occur in the solution."""
    known = set(re.findall(r"\w+", row.canonical_solution))
    for name in (name for name in tests.names if known and name not in known):
        yield "canonical_solution", f"does not define {name}, which the tests use", "write the whole file"


def _task(row: ModuleRow) -> str:
    """The prompt, and the stub if the prompt does not contain it. The fence is longer than any in the stub."""
    if not row.given.strip() or row.given.strip() in row.prompt:
        return row.prompt
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", row.given)), default=0))
    return f"{row.prompt.rstrip()}\n\n{row.file}\n{fence}python\n{row.given.rstrip()}\n{fence}\n"
