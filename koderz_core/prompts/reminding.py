"""What a coder is reminded of from outside its experiment: lessons of other problems, and examples of solved ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from koderz_core.prompts.quoting import fenced, one_line, shortened

VERSION = "1"
LESSONS_LIMIT = 1200  # characters of all lessons together
EXAMPLES_LIMIT = 4000  # of all examples together
LIMITS: Mapping[str, int] = {"lessons": LESSONS_LIMIT, "examples": EXAMPLES_LIMIT}
"""What reminders take of a prompt at most, by the parameter that wants them."""
_HEADING = (
    "Other problems that were solved, to show the kind of program that is wanted; the one for you comes after them."
)


def example(prompt: str, code: str) -> str:
    """A problem and a program that solved it, in one text."""
    return f"{fenced(prompt.strip())}\nA program that passed its tests:\n{fenced(code.strip())}"


def lessons_told(lessons: Sequence[str]) -> list[str]:
    """The paragraph that tells them, none without lessons. No more is shown than LESSONS_LIMIT."""
    told = "\n".join(f"- {one_line(one, LESSONS_LIMIT // len(lessons))}" for one in lessons)
    return [f"Lessons from other problems:\n{told}"] if told else []


def examples_told(examples: Sequence[str]) -> list[str]:
    """The paragraphs that tell them, none without examples. No more is shown than EXAMPLES_LIMIT."""
    most = EXAMPLES_LIMIT // max(1, len(examples))
    told = [f"Example {place}:\n{shortened(one, most)}" for place, one in enumerate(examples, 1)]
    return [_HEADING, *told] if told else []
