"""The course of an experiment so far: its attempts, its reviews and its best program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from koderz_core.prompts.attempts import Attempt
from koderz_core.prompts.coding import Brief
from koderz_core.prompts.programs import shape
from koderz_core.prompts.review import Guidance, Review
from koderz_core.records import Extracted, Verdict


class Best:
    """The program that passed the most gate tests, the latest among equals."""

    def __init__(self) -> None:
        self.code: str | None = None
        self._rank = (False, -1)

    def keep(self, candidate: Extracted, verdict: Verdict) -> Verdict:
        """Consider a program, and return its verdict unchanged."""
        rank = (verdict.passed, verdict.tests_passed)
        if candidate.code is not None and rank >= self._rank:
            self.code, self._rank = candidate.code, rank
        return verdict


@dataclass(slots=True)
class Course:
    """The state of a loop that repairs programs.

    ``dollars``: the budget at the start; None: no limit, or not needed. ``reviews``: the reviews that were not empty.
    ``reviewed``: how many attempts a reviewer has seen, in ``checkpoints`` reviews, including empty ones.
    """

    brief: Brief
    attempts: list[Attempt] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    best: Best = field(default_factory=Best)
    dollars: float | None = None
    lessons: dict[str, tuple[str, ...]] = field(default_factory=dict)  # error class -> lessons from other problems
    reviewed: int = 0
    checkpoints: int = 0
    _shapes: dict[str, int] = field(default_factory=dict)

    def add(self, candidate: Extracted, verdict: Verdict) -> Attempt:
        """Add the next attempt, and note whether it repeats an earlier one."""
        number = len(self.attempts) + 1
        first = number if candidate.code is None else self._shapes.setdefault(shape(candidate.code), number)
        self.attempts.append(Attempt(number, candidate, verdict, None if first == number else first))
        self.best.keep(candidate, verdict)
        return self.attempts[-1]

    def take(self, guidance: Guidance) -> None:
        """Add a review of all attempts so far; after an empty review the earlier guidance stays in force."""
        self.reviewed = len(self.attempts)
        self.checkpoints += 1
        if guidance.text:
            self.reviews.append(Review(self.reviewed, guidance))

    @property
    def guidance(self) -> str:
        """The advice of the latest review that was not empty."""
        return self.reviews[-1].guidance.text if self.reviews else ""

    @property
    def newly_guided(self) -> bool:
        """Whether the latest review has seen the latest attempt."""
        return bool(self.reviews) and self.reviews[-1].after_iteration == len(self.attempts)

    @property
    def reminders(self) -> Sequence[str]:
        """Lessons from other problems on the latest attempt's error."""
        return self.lessons.get(self.attempts[-1].verdict.error or "", ()) if self.attempts else ()

    @property
    def repeats_in_a_row(self) -> int:
        """How many of the latest attempts in a row repeat earlier programs."""
        return sum(1 for _ in takewhile(lambda attempt: attempt.same_as is not None, reversed(self.attempts)))
