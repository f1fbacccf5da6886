"""Calls of the Linux kernel that Python's library has no function for: prctl, capabilities, bare system calls."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from typing import Any

_PR_SET_NO_NEW_PRIVS = 38  # linux/prctl.h
_CAPABILITY_VERSION_3 = 0x20080522  # linux/capability.h

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def prctl(option: int, *arguments: int) -> None:
    """Raise OSError if the kernel refuses."""
    prepared(option, *arguments)()


@cache
def prepared(option: int, *arguments: int) -> Callable[[], None]:
    """A call of prctl for later. What ctypes makes for it is made now: in a fresh fork that takes longer than the call.

    The call raises OSError if the kernel refuses.
    """
    given = (ctypes.c_int(option), *(ctypes.c_ulong(one) for one in [*arguments, 0, 0, 0, 0][:4]))

    def call() -> None:
        if _libc.prctl(*given) != 0:
            raise _refused(f"prctl {option}")

    return call


def syscall(number: int, *arguments: Any) -> int:  # Any: integers and ctypes pointers
    """What the kernel returns. Raise OSError if it refuses."""
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result: int = _libc.syscall(ctypes.c_long(number), *given)
    if result < 0:
        raise _refused(f"system call {number}")
    return result


def give_up_privileges() -> None:
    """For this process and all that it starts: no program may raise its rights, and root is left no power of root."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)  # 0: this process
    none = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable, twice 32 bits each
    if _libc.capset(header, none) != 0:
        raise _refused("capset")


def _refused(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")
