"""Outbound connections of this data folder's processes, as the egress gate has logged them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from koderz_core import egress
from koderz_core.config import Settings
from koderz_core.egress import FLUSH_SECONDS, KEPT_DAYS, Traffic
from koderz_core.errors import UsageError

__all__ = ["DAY", "FLUSH_SECONDS", "KEPT_DAYS", "Network", "Traffic", "seconds_of"]

DAY = 86_400.0
_UNITS = {"m": 60.0, "h": 3600.0, "d": DAY}


def seconds_of(text: str) -> float:
    """The seconds of ``90m``, ``12h`` or ``1d``. Raises UsageError."""
    parts = re.fullmatch(r"(\d{1,5})([mhd])", text.strip())
    seconds = int(parts[1]) * _UNITS[parts[2]] if parts else 0.0
    if not 0 < seconds <= KEPT_DAYS * DAY:
        raise UsageError(
            f"{text!r} is not a valid period. Write a number followed by m, h or d, such as 90m, 12h or 1d. The "
            f"maximum is {KEPT_DAYS}d, because the log keeps each connection for {KEPT_DAYS} days."
        )
    return seconds


@dataclass(frozen=True)
class Network:
    """Reads the log of outbound connections. Counts of other processes arrive within ``FLUSH_SECONDS``."""

    settings: Settings
    clock: Callable[[], float] = time.time

    @property
    def offline(self) -> bool:
        """Whether KODERZ_OFFLINE is set for this process."""
        return self.settings.offline

    def traffic(self, seconds: float = DAY) -> list[Traffic]:
        """The traffic of the last ``seconds``, addresses beyond this machine first."""
        egress.log_in(self.settings.home).flush()
        return egress.read(self.settings.home, self.clock() - seconds)
