"""Prompts for the spec model: what is to be done, not how, since the coder must solve it alone."""

from __future__ import annotations

from collections.abc import Mapping

from koderz_core.prompts.quoting import fenced, shortened
from koderz_core.prompts.thoughts import answer
from koderz_core.records import Message, PublicProblem

VERSION = "1"
SPEC_LIMIT = 8000  # characters: whatever was asked for, a longer one would crowd out the problem

MINIMAL, DETAILED = "minimal", "detailed"

_TASKS: Mapping[str, str] = {
    MINIMAL: (
        "Write a short specification of the function below for a programmer who has to implement it.\n"
        "Say (1) what the core of the task is and which constraints hold, (2) what the function takes, does and "
        "returns, in plain words.\n"
        "Do not give an algorithm, code, pseudocode, data structures or tests. At most 150 words."
    ),
    DETAILED: (
        "Write a detailed specification of the function below for a programmer who has to implement it.\n"
        "Say (1) what the core of the task is and which constraints hold, (2) what the function takes, does and "
        "returns, (3) which inputs are allowed: types, ranges, what may be empty, (4) the edge cases and what each "
        "must give, (5) what must happen with input that is not allowed, if the text says so, (6) a plan of the "
        "solution in steps.\n"
        "Keep to what the text says or clearly implies; where it leaves something open, say so. Do not write code or "
        "pseudocode. At most 350 words."
    ),
}
PROMPTS = tuple(_TASKS)
"""The versions that can be asked for."""


def text_of(reply: str) -> str:
    """The specification in an answer: without its thinking, bounded."""
    return shortened(answer(reply).strip(), SPEC_LIMIT)


def write(problem: PublicProblem, prompt: str = MINIMAL) -> tuple[Message, ...]:
    """Ask for a specification of a problem, by one of ``PROMPTS``."""
    return (Message("user", f"{_TASKS[prompt]}\n\n{fenced(problem.prompt.rstrip())}"),)
