"""Whether an embedded model fits into the memory that is free, known before it is loaded."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.models.provider import Lack
from koderz_core.models.weights_download import Weights

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")


def lack_of_memory(weights: Weights, settings: Settings) -> Lack | None:
    """Why the model cannot be loaded now; None if it fits, or if this system does not tell what is free."""
    needed, free = needed_bytes(weights, settings.num_ctx), free_bytes()
    if free is None or needed <= free:
        return None
    return Lack(
        f"it needs {needed / 1e9:.1f} GB of memory with a context of {settings.num_ctx} tokens, and "
        f"{free / 1e9:.1f} GB are free",
        "Close other programs, lower KODERZ_NUM_CTX, or use a smaller model: `koderz models list` shows which fit",
    )


def needed_bytes(weights: Weights, num_ctx: int) -> int:
    """The memory of a loaded model whose whole context is in use."""
    return weights.size_bytes + weights.working_bytes + num_ctx * weights.context_bytes


def free_bytes(meminfo: Path = _MEMINFO, cgroup: Path = _CGROUP) -> int | None:
    """What this process may still take: of the machine's memory, and of its container's. None: unknown (no Linux)."""
    limits = [free for free in (_of_machine(meminfo), _of_container(cgroup)) if free is not None]
    return min(limits, default=None)


def _of_machine(meminfo: Path) -> int | None:
    with suppress(OSError, ValueError, KeyError):
        rows = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
        return int(rows["MemAvailable"].split()[0]) * 1024
    return None


def _of_container(cgroup: Path) -> int | None:
    """By version 2 of Linux's control groups. Files that are only cached count as free, as they do for the machine."""
    with suppress(OSError, ValueError, KeyError):
        limit = int((cgroup / "memory.max").read_text())  # "max" where there is none
        statistics = dict(line.split() for line in (cgroup / "memory.stat").read_text().splitlines())
        used = int((cgroup / "memory.current").read_text()) - int(statistics["inactive_file"])
        return max(0, limit - used)
    return None
