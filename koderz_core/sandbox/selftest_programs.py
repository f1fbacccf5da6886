"""Programs of the self-test of a judge: right, wrong and cheating solutions of small problems, and attacks.

Attacks target a secret file, a folder, a port and a process made for them, and leave no trace if they are blocked.
"""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from koderz_core.records import Problem, PublicProblem, TestSet
from koderz_core.sandbox.folders import folder

SECONDS = 10.0
"""Time limit of each program instead of the judge's own, so that honest programs also pass on a busy machine."""
BLOCKED = "blocked"


def small_problem(entry_point: str, tests: str, solution: str = "") -> Problem:
    """A problem of the self-test's own family."""
    return Problem(PublicProblem(f"selftest/{entry_point}", "", entry_point), TestSet(tests, SECONDS), solution)


PROBLEM = small_problem("attack", f"def check(candidate):\n    assert candidate(0) == {BLOCKED!r}")


@dataclass(frozen=True, slots=True)
class Try:
    """A program for one of ``PROBLEMS``. ``quick``: it is also part of the short form."""

    name: str
    code: str
    problem: str = "double"
    quick: bool = False


_DOUBLE = (
    "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(2) == 4\n    assert candidate(21) == 42"
)
_HALF = (
    "import math\ndef check(candidate):\n    assert math.isclose(candidate(3.0), 1.5)\n"
    "    assert abs(candidate(5) - 2.5) < 1e-6"
)
_ORDER = "def check(candidate):\n    given = [3, 1, 2]\n    assert candidate(given) == sorted(given)"
_COUNT = "def check(candidate):\n    assert list(candidate(3)) == [1, 2, 3]\n    assert sum(candidate(4)) == 10"
_ROOT = (
    "def check(candidate):\n    assert candidate(9) == 3\n    try:\n        candidate(-1)\n"
    "    except ValueError as error:\n        assert str(error) == 'negative'\n    else:\n        assert False"
)
_ODD = "def check(candidate):\n    assert all(map(candidate, [1, 3, 5]))"
DOUBLES = "def double(x):\n    return 2 * x"
PROBLEMS: Mapping[str, Problem] = {
    "double": small_problem("double", _DOUBLE, DOUBLES),
    "half": small_problem("half", _HALF, "def half(x):\n    return x / 2"),
    "order": small_problem("order", _ORDER, "def order(items):\n    return sorted(items)"),
    "count": small_problem("count", _COUNT, "def count(n):\n    yield from range(1, n + 1)"),
    "odd": small_problem("odd", _ODD, "def odd(x):\n    return x % 2 == 1"),
    "root": small_problem(
        "root",
        _ROOT,
        "def root(x):\n    if x < 0:\n        raise ValueError('negative')\n    return x ** 0.5",
    ),
}

_ZERO = "\ndef double(x):\n    return 0"
_YES = "class Yes{}:\n    __eq__ = lambda *_: True\n    __hash__ = None\ndef double(x):\n    return Yes()"

WRONG = (
    Try("gives another number", _ZERO, quick=True),
    Try("is not Python", "def double(x) return x", quick=True),
    Try("is correct for one input only", "def double(x):\n    return 2"),
    Try("raises an exception", "def double(x):\n    raise KeyError(x)"),
)
CHEATS = (
    Try("exits with code 0 when it is loaded", "import sys\nsys.exit(0)", quick=True),
    Try("exits without cleanup when it is loaded", "import os\nos._exit(0)"),
    Try("exits when it is called", "import os\ndef double(x):\n    os._exit(0)", quick=True),
    Try(
        "exits in the hook for uncaught exceptions",
        "import os, sys\nsys.excepthook = lambda *_: os._exit(0)\ndef double(x):\n    raise ValueError",
    ),
    Try("exits with code 0 at the end", "import atexit, os\natexit.register(os._exit, 0)" + _ZERO),
    Try(
        "exits on a timer while the tests wait for it",
        "import os, signal, time\nsignal.signal(signal.SIGALRM, lambda *_: os._exit(0))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.02)\ndef double(x):\n    time.sleep(0.2)",
    ),
    Try("returns an object that equals everything", _YES.format(""), quick=True),
    Try("returns a number that equals everything", _YES.format("(int)"), quick=True),
    Try(
        "returns an object that claims to be a number",
        "class Int:\n    __class__ = int\n    __eq__ = lambda *_: True\ndouble = lambda x: Int()",
    ),
    Try("returns an object that has every method", "from unittest.mock import MagicMock\ndouble = MagicMock()"),
    Try(
        "returns a number that is close to every number",
        "class Near(float):\n    __sub__ = __rsub__ = __abs__ = lambda *_: 0.0\ndef half(x):\n    return Near(9)",
        "half",
    ),
    Try(
        "returns a list that yields items which it does not contain",
        "class List(list):\n    __iter__ = lambda self: iter([1, 2, 3])\n    __eq__ = lambda *_: True\n"
        "def count(n):\n    return List()",
        "count",
    ),
    Try(
        "raises an exception of several types",
        "class Any(ValueError, TypeError): pass\ndef root(x):\n    raise Any",
        "root",
    ),
    Try("raises StopIteration inside an iteration", "def odd(x):\n    raise StopIteration", "odd", quick=True),
    Try("prints a fake verdict", "print('PPP', '{\"passed\": true}')" + _ZERO),
    Try(
        "writes a fake verdict to every file descriptor",
        'import os\nfor fd in range(64):\n    try: os.write(fd, b\'{"marks": "PPP", "completed": true}\')\n'
        "    except OSError: pass" + _ZERO,
        quick=True,
    ),
    Try(
        "reads the expected values from its caller",
        "import sys\ndef double(x):\n    held = sys._getframe(1).f_code.co_consts\n"
        "    return next((one for one in held if type(one) is int and one > x), 0)",
    ),
    Try(
        "looks for the tests in memory",
        "import gc\ndef double(x):\n    found = [one.__code__.co_consts for one in gc.get_objects()\n"
        "        if getattr(one, '__name__', '') == 'check']\n"
        "    return next((one for held in found for one in held if one == 2 * x), 0)",
    ),
    Try(
        "makes Python remove the asserts from the tests",
        "import builtins, functools\nbuiltins.compile = functools.partial(compile, optimize=2)" + _ZERO,
    ),
    Try(
        "replaces math.isclose and abs",
        "import builtins, math\nmath.isclose = lambda *_: True\nbuiltins.abs = lambda x: 0\ndef half(x):\n    return 9",
        "half",
    ),
    Try(
        "empties the list that its result is compared with",
        "def order(items):\n    items.clear()\n    return []",
        "order",
    ),
)


@dataclass(frozen=True, slots=True)
class Attack:
    """``lines`` raise OSError, MemoryError or RuntimeError if they are blocked. ``limited``: also at that tier."""

    name: str
    lines: str
    limited: bool = False
    quick: bool = False


ATTACKS = (
    Attack("reads a file", "open(SECRET).read()", quick=True),
    Attack("lists a folder", "os.listdir(FOLDER)"),
    Attack(
        "reads the API keys of koderz",
        "open(f'/proc/{HOST}/environ', 'rb').read()",
        quick=True,
    ),
    Attack("writes a file", "open(FOLDER + '/new', 'w').close()", quick=True),
    Attack("removes a file", "os.unlink(FOLDER + '/kept')"),
    Attack("links a file", "os.symlink(SECRET, FOLDER + '/link')"),
    Attack("connects to a server", "socket.create_connection(('127.0.0.1', PORT), 1)", quick=True),
    Attack("sends a datagram", "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))"),
    Attack("creates a named Unix socket", "socket.socket(socket.AF_UNIX).bind(FOLDER + '/socket')"),
    Attack("signals koderz", "os.kill(HOST, 0)"),
    Attack("starts a process", "os.fork() or os._exit(0)", quick=True),
    Attack("starts a shell", "subprocess.run(['/bin/sh', '-c', ':'])"),
    Attack("executes another program", "os.execv('/bin/sh', ['sh', '-c', ':'])"),
    Attack("starts a thread", "threading.Thread(target=int).start()"),
    Attack("creates Linux namespaces", "if ctypes.CDLL(None).unshare(0x10020000): raise OSError"),
    Attack("reserves eight gigabytes", "mmap.mmap(-1, 8 << 30, flags=0x4022)", limited=True, quick=True),
    Attack("opens thousands of files", "held = [os.open('/', 0) for _ in range(5000)]", limited=True),
    Attack("creates a file of eight gigabytes", "open('big', 'wb').truncate(8 << 30)", limited=True),
)


@dataclass(frozen=True, slots=True)
class Ground:
    """The targets of attacks: a file, its folder, a port on loopback, and this process."""

    folder: Path
    server: socket.socket

    def program(self, attack: Attack) -> str:
        """The program of an attack, whose answer says whether it was blocked."""
        targets = {"SECRET": str(self.folder / "secret"), "FOLDER": str(self.folder), "HOST": os.getpid()}
        targets["PORT"] = self.server.getsockname()[1]
        constants = "".join(f"{name} = {value!r}\n" for name, value in targets.items())
        return (
            f"import ctypes, mmap, os, socket, subprocess, threading\n{constants}def attack(x):\n    try:\n"
            f"        {attack.lines}\n    except (OSError, MemoryError, RuntimeError):\n        return {BLOCKED!r}\n"
            f"    return 'got through'\n"
        )

    def traces(self) -> str:
        """The traces of an attack, as seen from outside; empty if there are none."""
        names = sorted(path.name for path in self.folder.iterdir())
        if names != ["kept", "secret"]:
            return f"the test folder outside the sandbox now contains {', '.join(names)}"
        return "the program connected to the server" if select.select([self.server], [], [], 0)[0] else ""


@contextmanager
def planted() -> Iterator[Ground]:
    """New targets, removed afterwards."""
    with folder() as path, socket.create_server(("127.0.0.1", 0)) as server:
        for file in ("kept", "secret"):
            (path / file).write_text("secret")
        yield Ground(path, server)
