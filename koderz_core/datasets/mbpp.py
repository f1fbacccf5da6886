"""MBPP, as Google Research and others published it, and MBPP+, EvalPlus' choice of 378 problems with more inputs.

MBPP is by Austin et al., arXiv 2108.07732, CC-BY-4.0; MBPP+ corrects some of its problems. The paper shows the model
all three asserts, so no test would be held out. Here, as in EvalPlus, the model sees the first assert, which names the
function. ``challenge_test_list`` is not run, because other files of MBPP lack it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

import msgspec

from koderz_core.datasets.asserts import check_source, has_float, names_in, one_assert, statements
from koderz_core.datasets.evalplus import NEED_ARGUMENTS, PlusRow, with_like
from koderz_core.datasets.lines import row_of
from koderz_core.errors import DataError
from koderz_core.records import PlusTests, Problem, PublicProblem, TestSet

MODULES = ("math", "sys")
"""Modules that asserts of MBPP+ use. Mbpp/120, 293, 596 and 742 do not import them."""
_OF_VALUES = ("set", "or zero", "pyramid", "digits")
"""Oracles that base tests need as well. The asserts of the file already allow for the other oracles."""

TYPES = {
    "tuples": (
        *(2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424),
        *(429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809),
    ),
    "lists of tuples": (63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780),
    "first a list of tuples": (75, 413, 444, 753),
    "first a tuple": (250, 307, 405, 446, 617, 720, 763, 808),
    "second a tuple": (106, 750),
    "tuples of tuples": (259, 278, 401, 445),
    "tuples all through": (580, 615, 791),
    "list of sets": (115,),
    "real and complex": (124,),
    "complex": (252,),
    "dict of tuples": (722,),
}
"""The problems whose arguments had types that JSON lacks, by rule; see ``evalplus.RULES``.

Source: evalplus 0.3.1, data/mbpp.py.
"""
_TYPES_OF = {number: name for name, numbers in TYPES.items() for number in numbers}


class _Row(msgspec.Struct, frozen=True):
    task_id: int | str
    text: str
    code: str
    test_list: list[str]
    test_setup_code: str = ""


def problem_of(line: bytes) -> Problem:
    """The problem of a line of ``mbpp.jsonl`` (974) or ``mbpp-hf.jsonl.gz`` (964); it has the same id in both.

    Raises DataError naming the field.
    """
    row = row_of(line, _Row, frozenset({"test_setup_code"}))
    asserts = [one_assert(text, "test_list") for text in row.test_list]
    if not asserts:
        raise DataError("field test_list is empty")
    solution = _lines(row.code)
    code = statements(solution, "code")
    setup = statements(_lines(row.test_setup_code), "test_setup_code")
    entry_point = _entry_point(asserts, code)
    number = re.search(r"[0-9]{1,9}$", str(row.task_id))
    public = PublicProblem(f"mbpp/{number[0] if number else row.task_id}", _prompt(row), entry_point)
    # The publisher runs tests in the module of the program, so they may use its imports.
    head = "".join(f"{ast.unparse(node)}\n" for node in code if _binds(node, names_in([*setup, *asserts])))
    return Problem(public, TestSet(check_source([*setup, *asserts], entry_point, head)), solution)


def _entry_point(asserts: Sequence[ast.Assert], code: Sequence[ast.stmt]) -> str:
    """The function of the program that the asserts call, the outermost if they call several."""
    defined = {node.name for node in code if isinstance(node, ast.FunctionDef)}
    for node in (part for statement in asserts for part in ast.walk(statement)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in defined:
            return node.func.id
    raise DataError("the tests in field test_list call no function that is defined in field code")


def _binds(node: ast.stmt, names: set[str]) -> bool:
    """Whether the statement imports one of these names."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return False
    return any((alias.asname or alias.name.partition(".")[0]) in names for alias in node.names)


def _prompt(row: _Row) -> str:
    """The task and the first assert as a docstring, or as a comment if they contain triple quotes."""
    shown = f"{row.text.strip()}\n{row.test_list[0].strip()}"
    if '"""' in shown:
        return "".join(f"# {line}\n" for line in shown.splitlines())
    prefix = "r" if "\\" in shown else ""
    return f'{prefix}"""\n{shown}\n"""\n'


def _lines(source: str) -> str:
    return source.replace("\r\n", "\n")


ORACLES = {
    **dict.fromkeys(("check_str", "text_match_three", "text_starta_endb"), "some"),
    **dict.fromkeys(
        (
            *("similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly"),
            *("larg_nnum", "intersection_array", "find_dissimilar", "Diff"),
        ),
        "set",
    ),
    "are_equivalent": "any",
    "sum_div": "or zero",
    "surface_Area": "pyramid",
    "digit_distance_nums": "digits",
}
"""By entry point; see ``evalplus_comparison``. Source: evalplus 0.3.1, eval/_special_oracle.py and eval/__init__.py."""


class _PlusRow(PlusRow, frozen=True):
    assertion: str


def plus_problem_of(line: bytes) -> Problem:
    """The problem of a line of MBPP+. The asserts of the file are the base tests. Raises DataError naming the field.

    A prompt is a docstring with one assert, which names the function.
    """
    row = row_of(line, _PlusRow)
    public = PublicProblem(row.task_id, row.prompt, row.entry_point)
    number = int(digits[0]) if (digits := re.search(r"[0-9]{1,9}$", row.task_id)) else -1
    oracle = ORACLES.get(row.entry_point, "")
    plus = PlusTests(bytes(row.plus_input).decode(), _TYPES_OF.get(number, ""), row.atol, oracle)
    return Problem(public, TestSet(_check(row, plus)), row.prompt + row.canonical_solution, plus)


def _check(row: _PlusRow, plus: PlusTests) -> str:
    """The asserts, with EvalPlus' comparison in place of each ``==`` that would reject right answers."""
    asserts = statements(row.assertion, "assertion")
    lenient = [_lenient(node, row.entry_point, plus) for node in asserts if not isinstance(node, ast.Import)]
    head = "".join(f"import {module}\n" for module in MODULES if module in names_in(asserts))
    check = check_source(lenient, row.entry_point, head)
    return with_like(check, plus.tolerance, plus.oracle) if "like(" in check or "some(" in check else check


def _lenient(node: ast.stmt, entry_point: str, plus: PlusTests) -> ast.stmt:
    """``assert f(x) == value`` as ``assert f(x) == like(value)`` if other answers are right as well."""
    match node:
        case ast.Assert(
            test=ast.Compare(left=ast.Call(func=ast.Name(id=name)) as call, ops=[ast.Eq()], comparators=[value])
        ) if name == entry_point and (plus.tolerance or plus.oracle in _OF_VALUES or has_float(value)):
            like = _call("like", value, *(call.args if plus.oracle in NEED_ARGUMENTS else []))
            return ast.Assert(ast.Compare(call, [ast.Eq()], [like]))
        case ast.Assert(test=ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call)) if plus.oracle == "some":
            return ast.Assert(ast.UnaryOp(ast.Not(), _call("some", call)))
        case ast.Assert(test=ast.Call() as call) if plus.oracle == "some":
            return ast.Assert(_call("some", call))
    return node


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
