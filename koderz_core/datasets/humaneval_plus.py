"""HumanEval+, EvalPlus' HumanEval with corrected solutions and many more inputs; base tests are HumanEval's own.

Mini is the same with those inputs only that tell wrong programs apart (arXiv 2305.01210, section 2.3).
"""

from __future__ import annotations

from dataclasses import replace

from koderz_core.config import Settings
from koderz_core.datasets.evalplus import PlusRow
from koderz_core.datasets.humaneval import Row, load_humaneval, problem_of
from koderz_core.datasets.lines import row_of
from koderz_core.datasets.published import load_published
from koderz_core.errors import DataError
from koderz_core.records import Dataset, PlusTests, Problem

ORACLES = {"find_zero": "root"}
"""By entry point; see ``grading.comparing``. Source: evalplus 0.3.1, evalplus/eval/__init__.py, HumanEval/32."""


def load_humaneval_plus(settings: Settings) -> Dataset:
    """All 164 problems with all inputs. Raises DataError, as ``load_humaneval``."""
    return load_published("humaneval+", settings, _problem)


def load_humaneval_plus_mini(settings: Settings) -> Dataset:
    """All 164 problems with few inputs. Raises DataError, as ``load_humaneval``.

    The file has no base tests: they are those of the packaged problems, as in HumanEval+, letter by letter.
    """
    packaged = load_humaneval(settings.changed(humaneval_path=None))
    tests = {problem.id: problem.tests.source for problem in packaged.problems}

    def problem(line: bytes) -> Problem:
        row = row_of(line, PlusRow)
        if row.task_id not in tests:
            raise DataError(f"field task_id: HumanEval has no problem {row.task_id!r}, whose tests are needed")
        return _with_plus(row, tests[row.task_id])

    return load_published("humaneval+mini", settings, problem)


class _Row(PlusRow, frozen=True):
    test: str


def _problem(line: bytes) -> Problem:
    row = row_of(line, _Row)
    return _with_plus(row, row.test)


def _with_plus(row: PlusRow, test: str) -> Problem:
    base = problem_of(Row(row.task_id, row.prompt, row.entry_point, row.canonical_solution, test))
    inputs = bytes(row.plus_input).decode()
    return replace(base, plus=PlusTests(inputs, tolerance=row.atol, oracle=ORACLES.get(row.entry_point, "")))
