"""Reward functions for trainers of models: a batch of completions in, one number per completion out.

The arguments are those that TRL gives to a reward function: ``completions``, and each column of the dataset as a list.
Source: TRL, "GRPO Trainer", section "Using a custom reward function". Other trainers can call them in the same way.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from koderz_core.errors import UsageError
from koderz_core.workspace import the_workspace
from koderz_core.workspace.checks import Check

Completion = str | Sequence[Mapping[str, Any]]  # Any: the parts of a message, of which only the content is used
"""A text, or the messages of a conversation, of which the last one counts."""
Reward = Callable[..., list[float]]
_LOG = logging.getLogger("koderz")


def reward(completions: Sequence[Completion], tests: Sequence[str], **_columns: object) -> list[float]:
    """Return 1.0 for each completion whose program passes all of its ``tests``, else 0.0.

    A completion is a model's whole reply. ``tests``: a column of the dataset, with asserts for each completion. A
    program that could not be judged gets 0.0 and a warning in the log. Raises UsageError for columns of another length,
    DataError for tests that no program could pass, SandboxError if no sandbox works on this machine.
    """
    _require_same_length(completions, tests, "tests")
    checks = {text: the_workspace().checks.of_tests(text) for text in dict.fromkeys(tests)}
    return _rewards(completions, [checks[text] for text in tests])


def reward_for(dataset: str, column: str = "task_id") -> Reward:
    """Return a reward function for the problems of a ``dataset``, whose ids are in a ``column`` of the training data.

    All tests of a problem count, with plus tests if the problem has some. It returns and raises as ``reward``, and
    raises UnknownNameError for an unknown problem.
    """

    def reward_of_problems(completions: Sequence[Completion], **columns: Any) -> list[float]:  # Any: columns
        names = columns.get(column)
        if names is None:
            raise UsageError(f"The training data have no column {column!r}. Columns: {', '.join(columns) or 'none'}.")
        _require_same_length(completions, names, column)
        checks = {name: the_workspace().checks.of_problem(dataset, name) for name in dict.fromkeys(names)}
        return _rewards(completions, [checks[name] for name in names])

    return reward_of_problems


def _require_same_length(completions: Sequence[Completion], column: Sequence[str], name: str) -> None:
    if len(completions) != len(column):
        raise UsageError(f"There are {len(completions)} completions, but {len(column)} values in the column {name}.")


def _rewards(completions: Sequence[Completion], checks: Sequence[Check]) -> list[float]:
    work = list(zip(completions, checks, strict=True))
    return the_workspace().checks.in_parallel(_reward, work, os.cpu_count() or 1)


def _reward(item: tuple[Completion, Check]) -> float:
    completion, check = item
    graded = check.grade("answer", _text(completion))
    if graded.verdict is None:  # perhaps because of the program, which must not end the training
        _LOG.warning("A program could not be judged, so its reward is 0: %s", graded.trouble)
        return 0.0
    return float(graded.verdict.passed)


def _text(completion: Completion) -> str:
    if isinstance(completion, str):
        return completion
    return str(completion[-1]["content"]) if completion else ""
