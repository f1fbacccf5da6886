"""``supervised``: a spec, iterations with feedback, and reviews by a stronger model. The idea of koderz.

Calls: one for the spec, one per iteration until a program passes, and one for each review until then. Repair
from test results follows Chen et al., "Teaching Large Language Models to Self-Debug" (arXiv 2304.05128). Specs and
reviews by stronger models are an idea of the original koderz.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from koderz_core.events import CheckpointReviewed, Why
from koderz_core.prompts import attempts, coding, review
from koderz_core.prompts.attempts import Attempt
from koderz_core.prompts.coding import MINIMAL, PROMPTS
from koderz_core.prompts.extraction import candidate
from koderz_core.protocols import Context
from koderz_core.records import Sampling
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

INTERVAL, ADAPTIVE = "interval", "adaptive"
ALIKE = 3
"""This number of similar attempts counts as no progress; a single repetition may be chance."""
FEWEST = 2
"""The fewest attempts between two reviews: an earlier review could only repeat the last one."""


@dataclass(frozen=True, slots=True)
class Supervised(Reminded):
    """Show the coder the failures of its program until a program passes; a stronger model reviews the attempts.

    There are at most ``max_iterations`` attempts, and a review after every ``checkpoint_interval`` attempts. The first
    attempt is sampled at ``temperature``. Later attempts are sampled at ``retry_temperature``, because at temperature 0
    a small model repeats its program (measured: 4 or 5 of 5 attempts were identical). If the coder repeats a
    program ``escape_after`` times in a row, the next prompt shows no program, except directly after a review.
    ``spec_prompt``: which prompt requests the spec, "minimal" or "detailed". ``reuse_spec``: reuse a spec from another
    experiment.
    ``previous_error``: show the coder the test results of its last program. ``history_tokens``: maximum number of
    tokens that a prompt uses for attempts before the last one. ``checkpoint_when``: "interval" or "adaptive";
    with "adaptive", a review is due earlier if progress stops, or if half the iterations or half the budget is used.
    ``disclosure``: in addition to the usual sections, request an approach to the problem in the first review and test
    criteria in the second review. Specs and reviews have at most ``review_tokens`` tokens and are sampled at
    temperature 0.
    """

    max_iterations: int = 50
    checkpoint_interval: int = parameter(
        5, "Number of iterations between two reviews.", label="Review interval", group="Review", needs="checkpoints"
    )
    spec: bool = True
    checkpoints: bool = parameter(
        True,
        "Let a reviewer see the attempts, and give the reviewer's guidance to the coder.",
        label="Reviews",
        group="Review",
    )
    chain_of_thought: bool = True
    temperature: float = 0.0
    retry_temperature: float = 0.8
    max_tokens: int = 1024
    spec_prompt: str = parameter(
        MINIMAL,
        "Prompt for the spec. minimal: asks for a description of the task; detailed: also asks for edge cases and a "
        "plan.",
        PROMPTS,
        group="Prompt",
        needs="spec",
    )
    reuse_spec: bool = parameter(
        False,
        "Reuse a spec that the same model has already written for the same problem, if there is one.",
        label="Reuse specs",
        group="Memory",
        needs="spec",
    )
    previous_error: bool = parameter(
        True,
        "Show the coder the test results of its last program.",
        label="Show last test results",
        group="Prompt",
        needs="max_iterations",
    )
    history_tokens: int = parameter(
        0,
        "Maximum number of tokens that a prompt uses for attempts before the last one.",
        label="Maximum tokens for earlier attempts",
        group="Prompt",
        needs="max_iterations",
    )
    escape_after: int = parameter(
        2,
        "If the coder repeats a program this many times in a row, the next prompt shows no program, except directly "
        "after a review.",
        label="Repeated programs before a fresh prompt",
        needs="max_iterations",
    )
    checkpoint_when: str = parameter(
        INTERVAL,
        "interval: review after a fixed number of iterations; adaptive: earlier, if progress stops or half of the "
        "iterations or budget is used.",
        (INTERVAL, ADAPTIVE),
        label="Review trigger",
        group="Review",
        needs="checkpoints",
    )
    disclosure: bool = parameter(
        True,
        "Request two additional sections: an approach to the problem in the first review, and test criteria in the "
        "second review.",
        label="Additional review sections",
        group="Review",
        needs="checkpoints",
    )
    review_tokens: int = ADVICE_TOKENS

    def roles(self) -> tuple[str, ...]:
        return ("spec",) * self.spec + ("coder",) + ("reviewer",) * self.checkpoints

    @property
    def rule(self) -> Rule:
        """The rule by which reviews are due."""
        return Rule(self.checkpoint_when, self.checkpoint_interval, self.max_iterations)

    def solve(self, ctx: Context) -> str | None:
        dollars = self._dollars(ctx)  # before the spec, whose cost counts as spent
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

    def _iterate(self, ctx: Context, course: Course) -> Attempt:
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
        """Whether half of the dollars are spent; queried only if there is a limit and no review has taken place."""
        if course.dollars is None or course.reviewed:
            return False
        left = self._dollars(ctx)
        return left is not None and left <= course.dollars / 2

    def _dollars(self, ctx: Context) -> float | None:
        """The dollars that may still be spent; None: there is no limit, or no review depends on it."""
        return ctx.remaining().cost_usd if self.checkpoints and self.checkpoint_when == ADAPTIVE else None

    def _review(self, ctx: Context, course: Course, why: Why) -> None:
        sign = stuck(course.attempts[course.reviewed :]) or why
        messages = review.checkpoint(ctx.problem, course.attempts, course.reviews, sign, disclosure=self.disclosure)
        reply = ctx.ask("reviewer", messages, Sampling(ADVICE_TEMPERATURE, max_tokens=self.review_tokens))
        advice = review.guidance(reply.text)
        course.take(advice)
        ctx.note(
            CheckpointReviewed(course.checkpoints, course.reviewed, advice.text, why, advice.sections, advice.passed_on)
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """``when``: INTERVAL, every ``interval`` iterations; or ADAPTIVE, then at the latest. Never after the ``last``."""

    when: str
    interval: int
    last: int

    @property
    def can_apply(self) -> bool:
        """Whether a review can become due before the last iteration."""
        earliest = min(self.interval, FEWEST) if self.when == ADAPTIVE else self.interval
        return earliest < self.last


def due(rule: Rule, attempts: Sequence[Attempt], reviewed: int, half_spent: bool = False) -> Why | None:
    """Why a review is due after these failed attempts, of which ``reviewed`` have been reviewed; None: none is due.

    ``half_spent``: half of the experiment's dollars are spent; half of its iterations is checked here. Either makes
    the first review due, so that its advice can still be used.
    """
    new = len(attempts) - reviewed
    if len(attempts) >= rule.last:
        return None  # no attempt would use the guidance
    if rule.when == ADAPTIVE and new >= FEWEST:
        if sign := stuck(attempts[reviewed:]):
            return sign
        if not reviewed and (half_spent or 2 * len(attempts) >= rule.last):
            return "budget"
    return "interval" if new >= rule.interval else None


def stuck(attempts: Sequence[Attempt]) -> Why | None:
    """The strongest sign that these attempts make no progress; None: there is none."""
    if attempts[-1].same_as is not None:
        return "repeated_program"
    latest = attempts[-ALIKE:]
    if len(latest) < ALIKE:
        return None
    if (error := _error(latest[0])) and all(_error(attempt) == error for attempt in latest):
        return "repeated_error"
    counted = latest[0].verdict.tests_total > 0  # a feedback may hide the counts
    return "plateau" if counted and len({attempt.verdict.tests_passed for attempt in latest}) == 1 else None


def _error(attempt: Attempt) -> tuple[str | None, ...] | None:
    """Class and message of the first failure, with the wrong value; None if the feedback hides them."""
    verdict = attempt.verdict
    first = verdict.failures[0] if verdict.failures else None
    if not (verdict.message or first):
        return None
    return (verdict.error, verdict.message, *((first.source, first.actual) if first else ()))
