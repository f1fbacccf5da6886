"""What the operating system forbids the candidate's process, as far as rlimits go (tier ``limited``).

Not covered: reading files, the network, signals to processes of the same user; for root also the number of processes.
"""

from __future__ import annotations

import ctypes
import math
import os
import resource
import signal
import sys
from typing import NamedTuple

FILE_BYTES = 8 << 20
OPEN_FILES = 64
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36  # linux/prctl.h


class Limits(NamedTuple):
    """Wall time in seconds and address space in bytes that one program may take."""

    seconds: float
    memory_bytes: int


def keep_only(*kept: int) -> tuple[int, ...]:
    """Close every descriptor but ``kept``, give 0, 1, 2 to the null device; return the new numbers of ``kept``."""
    high = max(*kept, 2) + 1
    moved = [os.dup2(fd, high + place) for place, fd in enumerate(kept)]
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    final = [os.dup2(fd, 3 + place) for place, fd in enumerate(moved)]
    os.closerange(3 + len(final), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    return tuple(final)


def restrict(limits: Limits) -> None:
    """Put rlimits on this process, for good."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NPROC, 0)
    _limit(resource.RLIMIT_FSIZE, FILE_BYTES)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    _limit(resource.RLIMIT_CPU, math.ceil(limits.seconds) + 1)
    restrict_memory(limits.memory_bytes)


def restrict_memory(memory_bytes: int) -> None:
    if sys.platform != "darwin":  # its kernel refuses limits on address space
        _limit(resource.RLIMIT_AS, memory_bytes)


def _limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def die_with_parent(parent: int) -> None:
    """On Linux: be killed when the process ``parent`` dies."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before it could be said
        os._exit(1)


def guard_judge() -> None:
    """On Linux: orphans of the candidate become ours, and no other process of this user may look into this one."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_DUMPABLE, 0)


def kill_children() -> None:
    """On Linux: kill what descends from this process, until nothing does."""
    own = f"/proc/self/task/{os.getpid()}/children"
    while os.path.exists(own):  # noqa: PTH110 (pathlib would be loaded for this only)
        with open(own) as file:  # noqa: PTH123 (as above)
            children = [int(pid) for pid in file.read().split()]
        if not children:
            return
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _prctl(option: int, argument: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, argument, 0, 0, 0)
