"""The prompt for the coder's first attempt, and what every later one is built on too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from koderz_core.prompts.quoting import fenced
from koderz_core.prompts.reminding import examples_told, lessons_told
from koderz_core.records import Message, PublicProblem

VERSION = "1"

Prompt = tuple[Message, ...]

_SYSTEM = (
    "You are an expert Python programmer. You are given a function signature with its docstring and write the whole "
    "function.\n{reasoning}\nGive the final code in one ```python block: the function with its signature, plus any "
    "imports and helper functions it needs. No example calls, no tests."
)
_REASON = "Think briefly about the approach first if that helps."
_NO_REASON = "Give only the code block: no reasoning, no explanation."


@dataclass(frozen=True, slots=True)
class Brief:
    """What every prompt of one experiment is built on.

    ``previous_error``: the coder is told what the tests said of its attempts; ``history_tokens``: the most that
    attempts before the last may take of a prompt. ``examples``: solved problems that every prompt shows; ``lessons``:
    what the first reminds of.
    """

    problem: PublicProblem
    spec: str | None = None
    chain_of_thought: bool = True
    previous_error: bool = True
    history_tokens: int = 0
    examples: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()


def first_attempt(brief: Brief) -> Prompt:
    """Specification, if any, and problem."""
    return asking(brief, [*lessons_told(brief.lessons), "Write the function."])


def asking(brief: Brief, parts: Sequence[str]) -> Prompt:
    """Examples and specification, if any, and problem, and then these paragraphs."""
    system = _SYSTEM.format(reasoning=_REASON if brief.chain_of_thought else _NO_REASON)
    spec = [f"Specification:\n{brief.spec.strip()}"] if brief.spec else []
    problem = f"Problem:\n{fenced(brief.problem.prompt.rstrip())}"
    said = [*examples_told(brief.examples), *spec, problem, *parts]
    return (Message("system", system), Message("user", "\n\n".join(said)))
