"""What an experiment has been through so far: its attempts, its reviews, the best program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from koderz_core.prompts.attempts import Attempt
from koderz_core.prompts.coding import Brief
from koderz_core.prompts.programs import shape
from koderz_core.prompts.review import Review
from koderz_core.prompts.sections import Guidance
from koderz_core.records import Extracted, Verdict


class Best:
    """Keeps the candidate with the most gate tests passed; of equals, the latest."""

    def __init__(self) -> None:
        self.code: str | None = None
        self._rank = (False, -1)

    def keep(self, candidate: Extracted, verdict: Verdict) -> Verdict:
        """Take note of a candidate and hand its verdict through."""
        rank = (verdict.passed, verdict.tests_passed)
        if candidate.code is not None and rank >= self._rank:
            self.code, self._rank = candidate.code, rank
        return verdict


@dataclass(slots=True)
class Course:
    """``dollars``: what could be spent before it began, None: no limit, or of no interest.

    ``reviews``: those that advised something. ``reviewed``: how many attempts a reviewer has been shown, in
    ``checkpoints`` of them, whatever it answered.
    """

    brief: Brief
    attempts: list[Attempt] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    best: Best = field(default_factory=Best)
    dollars: float | None = None
    lessons: dict[str, tuple[str, ...]] = field(default_factory=dict)  # error class -> what other problems taught of it
    reviewed: int = 0
    checkpoints: int = 0
    _shapes: dict[str, int] = field(default_factory=dict)

    def add(self, candidate: Extracted, verdict: Verdict) -> Attempt:
        """Take note of the next attempt, and of whether it repeats an earlier one."""
        number = len(self.attempts) + 1
        first = number if candidate.code is None else self._shapes.setdefault(shape(candidate.code), number)
        self.attempts.append(Attempt(number, candidate, verdict, None if first == number else first))
        self.best.keep(candidate, verdict)
        return self.attempts[-1]

    def take(self, guidance: Guidance) -> None:
        """Take note of a review of all attempts so far; an empty one leaves standing what another advised before."""
        self.reviewed = len(self.attempts)
        self.checkpoints += 1
        if guidance.text:
            self.reviews.append(Review(self.reviewed, guidance))

    @property
    def guidance(self) -> str:
        """What the latest review that was not empty advises."""
        return self.reviews[-1].guidance.text if self.reviews else ""

    @property
    def newly_guided(self) -> bool:
        """Whether a review advises on the latest attempt, and no other has been made since."""
        return bool(self.reviews) and self.reviews[-1].after_iteration == len(self.attempts)

    @property
    def reminders(self) -> Sequence[str]:
        """What other problems taught of the latest attempt's error."""
        return self.lessons.get(self.attempts[-1].verdict.error or "", ()) if self.attempts else ()

    @property
    def repeats_in_a_row(self) -> int:
        """How many of the latest attempts, without a new one between, repeat earlier ones."""
        return sum(1 for _ in takewhile(lambda one: one.same_as is not None, reversed(self.attempts)))
