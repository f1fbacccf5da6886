"""Which system calls a program may make: the filter is walked through as the kernel does, then really put on."""

from __future__ import annotations

import os
import signal

import pytest
from confined import ENCLOSED, FREE, STRONG, finish, needs_linux, outcome

from koderz_core.sandbox.inside import seccomp
from koderz_core.sandbox.inside.seccomp import Filter, assemble

X86_64, AARCH64 = 0xC000003E, 0xC00000B7
ALLOWED, NOT_PERMITTED, NOT_THERE, KILLED = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
OWN_PID = 4711
DANGEROUS = {  # x86_64 and aarch64
    "io_uring_setup": (425, 425), "userfaultfd": (323, 282), "add_key": (248, 217), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "kcmp": (312, 272), "personality": (135, 92), "mount": (165, 40),
    "unshare": (272, 97), "setns": (308, 268), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "inotify_init1": (294, 26), "fanotify_init": (300, 262), "shmget": (29, 194), "msgget": (68, 186),
    "semget": (64, 190), "memfd_create": (319, 279), "pidfd_open": (434, 434), "execve": (59, 221),
    "execveat": (322, 281), "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "clone": (56, 220),
    "prctl": (157, 167), "seccomp": (317, 277), "rt_sigqueueinfo": (129, 138), "tkill": (200, 130),
    "sched_setaffinity": (203, 122), "setpriority": (141, 140), "setrlimit": (160, 164), "wait4": (61, 260),
    "timer_create": (222, 107), "unlinkat": (263, 35), "mkdirat": (258, 34), "symlinkat": (266, 36),
    "linkat": (265, 37), "renameat2": (316, 276), "fchmodat": (268, 53), "utimensat": (280, 88),
    "readlinkat": (267, 78), "mincore": (27, 232), "mq_open": (240, 180), "setuid": (105, 146),
}  # fmt: skip


def answer(profile: str, machine: str, number: int, *arguments: int, architecture: int = 0) -> int:
    """What the filter returns for a call, walked through as linux/filter.h says."""
    given = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    words = [number, architecture or (X86_64 if machine == "x86_64" else AARCH64), 0, 0]
    words += [half for argument in given for half in (argument & 0xFFFFFFFF, argument >> 32 & 0xFFFFFFFF)]
    steps, at, held = assemble(profile, machine), 0, 0  # type: ignore[arg-type]  # parametrized
    while True:
        code, if_true, if_false, value = steps[at]
        value = OWN_PID if value == -1 else value
        at += 1
        if code == 0x06:
            return value
        if code == 0x20:
            held = words[value // 4]
        elif code == 0x54:
            held &= value
        else:
            true = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            at += if_true if true else if_false


machines = pytest.mark.parametrize("machine", seccomp.MACHINES)


@machines
@pytest.mark.parametrize("name", DANGEROUS)
def test_a_program_is_refused_every_dangerous_call(machine: str, name: str) -> None:
    assert answer("program", machine, DANGEROUS[name][seccomp.MACHINES.index(machine)]) == NOT_PERMITTED


@machines
def test_a_program_gets_only_the_calls_that_are_on_the_list(machine: str) -> None:
    listed = set(seccomp.numbers(seccomp.PROGRAM, machine).values())
    by_argument = set(seccomp.numbers(seccomp.WITH_ARGUMENTS, machine).values())
    allowed = {number for number in range(600) if answer("program", machine, number, 1 << 20) == ALLOWED}
    assert listed <= allowed <= listed | by_argument


@machines
def test_calls_of_another_architecture_kill(machine: str) -> None:
    getpid = seccomp.numbers(seccomp.PROGRAM, machine)["getpid"]
    assert answer("program", machine, getpid, architecture=0x40000003) == KILLED  # i386
    assert answer("program", machine, 0x40000000 + getpid) == KILLED  # x32
    assert answer("program", machine, 0xFFFFFFFF) == KILLED


@machines
def test_newer_calls_than_the_table_are_as_if_the_kernel_had_none(machine: str) -> None:
    assert answer("program", machine, 435) == NOT_THERE  # clone3, which libc replaces by clone then
    assert answer("program", machine, seccomp.NEWEST + 1) == NOT_THERE


@machines
@pytest.mark.parametrize("call", ["kill", "tgkill"])
def test_a_program_can_signal_itself_only(machine: str, call: str) -> None:
    number = seccomp.numbers(seccomp.WITH_ARGUMENTS, machine)[call]
    assert answer("program", machine, number, OWN_PID) == ALLOWED
    assert {answer("program", machine, number, pid) for pid in (0, 1, OWN_PID + 1, 2**32 - 1)} == {NOT_PERMITTED}


@machines
def test_a_program_can_read_its_own_limits_only(machine: str) -> None:
    number = seccomp.numbers(seccomp.WITH_ARGUMENTS, machine)["prlimit64"]
    assert answer("program", machine, number, 0, 7, 0, 1 << 40) == ALLOWED
    assert answer("program", machine, number, 1, 7, 0, 1 << 40) == NOT_PERMITTED
    assert answer("program", machine, number, 0, 7, 1) == NOT_PERMITTED
    assert answer("program", machine, number, 0, 7, 1 << 40) == NOT_PERMITTED  # a pointer of which the low half is 0


@machines
def test_a_program_can_make_pairs_of_unix_streams_only(machine: str) -> None:
    number = seccomp.numbers(seccomp.WITH_ARGUMENTS, machine)["socketpair"]
    unix, inet, stream, datagram, flags = 1, 2, 1, 2, 0x80000 | 0x800
    assert {answer("program", machine, number, unix, stream | more) for more in (0, flags)} == {ALLOWED}
    for refused in ((inet, stream), (unix, datagram), (unix, datagram | flags), (unix, 5), (unix, stream, 1)):
        assert answer("program", machine, number, *refused) == NOT_PERMITTED, refused


@machines
def test_a_program_cannot_have_signals_sent_by_a_descriptor(machine: str) -> None:
    number = seccomp.numbers(seccomp.WITH_ARGUMENTS, machine)["fcntl"]
    set_owner, set_signal, set_lease = 8, 10, 1024
    assert {answer("program", machine, number, 3, command) for command in (set_owner, set_signal, set_lease)} == {
        NOT_PERMITTED
    }
    assert answer("program", machine, number, 3, 1) == ALLOWED


@machines
def test_a_worker_forks_but_makes_no_namespaces_sockets_or_programs(machine: str) -> None:
    number = {name: numbers[seccomp.MACHINES.index(machine)] for name, numbers in DANGEROUS.items()}
    assert answer("worker", machine, number["clone"], signal.SIGCHLD) == ALLOWED
    assert answer("worker", machine, number["clone"], 0x10000000 | signal.SIGCHLD) == NOT_PERMITTED  # a user namespace
    assert answer("worker", machine, number["socketpair"], 1) == ALLOWED
    assert answer("worker", machine, number["socketpair"], 2) == NOT_PERMITTED
    for name in ("execve", "execveat", "socket", "connect", "ptrace", "unshare", "mount", "bpf"):
        assert answer("worker", machine, number[name]) == NOT_PERMITTED, name
    assert answer("worker", machine, number["memfd_create"], 0, 1) == ALLOWED  # for a program's standard streams
    for flags in (0, 2, 4, 16):  # sealing, huge pages, executable
        assert answer("worker", machine, number["memfd_create"], 0, flags) == NOT_PERMITTED


def test_other_machines_are_named_in_the_refusal() -> None:
    with pytest.raises(OSError, match="riscv64, only on x86_64 and aarch64"):
        Filter("program", "riscv64")


REFUSED = {
    "fork": "os.fork() or os._exit(0); print('done')",
    "socket": "import socket; socket.socket(); print('done')",
    "pair of datagram sockets": "import socket; socket.socketpair(type=socket.SOCK_DGRAM); print('done')",
    "signal": "os.kill(os.getppid(), 0); print('done')",
    "signal to all": "os.kill(0, 0); print('done')",
    "pipe": "os.pipe(); print('done')",
    "shared memory": "os.memfd_create('x'); print('done')",
    "other program": "import subprocess; subprocess.run(['/bin/true']); print('done')",
    "links": "os.readlink('/proc/self/exe'); print('done')",
    "priority": "os.setpriority(os.PRIO_PROCESS, 0, 19); print('done')",
}


@needs_linux
@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_is_a_permission_error(what: str) -> None:
    assert outcome(REFUSED[what], FREE) == "done"
    assert outcome(REFUSED[what], STRONG) == "PermissionError"


@needs_linux
def test_threads_are_refused() -> None:
    code = "import threading; threading.Thread(target=print).start(); print('done')"
    assert outcome(code, FREE) == "done"
    assert outcome(code, STRONG) == "RuntimeError"


@needs_linux
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="x32 is x86_64's")
def test_a_call_through_x32_ends_the_process() -> None:
    code = "import ctypes; ctypes.CDLL(None).syscall(0x40000000 + 39); print('done')"
    assert outcome(code, FREE) == "done"
    assert finish(code, STRONG).returncode == -signal.SIGSYS


@needs_linux
def test_a_filter_made_before_the_fork_knows_the_forks_own_pid() -> None:
    code = """
made = seccomp.Filter('program')
if os.fork() == 0:
    made.install()
    os.kill(os.getpid(), 15)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    assert outcome(code, ENCLOSED) == "-15"


HONEST = """
import abc, array, ast, base64, bisect, calendar, cmath, collections, contextlib, copy, csv, datetime, decimal, difflib
import enum, fractions, functools, hashlib, heapq, html, inspect, io, itertools, json, logging, math, numbers, operator
import pickle, pprint, queue, random, re, secrets, sqlite3, statistics, string, struct, tempfile, textwrap, threading
import time, timeit, typing, unicodedata, unittest, urllib.parse, uuid, xml.etree.ElementTree, zlib, zoneinfo
assert hashlib.sha256(b'').hexdigest()[:4] == 'e3b0' and decimal.Decimal(1) / 3 and uuid.uuid4() and secrets.token_hex()
assert datetime.datetime.now(zoneinfo.ZoneInfo('Europe/Berlin')) if os.path.exists('/usr/share/zoneinfo') else True
assert sqlite3.connect(':memory:').execute('select 1').fetchone() == (1,)
with open(os.devnull, 'w') as null, contextlib.redirect_stdout(null):
    print('nowhere')
threading.Lock().acquire(timeout=0.01)
time.sleep(0.001)
print(time.strftime('done', time.localtime()))
"""


@needs_linux
def test_honest_programs_do_not_notice() -> None:
    assert outcome(HONEST, STRONG) == "done"


@machines
@pytest.mark.parametrize("profile", ["tests", "tests-alone"])
def test_tests_of_a_repository_may_write_files_and_start_threads_but_no_processes(profile: str, machine: str) -> None:
    at = seccomp.MACHINES.index(machine)
    assert answer(profile, machine, DANGEROUS["mkdirat"][at]) == ALLOWED
    assert answer(profile, machine, DANGEROUS["clone"][at], 0x3D0F00) == ALLOWED  # as pthread_create
    assert answer(profile, machine, DANGEROUS["clone"][at], 0x01200011) == NOT_PERMITTED  # as fork
    assert answer(profile, machine, DANGEROUS["clone"][at], 0x10000000 | 0x10000) == NOT_PERMITTED  # a user namespace
    refused = ("execve", "execveat", "socket", "connect", "ptrace", "mount", "unshare", "setuid", "memfd_create")
    assert {answer(profile, machine, DANGEROUS[name][at]) for name in refused} == {NOT_PERMITTED}
    changes_modes = answer(profile, machine, DANGEROUS["fchmodat"][at]) == ALLOWED
    assert changes_modes is (profile == "tests-alone")
