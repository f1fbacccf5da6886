"""``supervised``: spec, iterations with feedback, reviews by a stronger model. Koderz's own idea.

Calls: one for the spec, one per iteration until a program passes, and one for each review that falls due before that.
Repair from what tests said is that of Chen et al., "Teaching Large Language Models to Self-Debug" (arXiv 2304.05128);
that stronger models write the spec and review is the original koderz'.
"""

from __future__ import annotations

from dataclasses import dataclass

from koderz_core.events import CheckpointReviewed, Why
from koderz_core.prompts import attempts, coding, review, sections
from koderz_core.prompts.coding import MINIMAL, PROMPTS
from koderz_core.prompts.extraction import candidate
from koderz_core.protocols import Context
from koderz_core.records import Sampling
from koderz_core.strategies.checkpoints import ADAPTIVE, INTERVAL, Rule, due, stuck
from koderz_core.strategies.course import Course
from koderz_core.strategies.parameters import parameter
from koderz_core.strategies.reminders import (
    ADVICE_TEMPERATURE,
    ADVICE_TOKENS,
    Reminded,
    remember,
    specification,
    with_examples,
)


@dataclass(frozen=True, slots=True)
class Supervised(Reminded):
    """Ask, test, feed the failure back, at most ``max_iterations`` times; every ``checkpoint_interval`` a review.

    The first attempt is sampled at ``temperature``, the following at ``retry_temperature``: a small model asked again
    at 0 repeats its program (measured: identical in 4-5 tries of 5). After ``escape_after`` repeated programs in a row
    the next prompt shows none, unless a review has just advised on the last. ``spec_prompt``: the version of the
    spec's prompt; ``reuse_spec``: one of it that another experiment had written will do. ``previous_error``: the coder
    is told what its tests said; ``history_tokens``: the room in its prompts for attempts before the last.
    ``checkpoint_when``: "interval", or "adaptive": earlier where attempts make no progress or half the budget is gone.
    ``disclosure``: the first review is also asked for a strategy, the second for test criteria. Specs and reviews hold
    at most ``review_tokens``, and are asked for at temperature 0, whatever the coder's is.
    """

    max_iterations: int = 50
    checkpoint_interval: int = parameter(5, "A review is due after every so many iterations.")
    spec: bool = True
    checkpoints: bool = parameter(True, "A reviewer looks at the attempts so far, and the coder is given its guidance.")
    chain_of_thought: bool = True
    temperature: float = 0.0
    retry_temperature: float = 0.8
    max_tokens: int = 1024
    spec_prompt: str = parameter(
        MINIMAL, "How much of a spec: minimal says what is to be done, detailed also edge cases and a plan.", PROMPTS
    )
    reuse_spec: bool = parameter(
        False, "A spec that the same model wrote of the same problem before is taken, if there is one."
    )
    previous_error: bool = parameter(True, "The coder is told what the tests said of its last program.")
    history_tokens: int = parameter(0, "Room in a prompt for attempts before the last, in tokens.")
    escape_after: int = parameter(
        2, "After so many repeated programs in a row the next prompt shows none, but for a new review."
    )
    checkpoint_when: str = parameter(
        INTERVAL,
        "interval: a review after every so many iterations; adaptive: sooner where attempts get stuck.",
        (INTERVAL, ADAPTIVE),
    )
    disclosure: bool = parameter(True, "The first review is also asked for a strategy, the second for test criteria.")
    review_tokens: int = ADVICE_TOKENS

    def roles(self) -> tuple[str, ...]:
        return ("spec",) * self.spec + ("coder",) + ("reviewer",) * self.checkpoints

    @property
    def rule(self) -> Rule:
        """When a review is due."""
        return Rule(self.checkpoint_when, self.checkpoint_interval, self.max_iterations)

    def solve(self, ctx: Context) -> str | None:
        dollars = self._dollars(ctx)  # before the spec is paid: it is a part of what is spent
        course = Course(self._brief(ctx), dollars=dollars)
        for _ in range(self.max_iterations):
            attempt = self._iterate(ctx, course)
            if attempt.verdict.passed:
                break
            if why := self._due(ctx, course):
                self._review(ctx, course, why)
        return course.best.code

    def _brief(self, ctx: Context) -> coding.Brief:
        text = specification(ctx, self.spec_prompt, self.review_tokens, reuse=self.reuse_spec) if self.spec else None
        brief = coding.Brief(ctx.problem, text, self.chain_of_thought, self.previous_error, self.history_tokens)
        return with_examples(ctx, self, brief)

    def _iterate(self, ctx: Context, course: Course) -> attempts.Attempt:
        temperature = self.retry_temperature if course.attempts else self.temperature
        reply = ctx.ask("coder", self._prompt(course), Sampling(temperature, max_tokens=self.max_tokens))
        tried = candidate(reply, ctx.problem)
        attempt = course.add(tried, ctx.test(tried))
        remember(ctx, self, course)
        return attempt

    def _prompt(self, course: Course) -> coding.Prompt:
        if not course.attempts:
            return coding.first_attempt(course.brief)
        if course.repeats_in_a_row >= self.escape_after and not course.newly_guided:
            return attempts.fresh_attempt(course.brief, course.guidance, course.reminders)
        return attempts.next_attempt(course.brief, course.attempts, course.guidance, course.reminders)

    def _due(self, ctx: Context, course: Course) -> Why | None:
        if not self.checkpoints:
            return None
        return due(self.rule, course.attempts, course.reviewed, self._half_spent(ctx, course))

    def _half_spent(self, ctx: Context, course: Course) -> bool:
        """Asked only where there is a limit, and the first review depends on it."""
        if course.dollars is None or course.reviewed:
            return False
        left = self._dollars(ctx)
        return left is not None and left <= course.dollars / 2

    def _dollars(self, ctx: Context) -> float | None:
        """What may still be spent; None: there is no limit, or no review depends on it."""
        return ctx.remaining().cost_usd if self.checkpoints and self.checkpoint_when == ADAPTIVE else None

    def _review(self, ctx: Context, course: Course, why: Why) -> None:
        noted = stuck(course.attempts[course.reviewed :]) or why
        messages = review.checkpoint(ctx.problem, course.attempts, course.reviews, noted, disclosure=self.disclosure)
        reply = ctx.ask("reviewer", messages, Sampling(ADVICE_TEMPERATURE, max_tokens=self.review_tokens))
        read = sections.guidance(reply.text)
        course.take(read)
        ctx.note(CheckpointReviewed(course.checkpoints, course.reviewed, read.text, why, read.sections, read.passed_on))
