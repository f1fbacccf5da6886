"""Prompts for the coder: the first attempt, and the next one after a failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from koderz_core.prompts.feedback import failing_tests
from koderz_core.records import Extracted, Message, PublicProblem, Verdict

VERSION = "1"
CODE_LIMIT = 6000  # characters of a shown program: about 1,500 tokens of the smallest context

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
    """What every prompt of one experiment is built on."""

    problem: PublicProblem
    spec: str | None = None
    chain_of_thought: bool = True


@dataclass(frozen=True, slots=True)
class Attempt:
    """A candidate and what the gate tests said of it."""

    candidate: Extracted
    verdict: Verdict


def first_attempt(brief: Brief) -> Prompt:
    """Specification, if any, and problem."""
    return _messages(brief, ["Write the function."])


def next_attempt(brief: Brief, attempts: Sequence[Attempt], guidance: str = "") -> Prompt:
    """After failures: also the last program, what its tests said, and a reviewer's guidance, if any."""
    if not attempts:
        return first_attempt(brief)
    last = attempts[-1]
    parts = (
        [f"Your previous attempt:\n```python\n{last.candidate.code[:CODE_LIMIT]}\n```"] if last.candidate.code else []
    )
    parts.append(failing_tests(last.verdict))
    if guidance:
        parts.append(f"A reviewer looked at your attempts and advises:\n{guidance}")
    parts.append("Write a corrected version. If the approach itself is wrong, choose another one.")
    return _messages(brief, parts)


def _messages(brief: Brief, parts: Sequence[str]) -> Prompt:
    system = _SYSTEM.format(reasoning=_REASON if brief.chain_of_thought else _NO_REASON)
    spec = [f"Specification:\n{brief.spec.strip()}"] if brief.spec else []
    problem = f"Problem:\n```python\n{brief.problem.prompt.rstrip()}\n```"
    return (Message("system", system), Message("user", "\n\n".join([*spec, problem, *parts])))
