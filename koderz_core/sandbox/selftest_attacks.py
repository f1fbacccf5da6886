"""Programs that attack the machine, for the self-test of a judge, and what they find there to attack."""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from koderz_core.sandbox.folders import folder
from koderz_core.sandbox.selftest_programs import small_problem

BLOCKED = "blocked"
PROBLEM = small_problem("attack", f"def check(candidate):\n    assert candidate(0) == {BLOCKED!r}")


@dataclass(frozen=True, slots=True)
class Attack:
    """``lines`` raise an OSError, MemoryError or RuntimeError if they are blocked. ``limited``: by that tier, too."""

    name: str
    lines: str
    limited: bool = False
    quick: bool = False


ATTACKS = (
    Attack("reads a file", "open(SECRET).read()", quick=True),
    Attack("lists a folder", "os.listdir(FOLDER)"),
    Attack("reads the keys of koderz", "open(f'/proc/{HOST}/environ', 'rb').read()", quick=True),
    Attack("writes a file", "open(FOLDER + '/new', 'w').close()", quick=True),
    Attack("removes a file", "os.unlink(FOLDER + '/kept')"),
    Attack("links a file", "os.symlink(SECRET, FOLDER + '/link')"),
    Attack("connects to a server", "socket.create_connection(('127.0.0.1', PORT), 1)", quick=True),
    Attack("sends a datagram", "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))"),
    Attack("makes a socket with a name", "socket.socket(socket.AF_UNIX).bind(FOLDER + '/socket')"),
    Attack("signals koderz", "os.kill(HOST, 0)"),
    Attack("starts a process", "os.fork() or os._exit(0)", quick=True),
    Attack("starts a shell", "subprocess.run(['/bin/sh', '-c', ':'])"),
    Attack("becomes another program", "os.execv('/bin/sh', ['sh', '-c', ':'])"),
    Attack("starts a thread", "threading.Thread(target=int).start()"),
    Attack("makes namespaces of its own", "if ctypes.CDLL(None).unshare(0x10020000): raise OSError"),
    Attack("reserves eight gigabytes", "mmap.mmap(-1, 8 << 30, flags=0x4022)", limited=True, quick=True),
    Attack("opens thousands of files", "held = [os.open('/', 0) for _ in range(5000)]", limited=True),
    Attack("makes a file of eight gigabytes", "open('big', 'wb').truncate(8 << 30)", limited=True),
)


@dataclass(frozen=True, slots=True)
class Ground:
    """What attacks are told of, made for them: a file, its folder, a port on loopback, the number of this process."""

    folder: Path
    server: socket.socket

    def program(self, attack: Attack) -> str:
        """The program of an attack: what it answers says whether it was blocked."""
        told = {"SECRET": str(self.folder / "secret"), "FOLDER": str(self.folder), "HOST": os.getpid()}
        told["PORT"] = self.server.getsockname()[1]
        given = "".join(f"{name} = {value!r}\n" for name, value in told.items())
        return (
            f"import ctypes, mmap, os, socket, subprocess, threading\n{given}def attack(x):\n    try:\n"
            f"        {attack.lines}\n    except (OSError, MemoryError, RuntimeError):\n        return {BLOCKED!r}\n"
            f"    return 'got through'\n"
        )

    def traces(self) -> str:
        """What an attack has left, as seen from outside; empty if nothing."""
        names = sorted(path.name for path in self.folder.iterdir())
        if names != ["kept", "secret"]:
            return f"its folder holds {', '.join(names)}"
        return "it was connected to" if select.select([self.server], [], [], 0)[0] else ""


@contextmanager
def planted() -> Iterator[Ground]:
    """A ground, and nothing of it afterwards."""
    with folder() as made, socket.create_server(("127.0.0.1", 0)) as server:
        for file in ("kept", "secret"):
            (made / file).write_text("secret")
        yield Ground(made, server)
