"""Prompt for the reviewer at a checkpoint, and what of its answer is passed on."""

from __future__ import annotations

from collections.abc import Sequence

from koderz_core.prompts.coding import Attempt
from koderz_core.prompts.feedback import failing_tests
from koderz_core.prompts.thoughts import answer
from koderz_core.records import Message, PublicProblem

VERSION = "1"
PROGRAMS_LIMIT = 12_000  # characters of all programs shown together: about 3,000 tokens, whatever the interval
GUIDANCE_LIMIT = 3000  # characters: a review longer than about 750 tokens would crowd out the problem

_TASK = (
    "You review the attempts of a weaker programmer at the function below. For each attempt you see the real program "
    "and what its tests said.\n"
    "Find the failing behaviour and its root cause, then give precise guidance for the next attempt: what to change "
    "and which cases to handle. If the attempts make no progress, propose another approach. At most 200 words."
)


def checkpoint(
    problem: PublicProblem, attempts: Sequence[Attempt], iterations: int, earlier: str
) -> tuple[Message, ...]:
    """Show the last ``attempts`` of ``iterations`` so far, and the guidance given before, if any."""
    first = iterations - len(attempts) + 1
    parts = [_TASK, f"Problem:\n```python\n{problem.prompt.rstrip()}\n```"]
    limit = PROGRAMS_LIMIT // len(attempts)
    parts += [_shown(number, attempt, limit) for number, attempt in enumerate(attempts, first)]
    if earlier:
        parts.append(f"Your earlier guidance, which did not suffice:\n{earlier}")
    return (Message("user", "\n\n".join(parts)),)


def guidance(reply: str) -> str:
    """What goes into the coder's next prompts: the answer without its thinking, bounded."""
    return answer(reply).strip()[:GUIDANCE_LIMIT]


def _shown(number: int, attempt: Attempt, limit: int) -> str:
    program = attempt.candidate.code
    shown = f"```python\n{program[:limit]}\n```" if program else "(no program in the reply)"
    return f"Attempt {number}:\n{shown}\n{failing_tests(attempt.verdict)}"
