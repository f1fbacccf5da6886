"""Takes keys out of all that a strategy is given, so that nothing it makes of that holds one, live and in replay.

Answers of models come redacted already: see ``GuardedModel``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from koderz_core.records import Memory, Message, Observed, PublicProblem, TestFailure, Verdict
from koderz_core.redaction import redaction_of


class Redactor:
    """Redacts records of what a strategy is given."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """``secrets``: keys to mask beside what is certainly one."""
        redaction = redaction_of(tuple(secrets))
        self.text, self._prompt = redaction.text, redaction.prompt

    def problem(self, problem: PublicProblem) -> PublicProblem:
        """What a strategy may know of a problem; what programs are judged by stays as it is."""
        return replace(problem, prompt=self._prompt(problem.prompt), preamble=self._prompt(problem.preamble))

    def message(self, message: Message) -> Message:
        """A part of a prompt."""
        return replace(message, content=self._prompt(message.content))

    def memory(self, memory: Memory) -> Memory:
        """Something remembered, which may be older than the redaction of what is remembered."""
        tags = {self.text(name): self.text(value) for name, value in memory.tags.items()}
        return Memory(self.text(memory.text), self.text(memory.origin), tags)

    def verdict(self, verdict: Verdict) -> Verdict:
        """What came of a program: it may have found a key, which an unprivileged one cannot and root can."""
        failures = tuple(self._failure(failure) for failure in verdict.failures)
        return replace(verdict, failures=failures, message=self.text(verdict.message))

    def observed(self, observed: Observed) -> Observed:
        """What a call gave."""
        value = observed.value and self.text(observed.value)
        return replace(observed, value=value, message=self.text(observed.message))

    def _failure(self, failure: TestFailure) -> TestFailure:
        return replace(
            failure,
            source=self.text(failure.source),
            expected=failure.expected and self.text(failure.expected),
            actual=failure.actual and self.text(failure.actual),
            message=self.text(failure.message),
        )


NO_KEYS = Redactor()
"""Where no key is set: masks only what looks like one."""
