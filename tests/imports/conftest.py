"""A dataset of which a loop has scores of two kinds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture
def two_kinds(tmp_path: Path) -> Path:
    """Two problems: the plus tests of the first are its base tests, so they hold nothing out from a loop."""
    mine = {"prompt": "def double(a):\n", "entry_point": "double", "canonical_solution": "    return 2 * a\n"}
    mine |= {"asserts": ["assert double(1) == 2", "assert double(5) == 10"]}
    problems = [mine | {"task_id": f"mine/{item}", "plus_input": [[1], [item]]} for item in (5, 7)]
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(f"{json.dumps(problem)}\n" for problem in problems))
    return file
