"""Prompt for the spec model: what is to be done, not how, since the coder must solve it alone."""

from __future__ import annotations

from koderz_core.prompts.thoughts import answer
from koderz_core.records import Message, PublicProblem

VERSION = "1"

_TASK = (
    "Write a short specification of the function below for a programmer who has to implement it.\n"
    "Say (1) what the core of the task is and which constraints hold, (2) what the function takes, does and returns, "
    "in plain words.\n"
    "Do not give an algorithm, code, pseudocode, data structures or tests. At most 150 words."
)


def text_of(reply: str) -> str:
    """The specification in an answer: without its thinking."""
    return answer(reply).strip()


def write(problem: PublicProblem) -> tuple[Message, ...]:
    """Ask for a minimal specification of a problem."""
    return (Message("user", f"{_TASK}\n\n```python\n{problem.prompt.rstrip()}\n```"),)
