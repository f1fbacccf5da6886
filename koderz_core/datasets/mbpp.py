"""MBPP, as Google Research published it (Austin et al., arXiv 2108.07732, CC-BY-4.0), and as others pass it on.

The paper shows a model all three asserts, so nothing could be held out; here it is shown the first one, as EvalPlus
does, for the name of the function. ``challenge_test_list`` is not run: others' files lack it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

import msgspec

from koderz_core.config import Settings
from koderz_core.datasets.asserts import check_source, names_in, one_assert, statements
from koderz_core.datasets.lines import row_of
from koderz_core.datasets.published import load_published
from koderz_core.errors import DataError
from koderz_core.records import Dataset, Problem, PublicProblem, TestSet


def load_mbpp(settings: Settings) -> Dataset:
    """The problems of ``mbpp.jsonl`` (974) or of ``mbpp-hf.jsonl.gz`` (964); a problem has the same id in both.

    Raises DataError, which names the file, the line and the field.
    """
    return load_published("mbpp", settings, _problem)


class _Row(msgspec.Struct, frozen=True):
    task_id: int | str
    text: str
    code: str
    test_list: list[str]
    test_setup_code: str = ""


def _problem(line: bytes) -> Problem:
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
    # As published, tests run in the module of the program: what it imports is there for them.
    head = "".join(f"{ast.unparse(node)}\n" for node in code if _binds(node, names_in([*setup, *asserts])))
    return Problem(public, TestSet(check_source([*setup, *asserts], entry_point, head)), solution)


def _entry_point(asserts: Sequence[ast.Assert], code: Sequence[ast.stmt]) -> str:
    """The function of the program that the asserts call, the outermost if several."""
    defined = {node.name for node in code if isinstance(node, ast.FunctionDef)}
    for node in (part for one in asserts for part in ast.walk(one)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in defined:
            return node.func.id
    raise DataError("field test_list calls no function that field code defines")


def _binds(node: ast.stmt, names: set[str]) -> bool:
    """Whether it imports one of these names."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return False
    return any((alias.asname or alias.name.partition(".")[0]) in names for alias in node.names)


def _prompt(row: _Row) -> str:
    """A docstring, or a comment if that cannot hold it."""
    shown = f"{row.text.strip()}\n{row.test_list[0].strip()}"
    if '"""' in shown:
        return "".join(f"# {line}\n" for line in shown.splitlines())
    prefix = "r" if "\\" in shown else ""
    return f'{prefix}"""\n{shown}\n"""\n'


def _lines(source: str) -> str:
    return source.replace("\r\n", "\n")
