"""The fields of a line in a user's own file of problems, and every fault that such a line can have.

pydantic checks each field alone. Faults of several fields together, or of the Python in a field, are checked by hand:
pydantic stops at the first of them and cannot name its field.
"""

from __future__ import annotations

import ast
import json
import keyword
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field, ValidationError
from pydantic_core import ErrorDetails

from koderz_core.datasets.asserts import check_source, one_assert, statements
from koderz_core.datasets.humaneval import preamble_of
from koderz_core.datasets.own_fields import CommonRow, Complaint, SomeText, Text, require
from koderz_core.datasets.own_modules import ModuleRow, module_complaints, module_of
from koderz_core.datasets.own_programs import ProgramRow, program_complaints, program_of
from koderz_core.datasets.own_repositories import RepositoryRow, Trees, repository_complaints, repository_of
from koderz_core.errors import DataError
from koderz_core.records import Kind, PlusTests, Problem, PublicProblem, TestSet


def _inputs(value: object) -> str:
    """The JSON of a list of calls, each a list of arguments; "" if it is empty."""
    if not isinstance(value, list) or not all(isinstance(call, list) for call in value):
        raise ValueError("is not a list of lists")
    return json.dumps(value) if value else ""


class OwnRow(CommonRow):
    """A problem that asks for a function, which has either ``test`` or ``asserts``."""

    entry_point: Annotated[
        str,
        require(
            lambda text: text.isidentifier() and not keyword.iskeyword(text), "is not a valid name of a Python function"
        ),
    ] = Field(description="name the function that the tests call")
    test: Text = Field(default="", description="write Python that defines check(candidate)")
    asserts: list[SomeText] = Field(default=[], min_length=1, description='write ["assert add(1, 2) == 3", ...]')
    plus_input: Annotated[str, BeforeValidator(_inputs)] = Field(
        default="", description="write one list of arguments per call, such as [[1, 2], [3, 4]]"
    )
    atol: float = Field(
        default=0.0,
        ge=0,
        lt=1e9,
        description="write the absolute tolerance for results of the calls in plus_input, such as 1e-6",
    )


class RepairRow(OwnRow):
    """A problem that asks for the correction of the program in ``given``."""

    given: SomeText = Field(description="write the faulty program")


AnyRow = OwnRow | ModuleRow | ProgramRow | RepositoryRow
ROWS: Mapping[str, type[AnyRow]] = {
    "function": OwnRow,
    "repair": RepairRow,
    "module": ModuleRow,
    "program": ProgramRow,
    "repo": RepositoryRow,
}
"""By kind of problem."""


def _cures(kind: type[BaseModel]) -> dict[str, str]:
    return {name: str(field.description) for name, field in kind.model_fields.items()}


_CURES = _cures(OwnRow)


def row_of(line: bytes) -> AnyRow | list[Complaint]:
    """The row of a line, or the faults of its fields."""
    names: list[str] = []

    def members(pairs: list[tuple[str, object]]) -> dict[str, object]:
        names[:] = [name for name, _ in pairs]  # the outermost object is read last
        return dict(pairs)

    try:
        fields = json.loads(line.decode(), object_pairs_hook=members)
        if not isinstance(fields, dict):
            return [("", "not a JSON object", "write {...} with the fields that docs/datasets.md lists")]
        named = fields.get("kind", "function")
        kind = ROWS.get(named) if isinstance(named, str) else None
        if kind is None:
            return [
                ("kind", f"is not a kind that koderz reads: {str(named)[:40]!r}", f"write one of {', '.join(ROWS)}")
            ]
        cures = _cures(kind)
        wrong = [*_duplicates(names), *_misspellings(fields, cures), *_of_other_kinds(fields, named)]
        row = kind.model_validate(fields)
        return wrong or row
    except ValidationError as error:
        return [*wrong, *(_complaint(fault, cures) for fault in error.errors())]
    except (ValueError, RecursionError) as error:
        return [("", f"not JSON: {error}", "write one JSON object per line, in UTF-8")]


def _complaint(error: ErrorDetails, cures: Mapping[str, str]) -> Complaint:
    """A sentence of koderz from an error of pydantic."""
    field, *places = error["loc"]
    fault = "is missing" if error["type"] == "missing" else re.sub(r"^(Input|List|Value error,) ", "", error["msg"])
    part = " ".join(f"field {place}" if isinstance(place, str) else f"item {place + 1}" for place in places)
    return str(field), f"{part} {fault}".strip(), cures[str(field)]


def _duplicates(names: Iterable[str]) -> Iterator[Complaint]:
    """Readers of JSON silently take the last of two fields with the same name."""
    for name, times in Counter(names).items():
        if times > 1:
            yield name, f"occurs {times} times", "keep only one of these fields"


def _misspellings(names: Iterable[str], cures: Mapping[str, str]) -> Iterator[Complaint]:
    """Unknown fields whose name is close to a known one. Other unknown fields are ignored."""
    for name in names:
        near = [] if name in cures else get_close_matches(name, cures, n=1, cutoff=0.8)
        if near:
            yield name, "is not a field of this format", f"did you mean {near[0]}?"


def _of_other_kinds(fields: Mapping[str, object], named: str) -> Iterator[Complaint]:
    """The fields that only other kinds have. A line that states no kind may have them, except those of a task."""
    for field in fields if "kind" in fields else [name for name in ("given", "cases") if name in fields]:
        kinds = [kind for kind, row in ROWS.items() if field in row.model_fields]
        if kinds and named not in kinds:
            yield field, f"is not a field of the kind {named}", f'omit it, or write "kind": "{kinds[0]}"'


def complaints(row: AnyRow, trees: Trees) -> Iterator[Complaint]:
    """All faults of a row that concern several fields, the Python in a field, or the tree of a repository."""
    if isinstance(row, RepositoryRow):
        yield from repository_complaints(row, trees)
        return
    if isinstance(row, ProgramRow):
        yield from program_complaints(row)
        return
    if isinstance(row, ModuleRow):
        yield from module_complaints(row)
        return
    if not re.search(rf"\b{re.escape(row.entry_point)}\b", _task(row)):
        yield (
            "prompt",
            f"does not mention the entry point {row.entry_point}",
            "mention the function that the model must define",
        )
    yield from _test_faults(row)
    yield from _solution_faults(row)
    if isinstance(row, RepairRow) and row.given.strip() == _program(row).strip():
        yield "given", "is the canonical solution, so it has no fault", "write the faulty program"
    if row.plus_input and not row.canonical_solution.strip():
        yield "plus_input", "needs a canonical_solution, which gives the expected values", "add the solution"


def problem_of(row: AnyRow, trees: Trees) -> Problem:
    """The problem of a row without faults."""
    if isinstance(row, RepositoryRow):
        return repository_of(row, trees)
    if isinstance(row, ProgramRow):
        return program_of(row)
    if isinstance(row, ModuleRow):
        return module_of(row)
    given = row.given if isinstance(row, RepairRow) else ""
    preamble = preamble_of(given or row.prompt, row.entry_point) or ""
    kind: Kind = "repair" if given else "function"
    public = PublicProblem(row.task_id, _task(row), row.entry_point, preamble, kind, given=given)
    plus = PlusTests(row.plus_input, tolerance=row.atol) if row.plus_input else None
    return Problem(public, TestSet(_source(row)), _program(row), plus, facts=row.facts)


def _task(row: OwnRow) -> str:
    """The text for the model: the prompt, and the given program if the prompt does not contain it."""
    if not isinstance(row, RepairRow) or row.given.strip() in row.prompt:
        return row.prompt
    return f"{row.prompt.rstrip()}\n\n{row.given}"


def _test_faults(row: OwnRow) -> Iterator[Complaint]:
    if bool(row.test.strip()) == bool(row.asserts):
        yield "test", "is given together with asserts" if row.asserts else "is missing", "give either test or asserts"
        return
    field = "asserts" if row.asserts else "test"
    try:
        tree = ast.Module(statements(_source(row), field), [])
    except DataError as fault:
        yield field, str(fault).removeprefix(f"field {field} "), _CURES[field]
        return
    if not any(isinstance(node, ast.FunctionDef) and node.name == "check" and node.args.args for node in tree.body):
        yield field, "does not define check(candidate)", _CURES[field]
    asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert) and _depends(node)]
    if not asserts:
        yield field, "contains no assert that can fail", "call the function in an assert"
    elif constant := next((node for node in asserts if _constant(node.test) is not None), None):
        quoted = ast.unparse(constant.test)[:80]
        yield field, f"contains a constant assert: {quoted!r}", "compare the function's result with the expected value"
    elif row.asserts and not any(_names_function(node, row.entry_point) for node in ast.walk(tree)):
        yield field, f"does not call the entry point {row.entry_point}", "call the function by that name"


def _solution_faults(row: OwnRow) -> Iterator[Complaint]:
    field, program = "canonical_solution", _program(row)
    try:
        tree = statements(program, field)
    except DataError as fault:
        yield (
            field,
            f"{str(fault).removeprefix(f'field {field} ')} (the prompt and the solution were checked as one program)",
            _CURES[field],
        )
        return
    if program and not any(_defines(node, row.entry_point) for node in tree):
        yield field, f"does not define {row.entry_point}", _CURES[field]


def _source(row: OwnRow) -> str:
    """The source of the tests. Raises DataError if a text in ``asserts`` is not an assert."""
    if not row.asserts:
        return row.test
    return check_source([one_assert(text, "asserts") for text in row.asserts], row.entry_point)


def _program(row: OwnRow) -> str:
    """The canonical solution, after the prompt if it is not a whole program."""
    if not row.canonical_solution.strip():
        return ""
    try:
        whole = any(_defines(node, row.entry_point) for node in statements(row.canonical_solution, ""))
    except DataError:
        whole = False
    return row.canonical_solution if whole else row.prompt + row.canonical_solution


def _defines(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name == name
    return isinstance(node, ast.Assign) and any(_names_function(target, name) for target in node.targets)


def _depends(node: ast.Assert) -> bool:
    return any(isinstance(part, ast.Name) for part in ast.walk(node.test))


def _constant(node: ast.expr) -> bool | None:
    """The truth of an expression that is the same for all programs, such as ``x or True`` and ``(x == 1, "message")``.

    None if it depends on the program.
    """
    match node:
        case ast.Constant(value=value):
            return bool(value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return bool(parts) if not any(isinstance(part, ast.Starred) for part in parts) else None
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            truth = _constant(operand)
            return None if truth is None else not truth
        case ast.BoolOp(op=op, values=values):
            deciding = isinstance(op, ast.Or)
            truths = {_constant(value) for value in values}
            return deciding if deciding in truths else None if None in truths else not deciding
    return None


def _names_function(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id in (name, "candidate")
