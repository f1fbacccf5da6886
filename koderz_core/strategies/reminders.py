"""Texts from outside that a coder is shown: lessons, other problems with their solutions, and results of a web search.

A coder with feedback gets the lessons on each kind of its failures; a coder without feedback, the most common lessons.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from koderz_core.events import SpecWritten
from koderz_core.prompts import coding
from koderz_core.prompts.coding import Brief
from koderz_core.prompts.repository import SHOWN_TOKENS
from koderz_core.protocols import Context
from koderz_core.records import Query, Sampling, Verdict
from koderz_core.records.marks import NO_SEARCH, SEARCHED_SITES
from koderz_core.strategies.course import Course
from koderz_core.strategies.parameters import parameter

MOST_LESSONS = 3  # in one prompt
MOST_EXAMPLES = 2
MOST_FOUND = 3

Lessons = dict[str, tuple[str, ...]]
"""Error class -> lessons from other problems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminded:
    """The parameters of every strategy that has a coder.

    A turn that exceeds ``turn_timeout`` is an empty answer, which the runner records with its cost.
    """

    lessons: bool = parameter(
        False,
        "Add lessons from failures on other problems to the coder's prompt. The command `koderz cortex lessons` "
        "extracts and stores such lessons.",
        group="Memory",
    )
    examples: bool = parameter(
        False,
        "Add two other problems, with programs that solved them in earlier benchmarks, to the coder's prompt.",
        label="Solved examples",
        group="Memory",
    )
    search: str = parameter(
        NO_SEARCH,
        "Add results of a web search for the problem's title to the coder's prompt. Needs --allow-search.",
        (NO_SEARCH, *SEARCHED_SITES),
        label="Web search",
        group="Memory",
    )
    turn_timeout: float = parameter(
        0.0,
        "Time limit in seconds of each model call. If a call exceeds the limit, its answer counts as empty. 0 means "
        "no limit.",
        label="Turn timeout (seconds)",
    )
    repository_tokens: int = parameter(
        SHOWN_TOKENS,
        "Maximum number of tokens for the files of a repository in the coder's prompt, for repository tasks only.",
        label="Repository tokens",
        group="Prompt",
    )


def with_examples(ctx: Context, strategy: Reminded, brief: Brief) -> Brief:
    """The brief of a coder with feedback: search results and examples now, lessons later from ``remember``."""
    brief = replace(brief, repository_tokens=strategy.repository_tokens)
    if strategy.search != NO_SEARCH:
        found = ctx.recall(Query("web", {"site": strategy.search}, MOST_FOUND))
        brief = replace(brief, found=tuple(memory.text for memory in found))
    if not strategy.examples:
        return brief
    return replace(brief, examples=tuple(memory.text for memory in ctx.recall(Query("solved", limit=MOST_EXAMPLES))))


def with_reminders(ctx: Context, strategy: Reminded, brief: Brief) -> Brief:
    """The brief of a coder without feedback: examples and the most common lessons."""
    shown = with_examples(ctx, strategy, brief)
    if not strategy.lessons:
        return shown
    return replace(shown, lessons=tuple(memory.text for memory in ctx.recall(Query("lesson", limit=MOST_LESSONS))))


def remember(ctx: Context, strategy: Reminded, course: Course) -> None:
    """Look up the lessons on the latest failure."""
    if course.brief.previous_error:
        lessons_on(ctx, strategy, course.attempts[-1].verdict, course.lessons)


def lessons_on(ctx: Context, strategy: Reminded, failed: Verdict, known: Lessons) -> tuple[str, ...]:
    """The lessons on the error of a failed program; each error class is looked up once and kept in ``known``."""
    if strategy.lessons and failed.error and failed.error not in known:
        recalled = ctx.recall(Query("lesson", {"error": failed.error}, limit=MOST_LESSONS))
        known[failed.error] = tuple(memory.text for memory in recalled)
    return known.get(failed.error or "", ())


ADVICE_TEMPERATURE = 0.0
"""Of specs and reviews: comparisons of the coder's temperature must not change them."""
ADVICE_TOKENS = 2048
"""Of a spec or a review: room for a model's thoughts, yet only a quarter of a context of 8,192 tokens."""


def specification(ctx: Context, prompt: str, tokens: int = ADVICE_TOKENS, *, reuse: bool = False) -> str:
    """The text of a spec, noted with its origin. ``prompt``: one of ``coder.PROMPTS``; ``tokens``: its limit."""
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
