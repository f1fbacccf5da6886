"""seccomp: which system calls a process may make, for good and for all that it forks. An allow-list.

What is not on the list fails with EPERM, so that Python raises PermissionError; calls of another architecture (x32 and
i386 on x86_64) kill the process. The filter is assembled here, for x86_64 and aarch64, and needs no library.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Mapping
from typing import Literal, NamedTuple

from . import kernel, syscalls

Profile = Literal["program", "worker"]


class Filter:
    """The filter of a profile, assembled once, so that a fork has little to do to put it on itself.

    ``program``: what an untrusted program may do, after ``confine`` has set up everything else. ``worker``: what the
    worker's own processes may, in case something takes one over. Raise OSError on a machine without a table.
    """

    def __init__(self, profile: Profile, machine: str = "") -> None:
        self.code = assemble(profile, machine or os.uname().machine)
        self._own_pid = [at for at, step in enumerate(self.code) if step.value == _OWN_PID]
        steps = b"".join(struct.pack("=HBBI", *step._replace(value=max(step.value, 0))) for step in self.code)
        self._steps = ctypes.create_string_buffer(steps, len(steps))
        self._program = _Program(len(self.code), ctypes.addressof(self._steps))
        self._install = kernel.prepared(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(self._program))

    def install(self) -> None:
        """On this process, for good. Needs ``kernel.give_up_privileges`` first. Raise OSError if the kernel refuses."""
        for at in self._own_pid:
            struct.pack_into("=I", self._steps, 8 * at + 4, os.getpid())
        self._install()


class Step(NamedTuple):
    """One instruction of classic BPF: what to do, how many steps to skip if true and if false, and a constant."""

    code: int
    if_true: int
    if_false: int
    value: int


def assemble(profile: Profile, machine: str) -> list[Step]:
    """The whole filter: look at the architecture, then find the call's number in a tree of its neighbours."""
    if machine not in syscalls.MACHINES:
        raise OSError(f"system calls cannot be filtered on {machine}, only on {' and '.join(syscalls.MACHINES)}")
    rules = _program_rules(machine) if profile == "program" else _worker_rules(machine)
    check = [_load(_ARCHITECTURE), Step(_JUMP_EQUAL, 1, 0, _AUDIT[machine]), _KILL, _load(_NUMBER)]
    return [*check, *_search(_cuts(rules))]


class _Program(ctypes.Structure):
    """struct sock_fprog of linux/filter.h."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


_PR_SET_SECCOMP, _MODE_FILTER = 22, 2  # linux/prctl.h, linux/seccomp.h
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # linux/audit.h
_X32 = 0x40000000  # this bit in a number asks for the x32 ABI
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # places in struct seccomp_data
_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06  # linux/bpf_common.h
_JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_ANY_BIT = 0x15, 0x35, 0x45
_OWN_PID = -1  # stands for the process id of the process that installs the filter

_ALLOW = Step(_RETURN, 0, 0, 0x7FFF0000)
_KILL = Step(_RETURN, 0, 0, 0x80000000)
_REFUSE = Step(_RETURN, 0, 0, 0x00050000 | 1)  # EPERM
_UNKNOWN = Step(_RETURN, 0, 0, 0x00050000 | 38)  # ENOSYS: libc then asks in an older way

_Rule = list[Step]  # every way through it ends in a return


def _program_rules(machine: str) -> dict[int, _Rule]:
    number = syscalls.numbers(syscalls.WITH_ARGUMENTS, machine)
    itself = _only(0, (_OWN_PID,))  # raise_signal and abort, never a signal to another
    return {
        **{allowed: [_ALLOW] for allowed in syscalls.numbers(syscalls.PROGRAM, machine).values()},
        number["futex"]: _only(1, (0, 1, 3, 4, 5, 9, 10), ignored=0x180),  # no priority inheritance
        number["fcntl"]: _only(1, (0, 1, 2, 3, 1030)),  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC
        number["ioctl"]: _only(1, (0x5450, 0x5451, 0x5421)),  # FIONCLEX, FIOCLEX, FIONBIO
        number["socketpair"]: _pairs_streams(),
        number["prlimit64"]: _reads_own_limits(),
        number["kill"]: itself,
        number["tgkill"]: itself,
        number["clone3"]: [_UNKNOWN],
    }


def _worker_rules(machine: str) -> dict[int, _Rule]:
    number = syscalls.numbers(syscalls.WITH_ARGUMENTS, machine)
    new_namespaces = 0x7E020000  # CLONE_NEW*
    return {
        **_program_rules(machine),
        **{allowed: [_ALLOW] for allowed in syscalls.numbers(syscalls.WORKER, machine).values()},
        number["clone"]: [_load(_argument(0)), Step(_JUMP_ANY_BIT, 0, 1, new_namespaces), _REFUSE, _ALLOW],
        number["fcntl"]: _only(1, (0, 1, 2, 3, 4, 1030)),  # F_SETFL besides
        number["socketpair"]: _only(0, (1,)),  # AF_UNIX
        number["sched_setaffinity"]: _only(0, (0,)),  # of no other process
        number["prctl"]: _only(0, (1, 4, 22, 36, 38)),  # PDEATHSIG, DUMPABLE, SECCOMP, CHILD_SUBREAPER, NO_NEW_PRIVS
    }


def _only(argument: int, values: tuple[int, ...], ignored: int = 0) -> _Rule:
    """Allow if the argument, an int whose upper half the kernel does not look at, is one of ``values``."""
    masked = [Step(_AND, 0, 0, 0xFFFFFFFF & ~ignored)] if ignored else []
    tests = [Step(_JUMP_EQUAL, len(values) - at, 0, value) for at, value in enumerate(values)]
    return [_load(_argument(argument)), *masked, *tests, _REFUSE, _ALLOW]


def _reads_own_limits() -> _Rule:
    """prlimit64(0, any, NULL, any)."""
    zero = (_argument(0), _argument(2), _argument(2) + 4)
    tests = [step for place in zero for step in (_load(place), Step(_JUMP_EQUAL, 1, 0, 0), _REFUSE)]
    return [*tests, _ALLOW]


def _pairs_streams() -> _Rule:
    """socketpair(AF_UNIX, SOCK_STREAM with any flags, 0): asyncio makes one for each loop.

    What is written into one end comes out of the other and nowhere else, as long as nothing is connected, bound or sent
    with an address; a datagram socket could be sent from to any other. None of these calls is allowed anyway.
    """
    flags = 0x80800  # SOCK_CLOEXEC, SOCK_NONBLOCK
    wanted = ((0, 1, 0), (1, 1, flags), (2, 0, 0))
    tests = [
        step
        for argument, value, ignored in wanted
        for step in (
            _load(_argument(argument)),
            Step(_AND, 0, 0, 0xFFFFFFFF & ~ignored),
            Step(_JUMP_EQUAL, 1, 0, value),
            _REFUSE,
        )
    ]
    return [*tests, _ALLOW]


def _argument(index: int) -> int:
    return _ARGUMENTS + 8 * index


def _load(place: int) -> Step:
    return Step(_LOAD, 0, 0, place)


class _Cut(NamedTuple):
    """From this number on, up to the next cut, a call is treated like this."""

    first: int
    rule: _Rule


def _cuts(rules: Mapping[int, _Rule]) -> list[_Cut]:
    """All numbers in order, neighbours of the same rule as one."""
    cuts: list[_Cut] = []
    for number in range(syscalls.NEWEST + 1):
        rule = rules.get(number, [_REFUSE])
        if not cuts or cuts[-1].rule != rule:
            cuts.append(_Cut(number, rule))
    return [*cuts, _Cut(syscalls.NEWEST + 1, [_UNKNOWN]), _Cut(_X32, [_KILL])]


def _search(cuts: list[_Cut]) -> _Rule:
    """Halve until one is left: eight comparisons instead of a hundred."""
    if len(cuts) == 1:
        return cuts[0].rule
    middle = len(cuts) // 2
    below, above = _search(cuts[:middle]), _search(cuts[middle:])
    return [Step(_JUMP_GREATER_EQUAL, len(below), 0, cuts[middle].first), *below, *above]
