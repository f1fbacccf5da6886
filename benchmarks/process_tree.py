"""The processor time and memory of a tree of processes, by ``/proc`` (Linux), and the share of all other processes."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_CORES = os.cpu_count() or 1
ADOPT_ORPHANS = 36  # prctl(2), PR_SET_CHILD_SUBREAPER: whoever is orphaned below a process becomes its child


@dataclass(frozen=True, slots=True)
class Process:
    """A line of ``/proc/*/stat``. ``cpu_seconds``: its own and that of the children that it has waited for."""

    pid: int
    parent: int
    state: str
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Spent:
    """``seconds`` of wall time, ``cpu_seconds`` of one tree, and the share of the machine that all others used."""

    seconds: float
    cpu_seconds: float
    others: float


class Meter:
    """Starts when it is created."""

    def __init__(self) -> None:
        self._own, self._busy, self._began = _own_cpu_seconds(), _busy_seconds(), time.perf_counter()

    def spent(self) -> Spent:
        seconds = time.perf_counter() - self._began
        own, busy = _own_cpu_seconds() - self._own, _busy_seconds() - self._busy
        return Spent(seconds, own, max(0.0, busy - own) / (seconds * _CORES))


def descendants(pid: int) -> list[Process]:
    """All running processes that ``pid`` started, without itself."""
    found = list(_processes())
    family, last = [], {pid}
    while last:
        children = [process for process in found if process.parent in last]
        family += children
        last = {child.pid for child in children}
    return family


def pss_bytes(pid: int, part: str = "Pss") -> int | None:
    """Memory, with shared memory divided by its users; None if the system does not report it.

    ``part`` "Pss_Anon": without files, whose share grows when another process that has them open ends.
    """
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith(f"{part}:"):
                return int(line.split()[1]) << 10
    return None


def tree_pss_bytes(pid: int) -> int | None:
    """Of ``pid`` and all that it started; a process that has just ended counts nothing."""
    family = [pid, *(process.pid for process in descendants(pid) if process.state != "Z")]
    parts = [pss_bytes(member) for member in family if Path(f"/proc/{member}").exists()]
    if not any(parts):
        return None
    return sum(part or 0 for part in parts)


def workers() -> list[int]:
    """Children of this process."""
    own = os.getpid()
    return [process.pid for process in _processes() if process.parent == own and process.state != "Z"]


def bury() -> None:
    """Wait for the children of this process that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def machine() -> str:
    """One line about the machine."""
    kernel, python = platform.release(), platform.python_version()
    return f"{_processor()}, {_CORES} cores, Linux {kernel}, Python {python}"


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def _processes() -> Iterator[Process]:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            yield Process(int(stat.parent.name), int(fields[1]), fields[0], sum(map(int, fields[11:15])) / _TICKS)


def _own_cpu_seconds() -> float:
    own = os.times()
    return (
        own.user
        + own.system
        + own.children_user
        + own.children_system
        + sum(process.cpu_seconds for process in descendants(os.getpid()))
    )


def _busy_seconds() -> float:
    """Of all cores since the machine started."""
    user, nice, system, _idle, _waiting, irq, softirq, steal = map(int, _cpu_line().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / _TICKS


def _cpu_line() -> str:
    return Path("/proc/stat").read_text().partition("\n")[0]
