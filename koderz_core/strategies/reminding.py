"""What a coder may be reminded of: lessons of failures on other problems, and examples of other problems solved.

A coder that is told of its failures gets the lessons on each kind of them; one that is not, the commonest of all kinds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from koderz_core.prompts.coding import Brief
from koderz_core.protocols import Context
from koderz_core.records import Query, Verdict
from koderz_core.strategies.course import Course

MOST_LESSONS = 3  # that one prompt holds
MOST_EXAMPLES = 2

Lessons = dict[str, tuple[str, ...]]
"""Error class to what other problems taught of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminded:
    """The parameters of every strategy that has a coder."""

    lessons: bool = False
    examples: bool = False


def with_examples(ctx: Context, asked: Reminded, brief: Brief) -> Brief:
    """For a coder that is told of its failures: ``remember`` looks up what is known of these."""
    if not asked.examples:
        return brief
    return replace(brief, examples=tuple(one.text for one in ctx.recall(Query("solved", limit=MOST_EXAMPLES))))


def with_reminders(ctx: Context, asked: Reminded, brief: Brief) -> Brief:
    """For a coder that is told nothing of what it wrote before."""
    shown = with_examples(ctx, asked, brief)
    if not asked.lessons:
        return shown
    return replace(shown, lessons=tuple(one.text for one in ctx.recall(Query("lesson", limit=MOST_LESSONS))))


def remember(ctx: Context, asked: Reminded, course: Course) -> None:
    """Look up the lessons on the latest failure."""
    if course.brief.previous_error:
        lessons_on(ctx, asked, course.attempts[-1].verdict, course.lessons)


def lessons_on(ctx: Context, asked: Reminded, failed: Verdict, known: Lessons) -> tuple[str, ...]:
    """Each kind of error is asked for once: what is remembered of it is shown whenever it comes again."""
    if asked.lessons and failed.error and failed.error not in known:
        found = ctx.recall(Query("lesson", {"error": failed.error}, limit=MOST_LESSONS))
        known[failed.error] = tuple(one.text for one in found)
    return known.get(failed.error or "", ())
