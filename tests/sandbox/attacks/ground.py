"""What host attacks are after, outside the sandbox: a secret, a folder, a victim process, listeners, kernel objects."""

from __future__ import annotations

import ctypes
import hashlib
import os
import secrets
import select
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

_VICTIM = """
import os, sys, time
held = open(sys.argv[1])
os.unlink(sys.argv[1])
os.chdir(os.path.dirname(sys.argv[1]))
print("ready", flush=True)
time.sleep(120)
"""
_LIBC = ctypes.CDLL(None, use_errno=True)


class Ground:
    """Planted for one attack. ``names`` is what the attack is told, ``token`` the secret, which is not among that."""

    def __init__(self, stack: ExitStack) -> None:
        self.token = "token-" + secrets.token_hex(12)
        self._id = secrets.token_hex(3)
        # Not the folder for temporary files itself: a sandbox may show another one under the same name.
        self.folder = Path(tempfile.mkdtemp(prefix="ground-"))
        stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self._secret = self.folder / "secret"
        self._secret.write_text(self.token)
        (self.folder / self.token).mkdir()
        self._listeners = [stack.enter_context(listener) for listener in self._listening()]
        self._victim = stack.enter_context(self._living_victim())
        stack.callback(self._remove)
        self.names = {
            "SECRET": str(self._secret),
            "FOLDER": str(self.folder),
            "ID": self._id,
            "VICTIM": self._victim.pid,
            "TCP": self._listeners[0].getsockname()[1],
            "TCP6": self._listeners[1].getsockname()[1],
            "UDP": self._listeners[2].getsockname()[1],
        }
        self._before = self._state()

    def traces(self) -> list[str]:
        """What is not as it was when this ground was planted."""
        now = self._state()
        return [name for name, value in self._before.items() if now[name] != value]

    def _state(self) -> dict[str, object]:
        key = int(self._id, 16)
        return {
            "folder": [_described(path) for path in sorted(self.folder.rglob("*"))],
            "victim": _process(self._victim.pid) if self._victim.poll() is None else "dead",
            "listeners": [listener.fileno() for listener in select.select(self._listeners, [], [], 0)[0]],
            "/dev/shm": Path("/dev/shm", self._id).exists(),
            "temporary files": Path("/var/tmp", self._id).exists() or Path("/tmp", self._id).exists(),
            "System V": [_LIBC.shmget(key, 0, 0) < 0, _LIBC.semget(key, 0, 0) < 0, _LIBC.msgget(key, 0) < 0],
            "queues": _LIBC.mq_open(b"/" + self._id.encode(), os.O_RDONLY) < 0,
        }

    def _listening(self) -> Iterator[socket.socket]:
        yield socket.create_server(("127.0.0.1", 0))
        yield socket.create_server(("::1", 0), family=socket.AF_INET6)
        for family, address in (
            (socket.AF_INET, ("127.0.0.1", 0)),
            (socket.AF_UNIX, str(self.folder / "socket")),
            (socket.AF_UNIX, f"\0{self._id}"),
        ):
            listener = socket.socket(family, socket.SOCK_DGRAM)
            listener.bind(address)
            yield listener

    @contextmanager
    def _living_victim(self) -> Iterator[subprocess.Popen[bytes]]:
        """A process with the secret in its arguments and environment, and in a file that only it holds open."""
        held = self.folder / "held"
        held.write_text(self.token)
        with subprocess.Popen(
            [sys.executable, "-I", "-c", _VICTIM, str(held), self.token],
            env={"TOKEN": self.token},
            stdout=subprocess.PIPE,
            start_new_session=True,
        ) as victim:
            assert victim.stdout
            victim.stdout.readline()
            try:
                yield victim
            finally:
                victim.kill()

    def _remove(self) -> None:
        """What attacks leave beside the folder."""
        key = int(self._id, 16)
        for folder in ("/dev/shm", "/var/tmp", "/tmp"):
            Path(folder, self._id).unlink(missing_ok=True)
        for get, control in (("shmget", "shmctl"), ("msgget", "msgctl")):
            found = getattr(_LIBC, get)(key, *((0, 0) if get == "shmget" else (0,)))
            if found >= 0:
                getattr(_LIBC, control)(found, 0, None)
        if (found := _LIBC.semget(key, 0, 0)) >= 0:
            _LIBC.semctl(found, 0, 0, 0)
        _LIBC.mq_unlink(b"/" + self._id.encode())


@contextmanager
def planted() -> Iterator[Ground]:
    """A ground, and nothing of it afterwards."""
    with ExitStack() as stack:
        yield Ground(stack)


def _described(path: Path) -> tuple[object, ...]:
    with suppress(OSError):
        found = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        attributes = os.listxattr(path, follow_symlinks=False)
        stamp = 0 if path.is_dir() else found.st_mtime_ns
        return (path.name, found.st_mode, found.st_uid, found.st_size, found.st_nlink, stamp, content, attributes)
    return (path.name, "cannot be read")


def _process(pid: int) -> tuple[object, ...]:
    """All that others can change about a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    limits = Path(f"/proc/{pid}/limits").read_text()
    score = Path(f"/proc/{pid}/oom_score_adj").read_text()
    stopped = fields[0] in "Tt"
    priority = _LIBC.syscall(252 if os.uname().machine == "x86_64" else 31, 1, pid)  # ioprio_get
    scheduled = (os.sched_getaffinity(pid), os.sched_getscheduler(pid), os.getpriority(os.PRIO_PROCESS, pid))
    return (stopped, fields[1:4], limits, score, priority, scheduled)
