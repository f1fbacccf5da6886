"""The best candidate so far."""

from __future__ import annotations

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
