"""HumanEval as tasks of Inspect AI, for ``benchmarks/calls.py``, with its own runner, model client, sandbox and log.

``PROBLEMS`` in the environment names a JSON file, a list of ``{"prompt", "tests", "entry_point"}``.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer
from inspect_ai.solver import generate
from inspect_ai.util import sandbox

BLOCK = re.compile(r"```(?:python)?\s*\n(.*?)```", re.DOTALL)


@task
def calls() -> Task:
    """Only calls; every answer that contains a program counts as correct."""
    return Task(dataset=_samples(), solver=generate(), scorer=has_program())


@task
def graded() -> Task:
    """Each program is judged by an interpreter of its own, in Inspect's simplest sandbox."""
    return Task(dataset=_samples(), solver=generate(), scorer=passes_tests(), sandbox="local")


@scorer(metrics=[accuracy()])
def has_program() -> Any:
    async def score(state: Any, _target: Any) -> Score:
        return Score(value=CORRECT if BLOCK.search(state.output.completion) else INCORRECT)

    return score


@scorer(metrics=[accuracy()])
def passes_tests() -> Any:
    async def score(state: Any, _target: Any) -> Score:
        found, about = BLOCK.search(state.output.completion), state.metadata
        code = found[1] if found else ""
        program = f"{about['prompt']}\n{code}\n{about['tests']}\ncheck({about['entry_point']})"
        try:
            done = await sandbox().exec(["python", "-c", program], timeout=30)
        except TimeoutError:
            return Score(value=INCORRECT)
        return Score(value=CORRECT if done.success else INCORRECT)

    return score


def _samples() -> MemoryDataset:
    problems = json.loads(Path(os.environ["PROBLEMS"]).read_text())
    return MemoryDataset(
        [Sample(input=f"Complete this function.\n\n{problem['prompt']}", metadata=problem) for problem in problems]
    )
