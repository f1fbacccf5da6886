"""When a provider says to come back: the Retry-After of its answers (RFC 9110, section 10.2.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

LONGEST_SECONDS = 300.0
"""Nobody waits longer at a time: what a provider says may be a mistake, or meant for another day."""


def retry_after_seconds(head: Mapping[str, str], now: float) -> float | None:
    """Seconds from ``now`` (since 1970, UTC), at most ``LONGEST_SECONDS``; None if it does not say.

    Some say it in milliseconds, under a name of their own.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if (seconds := _seconds(head.get(name, ""), unit, now)) is not None:
            return min(LONGEST_SECONDS, max(0.0, seconds))
    return None


def _seconds(text: str, unit: float, now: float) -> float | None:
    try:
        seconds = float(text) * unit
    except ValueError:
        return _until(text, now)
    return seconds if math.isfinite(seconds) else None


def _until(text: str, now: float) -> float | None:
    """A date without a zone, which is an old form of it too, is of Greenwich."""
    try:
        date = parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now
    except (ValueError, OverflowError):
        return None
