"""HumanEval+, EvalPlus' HumanEval with corrected solutions and many more inputs; base tests are HumanEval's own."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from koderz_core.config import Settings
from koderz_core.datasets.evalplus import LICENCE, PlusRow, cure_of, published_path
from koderz_core.datasets.humaneval import Row, problem_of
from koderz_core.datasets.lines import all_of, problems_in, read_content, row_of
from koderz_core.records import Dataset, DatasetOrigin, PlusTests, Problem

FILE = "HumanEvalPlus.jsonl.gz"
RELEASE = "https://github.com/evalplus/humanevalplus_release/releases/tag/v0.1.10"
ORACLES = {"find_zero": "root"}
"""By entry point; see ``grading.comparing``. Source: evalplus 0.3.1, evalplus/eval/__init__.py, HumanEval/32."""


def load_humaneval_plus(settings: Settings) -> Dataset:
    """The problems of the file that was placed in the folder of datasets. Raises DataError, as ``load_humaneval``."""
    path, cure = published_path(FILE, RELEASE, settings), cure_of(RELEASE)
    content = read_content(path, cure)
    origin = DatasetOrigin("humaneval+", hashlib.sha256(content).hexdigest(), LICENCE)
    return Dataset(origin, all_of(problems_in(content, _problem), path, cure))


class _Row(PlusRow, frozen=True):
    test: str


def _problem(line: bytes) -> Problem:
    row = row_of(line, _Row)
    base = problem_of(Row(row.task_id, row.prompt, row.entry_point, row.canonical_solution, row.test))
    inputs = bytes(row.plus_input).decode()
    return replace(base, plus=PlusTests(inputs, tolerance=row.atol, oracle=ORACLES.get(row.entry_point, "")))
