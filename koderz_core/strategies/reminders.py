"""What a coder may be reminded of: lessons of failures on other problems, and examples of other problems solved.

A coder that is told of its failures gets the lessons on each kind of them; one that is not, the commonest of all kinds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from koderz_core.events import SpecWritten
from koderz_core.prompts import coding
from koderz_core.prompts.coding import Brief
from koderz_core.protocols import Context
from koderz_core.records import Query, Sampling, Verdict
from koderz_core.strategies.course import Course
from koderz_core.strategies.parameters import parameter

MOST_LESSONS = 3  # that one prompt holds
MOST_EXAMPLES = 2

Lessons = dict[str, tuple[str, ...]]
"""Error class to what other problems taught of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminded:
    """The parameters of every strategy that has a coder."""

    lessons: bool = parameter(
        False, "The coder is told what helped with failures on other problems; see koderz cortex lessons."
    )
    examples: bool = parameter(
        False, "The coder is shown two other problems with programs that solved them in earlier benchmarks."
    )


def with_examples(ctx: Context, asked: Reminded, brief: Brief) -> Brief:
    """For a coder that is told of its failures: ``remember`` looks up what is known of these."""
    if not asked.examples:
        return brief
    return replace(brief, examples=tuple(memory.text for memory in ctx.recall(Query("solved", limit=MOST_EXAMPLES))))


def with_reminders(ctx: Context, asked: Reminded, brief: Brief) -> Brief:
    """For a coder that is told nothing of what it wrote before."""
    shown = with_examples(ctx, asked, brief)
    if not asked.lessons:
        return shown
    return replace(shown, lessons=tuple(memory.text for memory in ctx.recall(Query("lesson", limit=MOST_LESSONS))))


def remember(ctx: Context, asked: Reminded, course: Course) -> None:
    """Look up the lessons on the latest failure."""
    if course.brief.previous_error:
        lessons_on(ctx, asked, course.attempts[-1].verdict, course.lessons)


def lessons_on(ctx: Context, asked: Reminded, failed: Verdict, known: Lessons) -> tuple[str, ...]:
    """Each kind of error is asked for once: what is remembered of it is shown whenever it comes again."""
    if asked.lessons and failed.error and failed.error not in known:
        found = ctx.recall(Query("lesson", {"error": failed.error}, limit=MOST_LESSONS))
        known[failed.error] = tuple(memory.text for memory in found)
    return known.get(failed.error or "", ())


ADVICE_TEMPERATURE = 0.0
"""Of specs and reviews, whatever the coder's is: the coder's temperature is compared, and must not change them too."""
ADVICE_TOKENS = 2048
"""Of a spec or a review: more than is asked for, since models think first, yet a quarter of a context of 8,192."""


def specification(ctx: Context, prompt: str, tokens: int = ADVICE_TOKENS, *, reuse: bool = False) -> str:
    """Its text, noted with where it comes from. ``prompt``: one of ``coding.PROMPTS``; ``tokens``: the most of them."""
    note = (_recalled(ctx, prompt) if reuse else None) or _written(ctx, prompt, tokens)
    ctx.note(note)
    return note.text


def _recalled(ctx: Context, prompt: str) -> SpecWritten | None:
    for memory in ctx.recall(Query("spec", {"prompt": prompt}, limit=1)):
        if text := coding.text_of(memory.text):
            return SpecWritten(text, prompt, memory.origin)
    return None


def _written(ctx: Context, prompt: str, tokens: int) -> SpecWritten:
    reply = ctx.ask("spec", coding.write(ctx.problem, prompt), Sampling(ADVICE_TEMPERATURE, max_tokens=tokens))
    return SpecWritten(coding.text_of(reply.text), prompt, finish=reply.finish)
