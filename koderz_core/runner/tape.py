"""What a journal already holds of an experiment, so that it is never asked or run again.

Resume is replay: the strategy runs from its start and is answered from the tape until the tape runs out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from koderz_core.errors import PlanError

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Recorded:
    """The answer to one step, of whatever kind, and the hash of what was asked.

    ``ended_at``: seconds since 1970 (UTC); ``seconds``: what the step took.
    """

    request: str
    answer: object
    ended_at: float
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Tape:
    """The steps that were done, by ordinal. Empty for an experiment that never began.

    ``attempts``: how many times each call has been sent.
    """

    steps: Mapping[int, Recorded] = field(default_factory=dict)
    attempts: Mapping[int, int] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """What the recorded steps took when they were done; those done at the same time count once."""
        covered, reached = 0.0, 0.0
        for step in sorted(self.steps.values(), key=lambda one: one.ended_at - one.seconds):
            covered += max(0.0, min(step.seconds, step.ended_at - reached))
            reached = max(reached, step.ended_at)
        return covered

    def answer(self, ordinal: int, request: str, kind: type[Answer]) -> Answer | None:
        """The recorded answer, of this kind; None where the tape has run out.

        Raises PlanError if something else was recorded there.
        """
        recorded = self.steps.get(ordinal)
        if recorded is None:
            return None
        if recorded.request != request or not isinstance(recorded.answer, kind):
            raise PlanError(
                f"Step {ordinal} is not what the journal recorded, so prompts or code have changed since. Set that "
                f"back and go on with --retry-errors, or start anew with --fork; what is recorded stays as it is."
            )
        return recorded.answer
