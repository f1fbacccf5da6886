"""What a journal already holds of an experiment, so that it is never asked or run again.

Resume is replay: the strategy runs from its start and is answered from the tape until the tape runs out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from koderz_core.errors import PlanError
from koderz_core.records import Completion, Verdict


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A model's answer and the hash of the request it answers."""

    request: str
    completion: Completion


@dataclass(frozen=True, slots=True)
class RecordedTest:
    """A verdict and the hash of the candidate it is on."""

    request: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Tape:
    """Answers by ordinal, and the ordinals of notes taken. Empty for an experiment that never began.

    ``attempts``: how many times each call has been sent.
    """

    calls: Mapping[int, RecordedCall] = field(default_factory=dict)
    tests: Mapping[int, RecordedTest] = field(default_factory=dict)
    notes: frozenset[int] = frozenset()
    attempts: Mapping[int, int] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """What the recorded steps took when they were done."""
        asked = sum(call.completion.seconds for call in self.calls.values())
        return asked + sum(test.verdict.seconds for test in self.tests.values())

    def completion(self, ordinal: int, request: str) -> Completion | None:
        """The recorded answer, None where the tape has run out. Raises PlanError if another request was recorded."""
        recorded = self.calls.get(ordinal)
        if recorded is None:
            return None
        _same(recorded.request, request, ordinal)
        return recorded.completion

    def verdict(self, ordinal: int, request: str) -> Verdict | None:
        """The recorded verdict, None where the tape has run out. Raises PlanError if another candidate was recorded."""
        recorded = self.tests.get(ordinal)
        if recorded is None:
            return None
        _same(recorded.request, request, ordinal)
        return recorded.verdict


def _same(recorded: str, request: str, ordinal: int) -> None:
    if recorded != request:
        raise PlanError(
            f"Step {ordinal} is not what the journal recorded, so prompts or code have changed since. "
            f"Set that back and go on with --retry-errors, or start anew with --fork; what is recorded stays as it is."
        )
