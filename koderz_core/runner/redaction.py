"""Takes the user's keys out of what programs gave back, before it is journalled or shown to a model.

A program that finds a key (an unprivileged one cannot, root can) must not get it out through its answer. Only keys as
they are set are found, not what a program made of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from koderz_core.records import Observed, TestFailure, Verdict

MASK = "[secret]"


def without(text: str, secrets: Iterable[str]) -> str:
    """The text with every occurrence of these secrets masked; the longest first, since one may begin another."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


class Redactor:
    """Replaces every occurrence of some secrets; without any it does nothing."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = tuple(secret for secret in secrets if len(secret) >= 8)  # shorter ones are words

    def verdict(self, verdict: Verdict) -> Verdict:
        """The verdict without the secrets in any of its texts."""
        if not self._secrets:
            return verdict
        failures = tuple(self._failure(failure) for failure in verdict.failures)
        return replace(verdict, failures=failures, message=self._text(verdict.message))

    def observed(self, observed: Observed) -> Observed:
        """What a call gave, without the secrets in it."""
        value = observed.value and self._text(observed.value)
        return replace(observed, value=value, message=self._text(observed.message))

    def _failure(self, failure: TestFailure) -> TestFailure:
        return replace(
            failure,
            source=self._text(failure.source),
            expected=failure.expected and self._text(failure.expected),
            actual=failure.actual and self._text(failure.actual),
            message=self._text(failure.message),
        )

    def _text(self, text: str) -> str:
        return without(text, self._secrets)


NOTHING_SECRET = Redactor(())
