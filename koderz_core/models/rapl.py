"""The energy counters of this machine's processors (RAPL: Intel, and AMD since Zen), as Linux shows them in sysfs.

The interface: https://docs.kernel.org/power/powercap/powercap.html. The counters cover the processors and, on some
machines, the memory; they do not cover other parts, such as disks, fans and the power supply. They count everything
that runs on the processors, also other programs. Since 2020, only root may read them by default.
"""

from __future__ import annotations

from pathlib import Path

from koderz_core.models.machine import Joules

POWERCAP = Path("/sys/class/powercap")
MICRO = 1e6  # the counters are in microjoules


class _Zone:
    """One counter. It restarts at 0 after ``limit``; a wrap between two readings is added, further ones are unknown."""

    def __init__(self, folder: Path) -> None:
        self._counter = folder / "energy_uj"
        self._limit = _number(folder / "max_energy_range_uj")
        self._last, self._total = _number(self._counter), 0

    def read(self) -> int:
        """The energy since the zone was opened. Raises OSError, ValueError."""
        now = _number(self._counter)
        self._total += (now - self._last) % self._limit if now < self._last else now - self._last
        self._last = now
        return self._total


def cpu_joules(folder: Path = POWERCAP) -> Joules:
    """A counter of all processors of this machine; it returns None if a counter is missing or may not be read."""
    try:
        # Only these zones: the cores are parts of a package, and other interfaces show the same packages again.
        zones = [_Zone(zone) for zone in sorted(folder.glob("intel-rapl:*")) if _name(zone) in ("package", "dram")]
    except (OSError, ValueError):
        return lambda: None

    def joules() -> float | None:
        try:
            return sum(zone.read() for zone in zones) / MICRO
        except (OSError, ValueError):
            return None

    return joules if zones else lambda: None


def _name(zone: Path) -> str:
    """``package`` of ``package-0``."""
    return (zone / "name").read_text().strip().partition("-")[0]


def _number(path: Path) -> int:
    return int(path.read_text())
