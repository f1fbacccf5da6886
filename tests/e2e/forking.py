"""Dashboards as forks of one process that has imported all of koderz: each saves the seconds of its imports.

What it is to start from nothing is tested where ``koderz ui`` itself is started.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
BYTES = 4  # of the length of a request, of a process number and of an exit code


class Fork:
    """A process forked from the one that has imported everything, with the methods of ``subprocess.Popen``."""

    def __init__(self, pid: int, ending: socket.socket) -> None:
        self.pid, self._ending = pid, ending
        self.returncode: int | None = None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        """Its exit code, None while it runs."""
        return self._code(0)

    def wait(self, timeout: float | None = None) -> int:
        if (code := self._code(timeout)) is None:
            raise subprocess.TimeoutExpired(f"fork {self.pid}", timeout or 0)
        return code

    def _code(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            self._ending.settimeout(timeout)
            try:
                self.returncode = int.from_bytes(self._ending.recv(BYTES), "big", signed=True)
            except (BlockingIOError, TimeoutError):
                return None
            self._ending.close()
        return self.returncode


def fork(module: str, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> Fork:
    """Run ``python -m module arguments`` in a fork, whose output goes to ``log``."""
    request = json.dumps([module, list(arguments), dict(environment), str(Path.cwd())]).encode()
    ours, theirs = socket.socketpair()
    with theirs, log.open("wb") as output:
        socket.send_fds(_forker(), [len(request).to_bytes(BYTES, "big")], [theirs.fileno(), output.fileno()])
        _forker().sendall(request)
    if not (number := ours.recv(BYTES)):  # a number of 0 would mean every process of this group
        raise RuntimeError(f"No process was forked: {log.read_text()}")
    return Fork(int.from_bytes(number, "big"), ours)


@cache
def _forker() -> socket.socket:
    """Where to ask for forks. The process behind it ends with this one."""
    ours, theirs = socket.socketpair()
    own = {name: value for name, value in os.environ.items() if not name.startswith("KODERZ_")}
    with theirs:
        subprocess.Popen(
            (sys.executable, "-P", __file__, str(theirs.fileno())),
            env=own | {"PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        ).returncode = 0  # nobody waits for it
    return ours


def main(asked: socket.socket) -> None:
    """Import all that a dashboard may need, then fork as often as asked."""
    server = import_module("pages.ui.server")
    for script in (ROOT / "app.py", *(ROOT / "pages").glob("[!_]*.py")):
        for name in server.imported_by(script):
            import_module(name)
    import_module("streamlit.web.cli")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers end unseen
    gc.freeze()  # what was imported is shared by all forks
    while True:
        head, given, *_ = socket.recv_fds(asked, BYTES, 2)
        if not head:
            return
        request = json.loads(asked.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL))
        if os.fork() == 0:
            asked.close()
            keep(request, *given)
            return
        for descriptor in given:
            os.close(descriptor)


def keep(request: tuple[str, list[str], dict[str, str], str], ending: int, output: int) -> None:
    """Fork the process, tell its number, wait for its end and tell its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if (pid := os.fork()) == 0:
        os.close(ending)
        become(*request, output)
        return
    os.close(output)
    os.write(ending, pid.to_bytes(BYTES, "big"))
    _, status = os.waitpid(pid, 0)
    os.write(ending, os.waitstatus_to_exitcode(status).to_bytes(BYTES, "big", signed=True))
    os._exit(0)


def become(module: str, arguments: list[str], environment: dict[str, str], folder: str, output: int) -> None:
    """Be that process: as if Python had been started for it."""
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
