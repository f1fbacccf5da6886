"""The zygote: a small warm interpreter that has seen neither programs nor tests and is forked for every program.

A fork of a warm interpreter costs a tenth of starting one. The channel of each candidate is its own and comes from
the judge, so that nothing that one program leaves behind can reach the next.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import time
from contextlib import suppress

from . import candidate, confine, landlock, seccomp
from .rehearsal import rehearse
from .wire import Channel

_DEATH_SECONDS = 0.5  # how long a process that hung up may take to die before it is killed
_FORK, _WAIT, _END = b"f", b"w", b"e"
_ALIVE = 1 << 16  # an exit that no process can have


class Zygote:
    """The judge's end: one candidate at a time."""

    def __init__(self, readable: landlock.Readable | None) -> None:
        """Fork the zygote, before anything of a problem is read. ``readable`` None: rlimits are all there is."""
        self._control, theirs = socket.socketpair()
        self._candidate_pid = 0
        judge_pid = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            _live(judge_pid, theirs, readable)
        theirs.close()

    def fork(self) -> Channel:
        """A fresh candidate's process, and the channel to it."""
        mine, theirs = socket.socketpair()
        socket.send_fds(self._control, [_FORK], [theirs.fileno()])
        theirs.close()
        self._candidate_pid = self._read_int()
        fd = mine.detach()
        return Channel(fd, fd)

    def kill(self) -> None:
        """Kill the candidate; its number is nobody else's until ``end``."""
        with suppress(ProcessLookupError):
            os.kill(self._candidate_pid, signal.SIGKILL)

    def wait(self) -> int | None:
        """How the candidate exited by itself, negative for a signal; None if it lives on after half a second."""
        self._control.send(_WAIT)
        code = self._read_int()
        return None if code == _ALIVE else code

    def end(self) -> None:
        """Kill the candidate and all it has started, and wait for that."""
        self._control.send(_END)
        self._read_int()

    def close(self) -> None:
        """Let it end, and wait for that."""
        self._control.close()
        os.waitpid(self._pid, 0)

    def _read_int(self) -> int:
        answer = self._control.recv(4)
        if len(answer) < 4:
            raise EOFError("the zygote is gone")
        return int.from_bytes(answer, "big", signed=True)


def _live(judge_pid: int, control: socket.socket, readable: landlock.Readable | None) -> None:
    """The zygote's whole life. Whatever ends it, it never returns into the judge's code."""
    try:
        confine.die_with_parent(judge_pid)
        confine.adopt_orphans()
        control = socket.socket(fileno=confine.keep_only(control.detach())[0])
        if readable:
            landlock.restrict(readable)  # a domain of its own, so that it cannot signal the judge
        system_calls = seccomp.Filter("program") if readable else None
        confine.prepared(boxed=bool(readable))
        rehearse()
        gc.freeze()  # a collection in a fork would copy every page it looks at
        while _serve(control, system_calls):
            pass
    finally:
        os._exit(0)


def _serve(control: socket.socket, system_calls: seccomp.Filter | None) -> bool:
    """One candidate from fork to end; False when the judge is gone."""
    order, fds, _flags, _address = socket.recv_fds(control, 1, 1)
    if not order:
        return False
    zygote_pid = os.getpid()
    pid = os.fork()
    if pid == 0:
        _live_as_candidate(zygote_pid, fds[0], system_calls)
    os.close(fds[0])
    _tell(control, pid)
    going_on = _end_when_told(control, pid)
    if not system_calls:
        confine.kill_children()
    if going_on:
        _tell(control, 0)
    return going_on


def _end_when_told(control: socket.socket, pid: int) -> bool:
    """Reap the candidate; False when the judge is gone."""
    exit_code: int | None = None
    while (order := control.recv(1)) == _WAIT:
        exit_code = _exited(pid) if exit_code is None else exit_code
        _tell(control, _ALIVE if exit_code is None else exit_code)
    if exit_code is None:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return order == _END


def _exited(pid: int) -> int | None:
    deadline = time.monotonic() + _DEATH_SECONDS
    while time.monotonic() < deadline:
        exited, status = os.waitpid(pid, os.WNOHANG)
        if exited:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    return None


def _tell(control: socket.socket, number: int) -> None:
    control.send(number.to_bytes(4, "big", signed=True))


def _live_as_candidate(zygote_pid: int, fd: int, system_calls: seccomp.Filter | None) -> None:
    """The candidate's whole life. Whatever ends it, it never returns into the zygote's code."""
    try:
        confine.die_with_parent(zygote_pid)
        (kept,) = confine.keep_only(fd)
        candidate.serve(Channel(kept, kept), system_calls)
    finally:
        os._exit(0)
