"""When a stronger model reviews the iterations so far, and why then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from koderz_core.events import Why
from koderz_core.prompts.attempts import Attempt

INTERVAL, ADAPTIVE = "interval", "adaptive"
ALIKE = 3
"""So many attempts that look alike are no progress: one repetition may be chance."""
FEWEST = 2
"""A review sooner than that after another could only say the same again."""


@dataclass(frozen=True, slots=True)
class Rule:
    """``when``: INTERVAL, every ``interval`` iterations; or ADAPTIVE, at the latest then. Never after the ``last``."""

    when: str
    interval: int
    last: int

    @property
    def can_apply(self) -> bool:
        """Whether any number of iterations below the last makes a review due."""
        earliest = min(self.interval, FEWEST) if self.when == ADAPTIVE else self.interval
        return earliest < self.last


def due(rule: Rule, attempts: Sequence[Attempt], reviewed: int, half_spent: bool = False) -> Why | None:
    """Why a review is due after these failed attempts, ``reviewed`` of which an earlier one has seen; None: it is not.

    ``half_spent``: half of the dollars of this experiment is gone; of its iterations it is counted here. Either makes
    the first review due, so that what it advises can still be tried.
    """
    new = len(attempts) - reviewed
    if len(attempts) >= rule.last:
        return None  # nobody would read the guidance
    if rule.when == ADAPTIVE and new >= FEWEST:
        if sign := stuck(attempts[reviewed:]):
            return sign
        if not reviewed and (half_spent or 2 * len(attempts) >= rule.last):
            return "budget"
    return "interval" if new >= rule.interval else None


def stuck(attempts: Sequence[Attempt]) -> Why | None:
    """By what these attempts show that they make no progress, the most telling sign first."""
    if attempts[-1].same_as is not None:
        return "repeated_program"
    latest = attempts[-ALIKE:]
    if len(latest) < ALIKE:
        return None
    if (error := _error(latest[0])) and all(_error(attempt) == error for attempt in latest):
        return "repeated_error"
    told = latest[0].verdict.tests_total > 0  # there is a feedback that tells no counts
    return "plateau" if told and len({attempt.verdict.tests_passed for attempt in latest}) == 1 else None


def _error(attempt: Attempt) -> tuple[str | None, ...] | None:
    """Class and message of the first failure, with the value that was wrong; None where that is not told."""
    verdict = attempt.verdict
    first = verdict.failures[0] if verdict.failures else None
    if not (verdict.message or first):
        return None
    return (verdict.error, verdict.message, *((first.source, first.actual) if first else ()))
