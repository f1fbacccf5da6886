"""seccomp: a permanent allow-list of system calls for a process and its children.

Other calls fail with EPERM, so that Python raises PermissionError; calls of another architecture (x32 and i386 on
x86_64) kill the process. The filter is assembled here, for x86_64 and aarch64, without a library. The numbers are those
of Linux's unistd_64.h (x86_64) and asm-generic/unistd.h (aarch64); those of aarch64 have not been tested on such a
machine. prctl, capabilities and raw system calls are here as well, because Python's library lacks them.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, NamedTuple

Profile = Literal["program", "worker", "tests", "tests-alone"]
MACHINES = ("x86_64", "aarch64")
# Allowed with certain arguments only.
WITH_ARGUMENTS = """
    futex 202 98        fcntl 72 25         ioctl 16 29         prlimit64 302 261   kill 62 129
    tgkill 234 131      clone 56 220        clone3 435 435      socketpair 53 199   prctl 157 167
    sched_setaffinity 203 122               memfd_create 319 279
"""
NEWEST = 462
"""The last number that was reviewed (mseal, Linux 6.10). Later calls fail as if the kernel did not have them."""
_PR_SET_NO_NEW_PRIVS = 38  # linux/prctl.h
_CAPABILITY_VERSION_3 = 0x20080522  # linux/capability.h

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class Filter:
    """The filter of a profile, assembled once, so that a fork can install it quickly.

    ``program``: the calls of an untrusted program, after ``confine`` has set up everything else. ``worker``: the calls
    of the worker's own processes, in case an attack takes one over. ``tests``: the calls of the tests of a repository,
    which may write files where Landlock allows it and start threads; ``tests-alone`` adds changes of the mode and times
    of files, which Landlock does not limit, for a process that sees no files of others. Raises OSError on a machine
    without a table.
    """

    def __init__(self, profile: Profile, machine: str = "") -> None:
        self.code = assemble(profile, machine or os.uname().machine)
        self._own_pid = [at for at, step in enumerate(self.code) if step.value == _OWN_PID]
        steps = b"".join(struct.pack("=HBBI", *step._replace(value=max(step.value, 0))) for step in self.code)
        self._steps = ctypes.create_string_buffer(steps, len(steps))
        self._program = _Program(len(self.code), ctypes.addressof(self._steps))
        self._install = prepared(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(self._program))

    def install(self) -> None:
        """Install it on this process permanently, after ``give_up_privileges``. Raises OSError on refusal."""
        for at in self._own_pid:
            struct.pack_into("=I", self._steps, 8 * at + 4, os.getpid())
        self._install()


class Step(NamedTuple):
    """One instruction of classic BPF: the operation, the steps to skip if true and if false, and a constant."""

    code: int
    if_true: int
    if_false: int
    value: int


def assemble(profile: Profile, machine: str) -> list[Step]:
    """The whole filter: it checks the architecture, then finds the call's number by binary search."""
    if machine not in MACHINES:
        raise OSError(f"system calls cannot be filtered on {machine}, only on {' and '.join(MACHINES)}")
    rules = _RULES[profile](machine)
    check = [_load(_ARCHITECTURE), Step(_JUMP_EQUAL, 1, 0, _AUDIT[machine]), _KILL, _load(_NUMBER)]
    return [*check, *_search(_cuts(rules))]


class _Program(ctypes.Structure):
    """struct sock_fprog of linux/filter.h."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


_PR_SET_SECCOMP, _MODE_FILTER = 22, 2  # linux/prctl.h, linux/seccomp.h
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # linux/audit.h
_X32 = 0x40000000  # this bit in a number selects the x32 ABI
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06  # linux/bpf_common.h
_JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_ANY_BIT = 0x15, 0x35, 0x45
_OWN_PID = -1  # replaced by the id of the process that installs the filter

_ALLOW = Step(_RETURN, 0, 0, 0x7FFF0000)
_KILL = Step(_RETURN, 0, 0, 0x80000000)
_REFUSE = Step(_RETURN, 0, 0, 0x00050000 | 1)  # EPERM
_UNKNOWN = Step(_RETURN, 0, 0, 0x00050000 | 38)  # ENOSYS: libc then uses an older call

_Rule = list[Step]  # every path through it ends with a return


def _program_rules(machine: str) -> dict[int, _Rule]:
    number = numbers(WITH_ARGUMENTS, machine)
    itself = _only(0, (_OWN_PID,))  # raise_signal and abort, never a signal to another
    return {
        **{allowed: [_ALLOW] for allowed in numbers(PROGRAM, machine).values()},
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
    number = numbers(WITH_ARGUMENTS, machine)
    new_namespaces = 0x7E020000  # CLONE_NEW*
    return {
        **_program_rules(machine),
        **{allowed: [_ALLOW] for allowed in numbers(WORKER, machine).values()},
        number["clone"]: [_load(_argument(0)), Step(_JUMP_ANY_BIT, 0, 1, new_namespaces), _REFUSE, _ALLOW],
        number["fcntl"]: _only(1, (0, 1, 2, 3, 4, 1030)),  # also F_SETFL
        number["socketpair"]: _only(0, (1,)),  # AF_UNIX
        number["sched_setaffinity"]: _only(0, (0,)),  # only of this process
        number["memfd_create"]: _only(1, (1,)),  # MFD_CLOEXEC: a program's standard input and output
        number["prctl"]: _only(0, (1, 4, 22, 36, 38)),  # PDEATHSIG, DUMPABLE, SECCOMP, CHILD_SUBREAPER, NO_NEW_PRIVS
    }


def _tests_rules(machine: str) -> dict[int, _Rule]:
    number = numbers(WITH_ARGUMENTS, machine)
    thread, new_namespaces = 0x10000, 0x7E020000  # CLONE_THREAD, CLONE_NEW*
    return {
        **_program_rules(machine),
        **{allowed: [_ALLOW] for allowed in numbers(TESTS, machine).values()},
        number["clone"]: [
            *(_load(_argument(0)), Step(_JUMP_ANY_BIT, 0, 1, new_namespaces), _REFUSE),
            *(Step(_JUMP_ANY_BIT, 0, 1, thread), _ALLOW, _REFUSE),
        ],
        # also F_SETFL, F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW
        number["fcntl"]: _only(1, (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030)),
    }


def _tests_alone_rules(machine: str) -> dict[int, _Rule]:
    return {**_tests_rules(machine), **{allowed: [_ALLOW] for allowed in numbers(ALONE, machine).values()}}


_RULES: dict[Profile, Callable[[str], dict[int, _Rule]]] = {
    "program": _program_rules,
    "worker": _worker_rules,
    "tests": _tests_rules,
    "tests-alone": _tests_alone_rules,
}


def _only(argument: int, values: tuple[int, ...], ignored: int = 0) -> _Rule:
    """Allow the call if the argument, an int whose upper half the kernel ignores, is one of ``values``."""
    masked = [Step(_AND, 0, 0, 0xFFFFFFFF & ~ignored)] if ignored else []
    tests = [Step(_JUMP_EQUAL, len(values) - at, 0, value) for at, value in enumerate(values)]
    return [_load(_argument(argument)), *masked, *tests, _REFUSE, _ALLOW]


def _reads_own_limits() -> _Rule:
    """prlimit64(0, any, NULL, any)."""
    zero = (_argument(0), _argument(2), _argument(2) + 4)
    tests = [step for place in zero for step in (_load(place), Step(_JUMP_EQUAL, 1, 0, 0), _REFUSE)]
    return [*tests, _ALLOW]


def _pairs_streams() -> _Rule:
    """Allow socketpair(AF_UNIX, SOCK_STREAM with any flags, 0), which asyncio calls once per loop.

    Data written to one end arrives only at the other, unless the program connects, binds or sends to an address. A
    datagram socket could send to any other socket. None of these calls is allowed anyway.
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
    """The rule for calls from this number on, up to the next cut."""

    first: int
    rule: _Rule


def _cuts(rules: Mapping[int, _Rule]) -> list[_Cut]:
    """All numbers in order; neighbours with the same rule form one cut."""
    cuts: list[_Cut] = []
    for number in range(NEWEST + 1):
        rule = rules.get(number, [_REFUSE])
        if not cuts or cuts[-1].rule != rule:
            cuts.append(_Cut(number, rule))
    return [*cuts, _Cut(NEWEST + 1, [_UNKNOWN]), _Cut(_X32, [_KILL])]


def _search(cuts: list[_Cut]) -> _Rule:
    """A binary search: eight comparisons instead of a hundred."""
    if len(cuts) == 1:
        return cuts[0].rule
    middle = len(cuts) // 2
    below, above = _search(cuts[:middle]), _search(cuts[middle:])
    return [Step(_JUMP_GREATER_EQUAL, len(below), 0, cuts[middle].first), *below, *above]


# Calls that an interpreter needs to load modules of the standard library, compute, wait, and answer. Landlock limits
# the files that may be opened. No processes, threads, sockets, shared memory, or changes to a file system.
PROGRAM = """
    read 0 63           readv 19 65         pread64 17 67       write 1 64          writev 20 66
    close 3 57          lseek 8 62          open 2 -            openat 257 56       dup 32 23
    stat 4 -            lstat 6 -           fstat 5 80          newfstatat 262 79   statx 332 291
    access 21 -         faccessat 269 48    faccessat2 439 439  getdents64 217 61   getcwd 79 17
    mmap 9 222          munmap 11 215       mprotect 10 226     mremap 25 216       madvise 28 233
    brk 12 214          sigaltstack 131 132 rt_sigaction 13 134 rt_sigprocmask 14 135 rt_sigreturn 15 139
    restart_syscall 219 128                 exit 60 93          exit_group 231 94   getpid 39 172       getppid 110 173
    gettid 186 178      getuid 102 174      geteuid 107 175     getgid 104 176      getegid 108 177
    getrandom 318 278   clock_gettime 228 113 clock_getres 229 114 clock_nanosleep 230 115 nanosleep 35 101
    gettimeofday 96 169 time 201 -          times 100 153       getrusage 98 165    sched_yield 24 124
    sched_getaffinity 204 123               getcpu 309 168      uname 63 160        sysinfo 99 179
    select 23 -         pselect6 270 72     poll 7 -            ppoll 271 73        setitimer 38 103
    getitimer 36 102    alarm 37 -          pause 34 -          getrlimit 97 163
"""
# Further calls of the worker's own processes, which fork, watch and kill candidates, pass descriptors over a pair of
# sockets, and restrict themselves and their children further.
WORKER = """
    kill 62 129         tgkill 234 131      wait4 61 260        waitid 247 95
    pipe 22 -           pipe2 293 59        dup2 33 -           dup3 292 24         close_range 436 436
    sendmsg 46 211      recvmsg 47 212      sendto 44 206       recvfrom 45 207     shutdown 48 210
    getsockname 51 204  getsockopt 55 209
    epoll_create1 291 20 epoll_ctl 233 21   epoll_wait 232 -    epoll_pwait 281 22  eventfd2 290 19
    pidfd_open 434 434  pidfd_send_signal 424 424               rt_sigtimedwait 128 137 rt_sigsuspend 130 133
    set_robust_list 273 99 rseq 334 293     setsid 112 157      setrlimit 160 164   prlimit64 302 261
    seccomp 317 277     landlock_create_ruleset 444 444         landlock_add_rule 445 445
    landlock_restrict_self 446 446          capset 126 91
"""

# Further calls of the tests of a repository: files, pipes and threads, but no processes. The only sockets are pairs of
# stream sockets, so that sending reaches only itself. Not truncate, which old versions of Landlock do not limit.
TESTS = """
    mkdir 83 -          mkdirat 258 34      rmdir 84 -          unlink 87 -         unlinkat 263 35     creat 85 -
    rename 82 -         renameat 264 38     renameat2 316 276   link 86 -           linkat 265 37
    symlink 88 -        symlinkat 266 36    readlink 89 -       readlinkat 267 78   chdir 80 49         fchdir 81 50
    ftruncate 77 46     fallocate 285 47    fsync 74 82         fdatasync 75 83     flock 73 32         umask 95 166
    pwrite64 18 68      pwritev 296 70      copy_file_range 326 285                 sendfile 40 71
    statfs 137 43       fstatfs 138 44      fadvise64 221 223   msync 26 227
    getxattr 191 8      lgetxattr 192 9     fgetxattr 193 10    listxattr 194 11    llistxattr 195 12  flistxattr 196 13
    dup2 33 -           dup3 292 24         pipe 22 -           pipe2 293 59        close_range 436 436
    sendto 44 206       recvfrom 45 207     sendmsg 46 211      recvmsg 47 212      shutdown 48 210
    getsockname 51 204  getpeername 52 205  getsockopt 55 209   setsockopt 54 208
    epoll_create1 291 20 epoll_ctl 233 21   epoll_wait 232 -    epoll_pwait 281 22  eventfd2 290 19
    wait4 61 260        waitid 247 95       rt_sigtimedwait 128 137                 rt_sigpending 127 136
    set_robust_list 273 99 rseq 334 293     membarrier 324 283  getpgid 121 155     getpgrp 111 -
    getgroups 115 158
"""
# For a process that sees only its own files.
ALONE = """
    chmod 90 -          fchmod 91 52        fchmodat 268 53     fchmodat2 452 452
    utime 132 -         utimes 235 -        futimesat 261 -     utimensat 280 88    truncate 76 45
"""


def numbers(table: str, machine: str) -> dict[str, int]:
    """The numbers of a table's calls on ``machine``, by name."""
    words = table.split()
    column = 1 + MACHINES.index(machine)
    return {words[at]: int(words[at + column]) for at in range(0, len(words), 3) if words[at + column] != "-"}


def prctl(option: int, *arguments: int) -> None:
    """Call prctl. Raises OSError if the kernel refuses."""
    prepared(option, *arguments)()


@cache
def prepared(option: int, *arguments: int) -> Callable[[], None]:
    """A later call of prctl, whose ctypes objects are made now, because that takes longest in a fresh fork.

    The call raises OSError if the kernel refuses.
    """
    values = (ctypes.c_int(option), *(ctypes.c_ulong(argument) for argument in [*arguments, 0, 0, 0, 0][:4]))

    def call() -> None:
        if _libc.prctl(*values) != 0:
            raise _refused(f"prctl {option}")

    return call


def syscall(number: int, *arguments: Any) -> int:  # Any: integers and ctypes pointers
    """The result of a system call. Raises OSError if the kernel refuses."""
    values = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    result: int = _libc.syscall(ctypes.c_long(number), *values)
    if result < 0:
        raise _refused(f"system call {number}")
    return result


def give_up_privileges() -> None:
    """Give up the capabilities of root and forbid this process and its children to gain privileges."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)  # 0: this process
    none = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable, twice 32 bits each
    if _libc.capset(header, none) != 0:
        raise _refused("capset")


def _refused(call: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{call}: {os.strerror(number)}")
