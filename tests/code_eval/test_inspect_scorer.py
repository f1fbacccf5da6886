"""The scorer of Inspect that grades in koderz' sandbox."""

from __future__ import annotations

import asyncio
from itertools import product

import pytest

from koderz_core import code_eval
from koderz_core.workspace import leave

inspect_ai = pytest.importorskip("inspect_ai", reason="the extra koderz[inspect] is not installed")
RIGHT, WRONG = "def add(a, b): return a + b", "def add(a, b): return a * b"
TESTS = "assert add(2, 3) == 5"
CHECK = "def check(candidate):\n    assert candidate(2, 3) == 5\n\ncheck(add)"


def value(reply: str, target: str, dataset: str = "", **metadata: str) -> str:
    output = inspect_ai.model.ModelOutput.from_content("m", reply)
    state = inspect_ai.solver.TaskState("m/m", "HumanEval/2", 1, "", [], output=output, metadata=metadata)
    score = asyncio.run(code_eval.inspect_scorer(dataset)(state, inspect_ai.scorer.Target(target)))
    return str(score.value)


def test_replies_are_scored_with_the_tests_of_metadata_target_or_dataset() -> None:
    try:
        for (reply, mark), tests in product(((RIGHT, "C"), (WRONG, "I")), (TESTS, CHECK)):
            assert value(reply, tests) == value(reply, "", tests=tests) == mark
        assert value("    return number % 1.0\n", "", dataset="humaneval") == "C"
    finally:
        leave()
