"""Times as text. koderz keeps a time as seconds since 1970; every text says UTC or is ISO 8601, but for one.

A time may come from somebody else's journal: what is none is ``?`` where a person reads it.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime


def utc(at: float) -> datetime:
    """Raises ValueError, OverflowError or OSError for what is no time."""
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
    """``14:05:09`` on the clock of this machine: for what is near, beside that clock."""
    return time.strftime("%H:%M:%S", time.localtime(at))


def _text(at: float, form: str) -> str:
    try:
        return f"{utc(at):{form}}"
    except (ValueError, OverflowError, OSError):
        return "?"
