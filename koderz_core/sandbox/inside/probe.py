"""A script that tries to break out of a tier as a program would, and prints the successful attacks as JSON.

It takes the same steps as a worker: it encloses itself, forks, and restricts the fork, which then attacks.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

_SECONDS, _MEMORY_BYTES = 2.0, 512 << 20


class Target(NamedTuple):
    """The host's targets for attacks: a file, a folder, a TCP port on loopback, and its process."""

    file: str
    folder: str
    port: int
    pid: int


def main() -> None:
    """Print one object: ``refused`` with the reason why this tier cannot be set up, or ``open`` and ``broken``."""
    sys.path.insert(0, __file__.rsplit("/", 2)[0])
    confine, landlock, seccomp = (import_module(f"inside.{name}") for name in ("confine", "landlock", "seccomp"))
    sys.path.pop(0)
    import_module("socket")
    order = json.loads(sys.argv[1])
    system_calls = None
    try:
        if order["boxed"]:
            readable = landlock.Readable(**order["readable"])
            confine.enclose(readable)
            landlock.restrict(readable)
            system_calls = seccomp.Filter("program")
    except OSError as error:
        print(json.dumps({"refused": str(error)}))  # noqa: T201 (the script's answer)
        return
    print(_attack(confine, system_calls, Target(*order["target"])))  # noqa: T201 (as above)


def _attack(confine: Any, system_calls: Any, target: Target) -> str:  # Any: a module loaded by name, and its filter
    """The output of the fork: JSON, empty if it died."""
    answers, answer = os.pipe()
    parent_pid = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            confine.die_with_parent(parent_pid)
            (kept,) = confine.keep_only(answer)
            confine.restrict(confine.Limits(_SECONDS, _MEMORY_BYTES), system_calls)
            os.write(
                kept,
                json.dumps(
                    {
                        "open": [name for name, attack in _ATTACKS.items() if _succeeds(attack, target)],
                        "broken": _broken(),
                    }
                ).encode(),
            )
        finally:
            os._exit(0)
    os.close(answer)
    with os.fdopen(answers) as output:
        text = output.read()
    os.waitpid(pid, 0)
    return text


def _succeeds(attack: Callable[[Target], object], target: Target) -> bool:
    try:
        attack(target)
    except (OSError, MemoryError):
        return False
    return True


def _broken() -> str:
    """The first error of code that honest programs need, as one line; empty if it works."""
    try:
        for name in ("decimal", "hashlib", "random", "zoneinfo"):
            import_module(name)
        import_module("hashlib").sha256(b"").hexdigest()
        open(os.devnull, "w").close()  # noqa: PTH123 (pathlib would be loaded for this only)
    except Exception as error:  # noqa: BLE001 (any error makes the tier unusable)
        return f"{type(error).__name__}: {error}"[:300]
    return ""


def _connect(target: Target) -> None:
    import_module("socket").create_connection(("127.0.0.1", target.port), 1).close()


def _send_datagram(target: Target) -> None:
    socket = import_module("socket")
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"", ("127.0.0.1", target.port))


def _start_process(_target: Target) -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _execute(_target: Target) -> None:
    try:
        os.execv("/nonexistent", ["/nonexistent"])  # noqa: S606 (never succeeds)
    except FileNotFoundError:
        return  # it was looked for


_ATTACKS: dict[str, Callable[[Target], object]] = {
    "reads files": lambda target: _read(target.file),
    "reads other processes' environment": lambda target: _read(f"/proc/{target.pid}/environ"),
    "writes files": lambda target: open(f"{target.folder}/written", "w").close(),  # noqa: PTH123 (as above)
    "connects to servers": _connect,
    "sends datagrams": _send_datagram,
    "signals koderz": lambda target: os.kill(target.pid, 0),
    "signals its parent": lambda _target: os.kill(os.getppid(), 0),
    "starts processes": _start_process,
    "executes other programs": _execute,
    "takes more memory than allowed": lambda _target: bytearray(2 * _MEMORY_BYTES),
}


def _read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 (as above)
        return file.read(1)


if __name__ == "__main__":
    main()
