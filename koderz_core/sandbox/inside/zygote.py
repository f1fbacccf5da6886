"""The zygote: a small warm interpreter that has received neither programs nor tests and is forked for every program.

A fork of a warm interpreter takes a tenth of the time of starting one. Each candidate has its own channel, which the
judge creates, so that nothing that a program leaves behind can reach the next one.
"""

from __future__ import annotations

import gc
import os
import selectors
import signal
import socket
import time
from contextlib import suppress
from importlib import import_module

from . import candidate, confine, core, landlock, seccomp
from .rehearsal import rehearse
from .wire import Channel

_DEATH_SECONDS = 0.5  # time for a process that closed its channel to end, before it is killed
_FORK, _WAIT, _END, _MOVE, _LEARN = b"f", b"w", b"e", b"m", b"l"
_ALIVE = 1 << 16  # an exit code that no process can have


class ZygoteGoneError(BaseException):
    """The zygote has died, so the worker can run no more programs. The current program is not the cause."""


class Zygote:
    """The judge's end: one candidate at a time; the next one is forked while the current one works."""

    def __init__(self, readable: landlock.Readable | None) -> None:
        """Fork the zygote, before any problem is read. ``readable`` is None at tier ``limited``."""
        self._control, theirs = socket.socketpair()
        self._ahead: socket.socket | None = None  # the channel to the next candidate
        self._ahead_pid = self._candidate_pid = 0
        self._spent = 0.0  # processor time of the candidates that have ended
        self._has_unittest = False
        self._forks_ahead = readable is not None  # otherwise a program could find the next candidate and hide in it
        judge_pid = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            _live(judge_pid, theirs, readable)
        theirs.close()

    def fork(self) -> Channel:
        """The channel to a fresh candidate's process."""
        mine = self._ahead or self._ordered()
        self._candidate_pid = self._ahead_pid or self._read_int()
        self._ahead, self._ahead_pid = None, 0
        fd = mine.detach()
        return Channel(fd, fd)

    def prepare(self) -> None:
        """Have the next candidate forked, unless that is done."""
        if self._forks_ahead and not self._ahead:
            self._ahead = self._ordered()

    def kill(self) -> None:
        """Kill the candidate. Its process id is not reused before ``end``."""
        with suppress(ProcessLookupError):
            os.kill(self._candidate_pid, signal.SIGKILL)

    def wait(self) -> int | None:
        """The exit code of the candidate, negative for a signal; None if it is still alive after half a second."""
        self._order(_WAIT)
        if self._ahead and not self._ahead_pid:
            self._ahead_pid = self._read_int()  # it was sent before
        code = self._read_int()
        return None if code == _ALIVE else code

    def end(self) -> None:
        """Have the candidate and its child processes killed."""
        self._spent += _processor_seconds(self._candidate_pid)
        self._order(_END)

    def spent(self) -> float:
        """Processor time of the zygote and all candidates that have ended, in seconds."""
        return self._spent + _processor_seconds(self._pid)

    def spent_by_candidate(self) -> float:
        """Processor time of the current candidate in seconds; 0 if it is unknown."""
        return _processor_seconds(self._candidate_pid)

    def move(self, core: int) -> None:
        """Move the zygote and its later candidates to another core."""
        self._order(_MOVE + core.to_bytes(2, "big"))

    def learn_unittest(self) -> None:
        """Have ``unittest`` imported once for all later candidates, which takes longer than most tests."""
        if not self._has_unittest:
            self._has_unittest = True
            self._order(_LEARN)

    def close(self) -> None:
        """Let the zygote end, and wait for its end."""
        self._control.close()
        os.waitpid(self._pid, 0)

    def _ordered(self) -> socket.socket:
        mine, theirs = socket.socketpair()
        self._order(_FORK, theirs.fileno())
        theirs.close()
        return mine

    def _order(self, order: bytes, *fds: int) -> None:
        try:
            socket.send_fds(self._control, [order], fds)
        except OSError as error:
            raise ZygoteGoneError from error

    def _read_int(self) -> int:
        answer = self._control.recv(4, socket.MSG_WAITALL)
        if len(answer) < 4:
            raise ZygoteGoneError
        return int.from_bytes(answer, "big", signed=True)


def _processor_seconds(pid: int) -> float:
    with suppress(OSError):  # a process that is gone
        return time.clock_gettime((~pid << 3) | 2)  # as clock_getcpuclockid(3) in Linux' C libraries
    return 0.0


def _live(judge_pid: int, control: socket.socket, readable: landlock.Readable | None) -> None:
    """The whole life of the zygote. It never returns into the judge's code, even after an error."""
    try:
        confine.die_with_parent(judge_pid)
        confine.adopt_orphans()
        control = socket.socket(fileno=confine.keep_only(control.detach())[0])
        if readable:
            landlock.restrict(readable)  # its own domain, so that it cannot signal the judge
            selectors.DefaultSelector = selectors.PollSelector  # type: ignore[misc, assignment]  # asyncio's; programs have no epoll
        system_calls = seccomp.Filter("program") if readable else None
        confine.prepared(boxed=bool(readable))
        rehearse()
        gc.freeze()  # a collection in a fork would copy every page that it reads
        _Candidates(control, system_calls).serve()
    finally:
        os._exit(0)


class _Candidates:
    """The zygote's end: candidates in the order in which they were forked. The first one is working."""

    def __init__(self, control: socket.socket, system_calls: seccomp.Filter | None) -> None:
        self._control = control
        self._system_calls = system_calls
        self._pids: list[int] = []
        self._exit_code: int | None = None  # of the first one, once it is reaped

    def serve(self) -> None:
        """Serve orders until the judge is gone."""
        while True:
            order, fds, _flags, _address = socket.recv_fds(self._control, 1, 1)
            if order == _FORK:
                self._tell(self._forked(fds[0]))
            elif order == _WAIT:
                self._tell(self._exited())
            elif order == _END:
                self._end()
            elif order == _LEARN:
                import_module("unittest")
                gc.freeze()
            elif order == _MOVE:
                core.settle(int.from_bytes(self._control.recv(2, socket.MSG_WAITALL), "big"))
            else:
                break
        while self._pids:
            self._end()

    def _forked(self, fd: int) -> int:
        zygote_pid = os.getpid()
        pid = os.fork()
        if pid == 0:
            _live_as_candidate(zygote_pid, fd, self._system_calls)
        os.close(fd)
        self._pids.append(pid)
        return pid

    def _exited(self) -> int:
        deadline = time.monotonic() + _DEATH_SECONDS
        while self._exit_code is None and time.monotonic() < deadline:
            exited, status = os.waitpid(self._pids[0], os.WNOHANG)
            if exited:
                self._exit_code = os.waitstatus_to_exitcode(status)
            else:
                time.sleep(0.001)
        return _ALIVE if self._exit_code is None else self._exit_code

    def _end(self) -> None:
        pid = self._pids.pop(0)
        if self._exit_code is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self._exit_code = None
        if not self._system_calls:
            confine.kill_children()

    def _tell(self, number: int) -> None:
        self._control.send(number.to_bytes(4, "big", signed=True))


def _live_as_candidate(zygote_pid: int, fd: int, system_calls: seccomp.Filter | None) -> None:
    """The whole life of a candidate. It never returns into the zygote's code, even after an error."""
    try:
        confine.die_with_parent(zygote_pid)
        kept = confine.keep_channel(fd)
        candidate.serve(Channel(kept, kept), system_calls)
    finally:
        os._exit(0)
