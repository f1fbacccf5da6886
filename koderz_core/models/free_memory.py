"""The free memory of this machine: of the machine itself and of every control group that limits this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from koderz_core.config import Settings

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")
GB = 1e9
_UNLIMITED = 1 << 60
"""Version 1 of Linux's control groups has no word for "no limit", only a number that no machine reaches."""
RESERVE_SHARE = 0.1
LEAST_RESERVE, MOST_RESERVE = 0.25 * GB, 2.0 * GB


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory in bytes, of the place with the least free memory. Cached files count as free.

    ``swap_bytes``: the swap space that the machine uses.
    """

    total_bytes: int
    free_bytes: int
    place: Literal["machine", "container"] = "machine"
    swap_bytes: int = 0


def read_memory(proc: Path = PROC, cgroups: Path = CGROUPS) -> Memory | None:
    """The memory of this machine now; None if the system does not report it (not Linux)."""
    machine = _machine(proc)
    places = [*([machine] if machine else []), *_containers(proc, cgroups)]
    if not places:
        return None
    least = min(places, key=lambda place: place.free_bytes)
    return Memory(least.total_bytes, least.free_bytes, least.place, machine.swap_bytes if machine else 0)


def free_bytes() -> int | None:
    """The free memory of this machine and of its container, whichever is less; None: unknown (not Linux)."""
    memory = read_memory()
    return None if memory is None else memory.free_bytes


def reserve_bytes(total_bytes: int, settings: Settings) -> int:
    """The memory that koderz leaves free, of this total: the setting, else a tenth within bounds. 0: no watchdog."""
    if settings.memory_reserve_gb is not None:
        return int(settings.memory_reserve_gb * GB)
    return int(min(max(LEAST_RESERVE, total_bytes * RESERVE_SHARE), MOST_RESERVE, total_bytes / 4))


def _machine(proc: Path) -> Memory | None:
    with suppress(OSError, ValueError, KeyError):
        rows = dict(line.split(":", 1) for line in (proc / "meminfo").read_text().splitlines())
        total, free = (int(rows[name].split()[0]) * 1024 for name in ("MemTotal", "MemAvailable"))
        swap = [int(rows[name].split()[0]) * 1024 for name in ("SwapTotal", "SwapFree") if name in rows]
        return Memory(total, free, swap_bytes=swap[0] - swap[1] if len(swap) == 2 else 0)
    return None


def _containers(proc: Path, cgroups: Path) -> Iterator[Memory]:
    """The control groups of this process with a limit, in both versions, with all groups that contain them."""
    for base, path, files in _own_groups(proc, cgroups):
        folder = base / path.strip("/")
        for group in (folder, *folder.parents):
            if memory := _group(group, *files):
                yield memory
            if group == base:
                break


_V2 = ("memory.max", "memory.current", "inactive_file")
_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def _own_groups(proc: Path, cgroups: Path) -> Iterator[tuple[Path, str, tuple[str, str, str]]]:
    """The base folder, the path below it, and the names of a limit, of a use and of the cached files."""
    lines: list[str] = []
    with suppress(OSError):
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    for line in lines:
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if not controllers:
            yield cgroups, path, _V2
        elif "memory" in controllers.split(","):
            yield cgroups / "memory", path, _V1
    yield cgroups, "", _V2  # a container may see its own group as the root


def _group(folder: Path, limit: str, used: str, cached: str) -> Memory | None:
    with suppress(OSError, ValueError, KeyError):
        total = int((folder / limit).read_text())  # "max" if there is no limit
        statistics = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        working = int((folder / used).read_text()) - int(statistics[cached])
        return Memory(total, max(0, total - working), "container") if total < _UNLIMITED else None
    return None
