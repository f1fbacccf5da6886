"""Times as text. koderz stores times as seconds since 1970. Texts state UTC or are ISO 8601, except ``local_second``.

A time may come from another person's journal: an impossible one is shown as ``?``. Formats of other tools that require
a time receive the nearest possible one (``clamp``).
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

_LATEST = 1.8e10  # seconds: in nanoseconds, it fits into 64 bits


def clamp(at: float) -> float:
    """The nearest time from 1970 to 2540."""
    return min(max(at, 0.0), _LATEST)


def utc(at: float) -> datetime:
    """The time in UTC. Raises ValueError, OverflowError or OSError for an impossible one."""
    return datetime.fromtimestamp(at, UTC)


def iso(at: float, timespec: str = "milliseconds") -> str:
    """``2026-11-21T14:05:09.123+00:00``, for programs. Raises as ``utc``."""
    return utc(at).isoformat(timespec=timespec)


def day(at: float) -> str:
    """``2026-11-21``, in UTC."""
    return _text(at, "%Y-%m-%d")


def minute(at: float) -> str:
    """``2026-11-21 14:05 UTC``."""
    return _text(at, "%Y-%m-%d %H:%M UTC")


def second(at: float) -> str:
    """``2026-11-21 14:05:09 UTC``."""
    return _text(at, "%Y-%m-%d %H:%M:%S UTC")


def local_second(at: float) -> str:
    """``14:05:09`` on the clock of this machine, for recent times."""
    return time.strftime("%H:%M:%S", time.localtime(at))


def utc_if_possible(at: float) -> datetime | None:
    """The time in UTC; None for an impossible time."""
    try:
        return utc(at)
    except (ValueError, OverflowError, OSError):
        return None


def _text(at: float, form: str) -> str:
    found = utc_if_possible(at)
    return f"{found:{form}}" if found else "?"
