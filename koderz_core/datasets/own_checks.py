"""What each field of an own file's line must be, and what they must be together."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from koderz_core.datasets.asserts import check_source, one_assert, statements
from koderz_core.datasets.humaneval import preamble_of
from koderz_core.errors import DataError
from koderz_core.records import PlusTests, Problem, PublicProblem, TestSet

Complaint = tuple[str, str, str]
"""The field, what is wrong with it, what to do."""


@dataclass(frozen=True, slots=True)
class OwnRow:
    """One line. ``plus_input``: JSON. Either ``test`` or ``asserts`` is there."""

    task_id: str
    prompt: str
    entry_point: str
    test: str = ""
    asserts: tuple[str, ...] = ()
    canonical_solution: str = ""
    plus_input: str = ""
    atol: float = 0.0
    licence: str = ""


# One field


def _text(value: object) -> str:
    return _kind(value, "a text") or ("" if str(value).strip() else "is empty")


def _some_text(value: object) -> str:
    return _kind(value, "a text")


def _texts(value: object) -> str:
    wrong = _kind(value, "a list")
    texts = isinstance(value, list) and value and all(isinstance(one, str) and one.strip() for one in value)
    return wrong or ("" if texts else "is not a list of asserts, each a text")


def _calls(value: object) -> str:
    wrong = _kind(value, "a list")
    lists = isinstance(value, list) and all(isinstance(one, list) for one in value)
    return wrong or ("" if lists else "is not a list of lists of arguments")


def _tolerance(value: object) -> str:
    wrong = _kind(value, "a number")
    return wrong or ("" if isinstance(value, int | float) and 0 <= value < 1e9 else "is not 0 or a little above")


def _kind(value: object, wanted: str) -> str:
    found = _KINDS.get(type(value), "something else")
    return "" if found == wanted else f"is {found} instead of {wanted}"


_KINDS: Mapping[type, str] = {
    str: "a text",
    list: "a list",
    dict: "an object",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}
REQUIRED = ("task_id", "prompt", "entry_point")
KNOWN: Mapping[str, tuple[Callable[[object], str], str]] = {
    "task_id": (_text, "give the problem an id, as 'mine/1'"),
    "prompt": (_text, "write what a model is asked, best the function's signature with a docstring"),
    "entry_point": (_text, "name the function that tests call"),
    "test": (_some_text, "write Python that defines check(candidate)"),
    "asserts": (_texts, 'write ["assert add(1, 2) == 3", ...]'),
    "canonical_solution": (_some_text, "write what follows the prompt, or a whole program, or leave it out"),
    "plus_input": (_calls, "write one list of arguments per call, as [[1, 2], [3, 4]]"),
    "atol": (_tolerance, "write how far an answer to plus_input may be off, as 1e-6"),
    "licence": (_some_text, "name the licence, as 'MIT'"),
}
"""Every field: what is wrong with a value, "" if nothing is, and how to write it."""


def shape_faults(fields: Mapping[str, object]) -> Iterator[Complaint]:
    """Fields that are missing or of the wrong type."""
    for name in REQUIRED:
        if name not in fields:
            yield name, "is missing", KNOWN[name][1]
    for name, value in fields.items():
        if wrong := KNOWN[name][0](value):
            yield name, wrong, KNOWN[name][1]


def misspelt(names: Iterable[str]) -> Iterator[Complaint]:
    """Fields that are none of the format's but nearly: any other is left alone."""
    for name in names:
        near = [] if name in KNOWN else get_close_matches(name, KNOWN, n=1, cutoff=0.8)
        if near:
            yield name, "is no field of this format", f"did you mean {near[0]}?"


# Fields together


def complaints(row: OwnRow) -> Iterator[Complaint]:
    """All that is wrong with a line whose fields are each of their type."""
    for find in (_names, _tests, _solution, _plus, _licence):
        yield from find(row)


def problem_of(row: OwnRow) -> Problem:
    """The problem of a line without complaints."""
    preamble = preamble_of(row.prompt, row.entry_point) or ""
    public = PublicProblem(row.task_id, row.prompt, row.entry_point, preamble)
    plus = PlusTests(row.plus_input, tolerance=row.atol) if row.plus_input else None
    return Problem(public, TestSet(_source(row)), _program(row), plus)


def _names(row: OwnRow) -> Iterator[Complaint]:
    if not re.fullmatch(r"[^\s,]{1,120}", row.task_id) or not row.task_id.isprintable():
        yield "task_id", f"cannot be chosen by: {row.task_id[:40]!r}", "use at most 120 characters, no blank, no comma"
    if not row.entry_point.isidentifier() or keyword.iskeyword(row.entry_point):
        yield "entry_point", f"is no name of a function: {row.entry_point[:40]!r}", KNOWN["entry_point"][1]
    elif not re.search(rf"\b{re.escape(row.entry_point)}\b", row.prompt):
        yield "prompt", f"never names the entry point {row.entry_point}", "a model must be told what to define"


def _tests(row: OwnRow) -> Iterator[Complaint]:
    if bool(row.test.strip()) == bool(row.asserts):
        yield "test", "is there together with asserts" if row.asserts else "is missing", "give either test or asserts"
        return
    field = "asserts" if row.asserts else "test"
    try:
        tree = ast.Module(statements(_source(row), field), [])
    except DataError as fault:
        yield field, str(fault).removeprefix(f"field {field} "), KNOWN[field][1]
        return
    if not any(isinstance(node, ast.FunctionDef) and node.name == "check" and node.args.args for node in tree.body):
        yield field, "defines no check(candidate)", KNOWN[field][1]
    asserts = [node for node in ast.walk(tree) if isinstance(node, ast.Assert) and _depends(node)]
    if not asserts:
        yield field, "holds no assert that could fail", "call the function in an assert"
    elif idle := next((node for node in asserts if _decided(node.test) is not None), None):
        said = ast.unparse(idle.test)[:80]
        yield field, f"holds an assert that no program decides: {said!r}", "compare what the function returns"
    elif row.asserts and not any(_names_function(node, row.entry_point) for node in ast.walk(tree)):
        yield field, f"never calls the entry point {row.entry_point}", "call it by that name"


def _solution(row: OwnRow) -> Iterator[Complaint]:
    program = _program(row)
    try:
        tree = statements(program, "canonical_solution")
    except DataError as fault:
        what = str(fault).removeprefix("field canonical_solution ")
        yield "canonical_solution", f"{what} (with the prompt before it)", KNOWN["canonical_solution"][1]
        return
    if program and not any(_defines(node, row.entry_point) for node in tree):
        yield "canonical_solution", f"does not define {row.entry_point}", KNOWN["canonical_solution"][1]


def _plus(row: OwnRow) -> Iterator[Complaint]:
    if row.plus_input and not row.canonical_solution.strip():
        yield "plus_input", "is there without canonical_solution", "what is right for it only that can tell: add it"


def _licence(row: OwnRow) -> Iterator[Complaint]:
    if not re.fullmatch(r"[A-Za-z0-9 .,+()/-]{0,60}", row.licence):
        yield "licence", "is no name of a licence", "write a name of at most 60 letters, digits and .,+()/-, as 'MIT'"


def _source(row: OwnRow) -> str:
    """The tests. Raises DataError for asserts that are none."""
    if not row.asserts:
        return row.test
    return check_source([one_assert(text, "asserts") for text in row.asserts], row.entry_point)


def _program(row: OwnRow) -> str:
    """What follows the prompt, after it; a whole program as it is."""
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


def _decided(node: ast.expr) -> bool | None:
    """Whether it is true whatever the program returns, such as ``x or True`` and ``(x == 1, "message")``.

    None: that depends on the program.
    """
    match node:
        case ast.Constant(value=value):
            return bool(value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return bool(parts) if not any(isinstance(part, ast.Starred) for part in parts) else None
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            decided = _decided(operand)
            return None if decided is None else not decided
        case ast.BoolOp(op=op, values=values):
            settles = isinstance(op, ast.Or)
            parts_decided = {_decided(value) for value in values}
            return settles if settles in parts_decided else None if None in parts_decided else not settles
    return None


def _names_function(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id in (name, "candidate")
