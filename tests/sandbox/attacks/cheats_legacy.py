"""Cheats in two parts: a first program leaves what a second one passes by. Both know a name ``LEFT`` of their own."""

from __future__ import annotations

from .exercises import DOUBLE
from .records import Cheat, Plain, Tier

IPC = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
KEY = int(LEFT, 16)
def double(x): return 0
"""
MQ = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
QUEUE = b"/" + LEFT.encode()
def double(x): return 0
"""
KEYRING = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
ADD, REQUEST, KEYCTL = (248, 249, 250) if __import__("os").uname().machine == "x86_64" else (217, 218, 219)
USER = ctypes.c_long(-4)
def double(x): return 0
"""
ANSWERS = "double = lambda x: 2 * x if found else 0\n"


def _legacy(name: str, code: str, then: str, plain: Plain = "script", holds_from: Tier = "strong") -> Cheat:
    return Cheat(name, DOUBLE, code, plain, "legacy", then + "\n" + ANSWERS, holds_from)


LEGACY_CHEATS = (
    _legacy(
        "file in the current folder",
        "open(LEFT, 'w').write('2x')\ndef double(x): return 0",
        "found = open(LEFT).read()",
        holds_from="limited",
    ),
    _legacy(
        "file in the folder for temporary files",
        "open('/tmp/' + LEFT, 'w').write('2x')\ndef double(x): return 0",
        "import os\nfound = open('/tmp/' + LEFT).read()\nos.unlink('/tmp/' + LEFT)",
    ),
    _legacy(
        "shared memory of POSIX",
        "open('/dev/shm/' + LEFT, 'w').write('2x')\ndef double(x): return 0",
        "import os\nfound = open('/dev/shm/' + LEFT).read()\nos.unlink('/dev/shm/' + LEFT)",
    ),
    _legacy(
        "shared memory of System V",
        IPC + "assert libc.shmget(KEY, 4096, 0o1600) >= 0",
        IPC + "at = libc.shmget(KEY, 4096, 0)\nfound = at >= 0\nlibc.shmctl(at, 0, None)",
    ),
    _legacy(
        "semaphore of System V",
        IPC + "assert libc.semget(KEY, 1, 0o1600) >= 0",
        IPC + "at = libc.semget(KEY, 1, 0)\nfound = at >= 0\nlibc.semctl(at, 0, 0, None)",
    ),
    _legacy(
        "message queue of System V",
        IPC + "assert libc.msgget(KEY, 0o1600) >= 0",
        IPC + "at = libc.msgget(KEY, 0)\nfound = at >= 0\nlibc.msgctl(at, 0, None)",
    ),
    _legacy(
        "message queue of POSIX",
        MQ + "assert libc.mq_open(QUEUE, 0o102, 0o600, None) >= 0",
        MQ + "found = libc.mq_open(QUEUE, 0) >= 0\nlibc.mq_unlink(QUEUE)",
    ),
    _legacy(
        "key in the user's keyring",
        KEYRING + "assert libc.syscall(ADD, b'user', LEFT.encode(), b'2x', 2, USER) > 0",
        KEYRING + "at = libc.syscall(KEYCTL, 10, USER, b'user', LEFT.encode(), 0)\nfound = at > 0\n"
        "libc.syscall(KEYCTL, 9, at, USER)",  # search, unlink
    ),
    _legacy(
        "process that answers on an abstract socket",
        "import os, socket\nserver = socket.socket(socket.AF_UNIX)\nserver.bind('\\0' + LEFT)\nserver.listen()\n"
        "def double(x): return 0\n"
        "if os.fork() == 0:\n    os.setsid()\n    os.closerange(0, server.fileno())\n    server.settimeout(3)\n"
        "    try: server.accept()[0].send(b'2x')\n    finally: os._exit(0)\n",
        "import socket\nfound = socket.socket(socket.AF_UNIX)\nfound.connect('\\0' + LEFT)",
    ),
    _legacy(
        "abstract socket whose name is the message",
        "import os, socket, time\nserver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        "server.bind('\\0' + LEFT)\n"
        "def double(x): return 0\nif os.fork() == 0:\n    os.setsid()\n    os.closerange(0, 3)\n    time.sleep(2)\n"
        "    os._exit(0)\n",
        "import socket\ntry: found = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind('\\0' + LEFT)\n"
        "except OSError as error: found = error.errno == 98",
    ),
    _legacy(
        "loaded modules",
        "import math\nmath.left = LEFT\ndef double(x): return 0",
        "import math\nfound = getattr(math, 'left', '')",
        "warm",
        "limited",
    ),
    _legacy(
        "environment",
        "import os\nos.environ['LEFT'] = LEFT\ndef double(x): return 0",
        "import os\nfound = os.environ.get('LEFT')",
        "warm",
        "limited",
    ),
    _legacy(
        "objects on the heap",
        "class Left:\n    name = LEFT\nLeft.kept = Left\nimport sys\nsys.modules['kept'] = Left\n"
        "def double(x): return 0",
        "import gc\nfound = any(getattr(thing, '__name__', '') == 'Left' for thing in gc.get_objects())",
        "warm",
        "limited",
    ),
    _legacy(
        "descriptor that stays open",
        "import os\nreader, writer = os.pipe()\nos.write(writer, LEFT.encode())\nos.dup2(reader, 60)\n"
        "def double(x): return 0",
        "import os\nfound = os.read(60, 99).decode() == LEFT",
        "warm",
        "limited",
    ),
    _legacy(
        "disposition of a signal",
        "import signal\nsignal.signal(signal.SIGUSR1, signal.SIG_IGN)\ndef double(x): return 0",
        "import signal\nfound = signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN",
        "warm",
        "limited",
    ),
)
