"""Restrictions by the operating system on the worker's processes, and further ones on the candidate's.

In the strong tiers the worker encloses itself once, before it receives a program, and each candidate restricts itself
further. Tier ``limited`` has rlimits only. It does not cover reading files, the network and signals to processes of the
same user; for root it also does not limit the number of processes.
"""

from __future__ import annotations

import math
import os
import resource
import signal
import sys
from functools import cache
from typing import NamedTuple

from . import landlock, seccomp

FILE_BYTES = 8 << 20  # size limit of a file, at tiers that allow writing
OPEN_FILES = 64
STACK_BYTES = 8 << 20  # without a limit, endless recursion in C would use up the memory instead
_FIRST = 3  # descriptor after the standard ones
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36  # linux/prctl.h


class Limits(NamedTuple):
    """The limits of one program: wall time in seconds, address space in bytes, and the size of its files in memory.

    ``file_bytes`` is 0 for a program without such files. Programs cannot write other files in the strong tiers.
    """

    seconds: float
    memory_bytes: int
    file_bytes: int = 0


def keep_only(*kept: int) -> tuple[int, ...]:
    """Close every descriptor except ``kept``, open the null device as 0, 1, 2; return the new numbers of ``kept``."""
    high = max(*kept, 2) + 1
    moved = [os.dup2(fd, high + place) for place, fd in enumerate(kept)]
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    final = [os.dup2(fd, _FIRST + place) for place, fd in enumerate(moved)]
    os.closerange(_FIRST + len(final), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    return tuple(final)


def keep_channel(fd: int) -> int:
    """As ``keep_only(fd)``, in a fork of a process that has called it and opened few descriptors since then."""
    os.dup2(fd, _FIRST)
    os.closerange(_FIRST + 1, OPEN_FILES)
    return _FIRST


def enclose(readable: landlock.Readable) -> None:
    """Allow the worker and its forks only these files, no network and no new programs. For the strong tiers.

    The judge calls it once, before it forks the zygote. The zygote then calls ``landlock.restrict`` again, so that it
    and its candidates cannot signal the judge. All other modules must be imported before.
    Raises OSError if the kernel does not support it.
    """
    seccomp.give_up_privileges()
    landlock.restrict(readable)
    seccomp.Filter("worker").install()


def restrict(limits: Limits, system_calls: seccomp.Filter | None) -> None:
    """Set rlimits on this process permanently, and in the strong tiers the filter for programs.

    Call it after ``keep_only``. Raises OSError if the kernel refuses.
    """
    ready = prepared(boxed=system_calls is not None)
    seconds = math.ceil(limits.seconds) + 1
    for kind, both in ready.fixed:
        if kind != resource.RLIMIT_FSIZE or not limits.file_bytes:
            resource.setrlimit(kind, both)
    if limits.file_bytes:
        file_bytes = min(limits.file_bytes, _most(resource.RLIMIT_FSIZE))
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    # SIGXCPU, which names the cause; a second later SIGKILL
    resource.setrlimit(resource.RLIMIT_CPU, (min(seconds, ready.cpu_seconds), min(seconds + 1, ready.cpu_seconds)))
    if sys.platform != "darwin":  # its kernel refuses limits on address space
        memory_bytes = min(limits.memory_bytes, ready.memory_bytes)
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    if system_calls:
        system_calls.install()


class Prepared(NamedTuple):
    """Limits that are the same for every program, and the maximum of the two others."""

    fixed: tuple[tuple[int, tuple[int, int]], ...]
    cpu_seconds: int
    memory_bytes: int


@cache
def prepared(boxed: bool) -> Prepared:
    """Computed once. The zygote calls it before it forks, which saves each fork 0.1 ms."""
    values = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_FSIZE: 0 if boxed else FILE_BYTES,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_STACK: STACK_BYTES,
    }
    bounded = {kind: min(value, _most(kind)) for kind, value in values.items()}
    return Prepared(
        fixed=tuple((kind, (value, value)) for kind, value in bounded.items()),
        cpu_seconds=_most(resource.RLIMIT_CPU),
        memory_bytes=_most(resource.RLIMIT_AS),
    )


def _most(kind: int) -> int:
    hard = resource.getrlimit(kind)[1]
    return sys.maxsize if hard == resource.RLIM_INFINITY else hard


def restrict_memory(memory_bytes: int) -> None:
    """Limit the address space of this process, in bytes, permanently."""
    if sys.platform != "darwin":  # its kernel refuses limits on address space
        most = min(memory_bytes, _most(resource.RLIMIT_AS))
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def die_with_parent(parent: int) -> None:
    """On Linux: have the kernel kill this process when the process ``parent`` dies."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the call
        os._exit(1)


def guard_judge() -> None:
    """On Linux: adopt orphans of candidates, and let no other process of this user inspect this one."""
    adopt_orphans()
    _prctl(_PR_SET_DUMPABLE, 0)


def adopt_orphans() -> None:
    """On Linux: the children of a descendant that dies become children of this process."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def kill_children() -> None:
    """On Linux, in tier ``limited``: kill the children of this process until none is left.

    In the strong tiers there are no children, since programs cannot fork, and no ``/proc`` to read.
    """
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
        seccomp.prctl(option, argument)
