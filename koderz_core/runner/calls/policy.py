"""Whether a failed attempt is followed by another one, and when."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from koderz_core.errors import ModelError


@dataclass(frozen=True, slots=True)
class Policy:
    """Up to ``retries`` more attempts, each after a random part of a wait that doubles ("full jitter").

    (M. Brooker, Exponential Backoff and Jitter, AWS Architecture Blog, 2015.) ``random`` gives numbers from 0 to 1.
    """

    retries: int = 7
    first_wait_seconds: float = 1.0
    longest_wait_seconds: float = 60.0
    random: Callable[[], float] = random.random

    def retries_after(self, failures: Sequence[ModelError]) -> int:
        """How many times a call that failed so far like this may be tried again in all."""
        error = failures[-1]
        if not error.retryable or error.retries is None:
            return self.retries if error.retryable else 0
        others = sum(one.retries is None for one in failures)
        return min(self.retries, error.retries + others)

    def wait(self, failures: Sequence[ModelError]) -> float | None:
        """Seconds until the next attempt after these, None if there is no point in one.

        A provider that says when to come back is believed.
        """
        error, failed = failures[-1], len(failures)
        if failed > self.retries_after(failures):
            return None
        at_most = min(self.longest_wait_seconds, self.first_wait_seconds * 2.0 ** (failed - 1))
        if error.retry_after_seconds is None:
            return self.random() * at_most
        return error.retry_after_seconds + self.random() * min(at_most, self.first_wait_seconds)
