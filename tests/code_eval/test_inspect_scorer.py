"""The scorer of Inspect that grades in koderz' sandbox."""

from __future__ import annotations

import asyncio
import math
from itertools import product
from typing import Any

import pytest

from koderz_core import code_eval
from koderz_core.workspace import leave

inspect_ai = pytest.importorskip("inspect_ai", reason="the extra koderz[inspect] is not installed")
RIGHT, WRONG = "def add(a, b): return a + b", "def add(a, b): return a * b"
TESTS = "assert add(2, 3) == 5"
CHECK = "def check(candidate):\n    assert candidate(2, 3) == 5\n\ncheck(add)"


def score(reply: str, target: str, dataset: str = "", **metadata: str) -> Any:
    output = inspect_ai.model.ModelOutput.from_content("m", reply)
    state = inspect_ai.solver.TaskState("m/m", "HumanEval/2", 1, "", [], output=output, metadata=metadata)
    return asyncio.run(code_eval.inspect_scorer(dataset)(state, inspect_ai.scorer.Target(target)))


def test_replies_are_scored_with_the_tests_of_metadata_target_or_dataset() -> None:
    try:
        for (reply, mark), tests in product(((RIGHT, "C"), (WRONG, "I")), (TESTS, CHECK)):
            assert score(reply, tests).value == score(reply, "", tests=tests).value == mark
        assert score("    return number % 1.0\n", "", dataset="humaneval").value == "C"
    finally:
        leave()


def test_a_sample_that_could_not_be_judged_is_unscored() -> None:
    try:
        found = score(RIGHT, f"import no_such_module\n{TESTS}")
        assert math.isnan(found.value)
        assert "no_such_module" in found.explanation
    finally:
        leave()
