"""What an experiment has been through so far: its attempts, its reviews, the best program."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile

from koderz_core.prompts.attempts import Attempt
from koderz_core.prompts.coding import Brief
from koderz_core.prompts.review import Review
from koderz_core.prompts.sameness import shape
from koderz_core.records import Extracted, Verdict
from koderz_core.strategies.best import Best


@dataclass(slots=True)
class Course:
    """``dollars``: what could be spent at its start, None: no limit, or of no interest."""

    brief: Brief
    attempts: list[Attempt] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    best: Best = field(default_factory=Best)
    dollars: float | None = None
    _shapes: dict[str, int] = field(default_factory=dict)

    def add(self, candidate: Extracted, verdict: Verdict) -> Attempt:
        """Take note of the next attempt, and of whether it repeats an earlier one."""
        number = len(self.attempts) + 1
        first = number if candidate.code is None else self._shapes.setdefault(shape(candidate.code), number)
        self.attempts.append(Attempt(number, candidate, verdict, None if first == number else first))
        self.best.keep(candidate, verdict)
        return self.attempts[-1]

    @property
    def reviewed(self) -> int:
        """How many attempts a reviewer has seen."""
        return self.reviews[-1].after_iteration if self.reviews else 0

    @property
    def guidance(self) -> str:
        """What the latest review advises."""
        return self.reviews[-1].guidance.text if self.reviews else ""

    @property
    def repeats_in_a_row(self) -> int:
        """How many of the latest attempts, without a new one between, repeat earlier ones."""
        return sum(1 for _ in takewhile(lambda one: one.same_as is not None, reversed(self.attempts)))
