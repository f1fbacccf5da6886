"""Cheats on the programs after them: the honest one shall fail, or the wrong one pass, or nobody be judged any more."""

from __future__ import annotations

from .exercises import DOUBLE, FRACTION, WRONG
from .records import Cheat

FRAMES = """
import json, os, time
def frame(message):
    body = json.dumps(message).encode()
    return len(body).to_bytes(4, "big") + body
def say(raw):
    for fd in range(3, 10):
        try: os.write(fd, raw)
        except OSError: pass
AHEAD = b"".join(frame({"number": n, "value": v}) for n, v in ((1, 2), (2, 4), (3, 42)))
FALSE = frame({"number": 1, "value": 0})
"""
PARENT = """
import os
parent = os.getppid()
if parent < 2 or parent in SPARED: raise SystemExit  # -1 would be everybody
"""

# Never the home of whoever tries the attacks: where no HOME is set, Python would ask the system for it.
USER_SITE = """
import os, site
os.environ.setdefault("HOME", os.getcwd())
folder = site.getusersitepackages()
os.makedirs(folder)
"""
FILL = """
import builtins, resource
resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))
builtins.held = None
for size in range(480, 0, -16):
    try:
        while True: builtins.held = (builtins.held, bytes(size))
    except MemoryError: pass
"""
SPIN = "def spin():\n    while True: pass\n"

IN_ONE_PROCESS = (
    Cheat(
        "asserts compiled away for those after it",
        DOUBLE,
        "import builtins, functools\nbuiltins.compile = functools.partial(compile, optimize=2)\n" + WRONG,
    ),
    Cheat(
        "recursion limit just above the present depth",
        DOUBLE,
        "import sys\ndepth, frame = 0, sys._getframe()\nwhile frame: depth, frame = depth + 1, frame.f_back\n"
        "for limit in range(depth, depth + 50):\n    try: sys.setrecursionlimit(limit)\n"
        "    except RecursionError: continue\n"
        "    break\n" + WRONG,
    ),
    Cheat(
        "audit hook that refuses to compile",
        DOUBLE,
        "import sys\ndef refuse(event, _):\n    if event == 'compile': raise ValueError\nsys.addaudithook(refuse)\n"
        + WRONG,
    ),
    Cheat(
        "memory limit for those after it",
        DOUBLE,
        FILL + WRONG,
    ),
    Cheat(
        "endless loop that no alarm ends",
        DOUBLE,
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\n"
        "signal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass",
    ),
    Cheat(
        "endless loop that catches all that ends it",
        DOUBLE,
        SPIN + "def double(x):\n    while True:\n        try: spin()\n        except BaseException: x = 0",
    ),
    Cheat("exception that nobody catches", DOUBLE, "class Past(BaseException): pass\ndef double(x): raise Past"),
    Cheat("keyboard interrupt of its own", DOUBLE, "def double(x): raise KeyboardInterrupt"),
    Cheat("generator exit of its own", DOUBLE, "def double(x): raise GeneratorExit"),
    Cheat("segmentation fault", DOUBLE, "import ctypes\ndef double(x): ctypes.string_at(0)"),
    Cheat(
        "overflow of the C stack",
        DOUBLE,
        "import sys\nsys.setrecursionlimit(10**9)\ndef deep():\n    held = []\n"
        "    for _ in range(200_000): held = [held]\n"
        "    return held\ndef double(x): return deep() == deep()",
    ),
    Cheat(
        "answers compared for ever",
        DOUBLE,
        SPIN + "class Slow(list):\n    def __eq__(self, other):\n        while True:\n            try: spin()\n"
        "            except BaseException: other = 0\ndef double(x): return Slow()",
    ),
    Cheat(
        "builtin that only fails later",
        DOUBLE,
        "import signal\nsetitimer, left = signal.setitimer, [3]\ndef tired(*given):\n    left[0] -= 1\n"
        "    if left[0] < 0: raise OSError\n    return setitimer(*given)\nsignal.setitimer = tired\n" + WRONG,
    ),
    Cheat(
        "finalizer that ends the interpreter later",
        DOUBLE,
        "import os, gc\nclass Bomb:\n    __del__ = lambda self: os._exit(0)\n"
        "a = Bomb()\na.me = a\ndel a\ngc.set_threshold(1, 1, 1)\n" + WRONG,
    ),
)

BETWEEN_PROCESSES = (
    Cheat("right answers left in the pipe", DOUBLE, FRAMES + "def double(x): say(FALSE + 3 * AHEAD)"),
    Cheat(
        "right answers by a process that stays",
        DOUBLE,
        FRAMES
        + "if os.fork() == 0:\n    os.setsid()\n    time.sleep(0.03)\n    say(3 * AHEAD)\n    os._exit(0)\n"
        + WRONG,
    ),
    Cheat("half an answer left in the pipe", DOUBLE, FRAMES + "def double(x): say(FALSE + b'\\0\\0\\1\\0half')"),
    Cheat("an answer of four gigabytes announced", DOUBLE, FRAMES + "def double(x): say(FALSE + b'\\xff' * 4)\n"),
    Cheat(
        "an answer nested deeper than any parser",
        DOUBLE,
        FRAMES + "def double(x): say((200_000).to_bytes(4, 'big') + b'[' * 200_000)\n",
    ),
    Cheat("noise on every descriptor", DOUBLE, FRAMES + "def double(x): say(FALSE + bytes(range(256)) * 64)"),
    Cheat("parent killed", DOUBLE, PARENT + "def double(x): os.kill(parent, 9)", holds_from="strong"),
    Cheat("parent stopped", DOUBLE, PARENT + "def double(x): os.kill(parent, 19)", holds_from="strong"),
    Cheat(
        "all of the group killed",
        DOUBLE,
        PARENT + "def double(x):\n    if os.getpgid(parent) == os.getpgid(0) not in SPARED: os.killpg(0, 9)",
        holds_from="strong",
    ),
    Cheat(
        "parent without descriptors",
        DOUBLE,
        PARENT + "import resource\ndef double(x): resource.prlimit(parent, resource.RLIMIT_NOFILE, (3, 3))",
        holds_from="strong",
    ),
    Cheat(
        "verdict written to the parent's output",
        DOUBLE,
        PARENT + "def double(x):\n    with open(f'/proc/{parent}/fd/1', 'w') as out: out.write('[true]')",
        holds_from="strong",
    ),
    Cheat(
        "parent's input emptied and pipes flooded",
        DOUBLE,
        PARENT + "import stat\ndef double(x):\n    for fd in os.listdir(f'/proc/{parent}/fd'):\n        try:\n"
        "            if not stat.S_ISFIFO(os.stat(f'/proc/{parent}/fd/{fd}').st_mode): continue\n"
        "            out = os.open(f'/proc/{parent}/fd/{fd}', os.O_WRONLY | os.O_NONBLOCK)\n"
        "            os.write(out, b'\\xff' * 4096)\n        except OSError: pass",
        holds_from="strong",
    ),
)

IN_FILES = (
    Cheat(
        "module left where the next tests import it",
        FRACTION,
        "open('fractions.py', 'w').write('Fraction = lambda *_: 6')\n" + WRONG,
    ),
    Cheat(
        "start-up file of the interpreter",
        DOUBLE,
        USER_SITE + "open(folder + '/usercustomize.py', 'w').write('import os; os._exit(0)')\n" + WRONG,
    ),
    Cheat(
        "path file of the interpreter",
        DOUBLE,
        USER_SITE + "open(folder + '/left.pth', 'w').write('import os; os._exit(0)')\n" + WRONG,
    ),
)


def _poison(plain: str, cheats: tuple[Cheat, ...]) -> tuple[Cheat, ...]:
    return tuple(
        Cheat(cheat.name, cheat.exercise, cheat.code, plain, "poison", holds_from=cheat.holds_from)  # type: ignore[arg-type]
        for cheat in cheats
    )


POISON_CHEATS = _poison("warm", IN_ONE_PROCESS) + _poison("split", BETWEEN_PROCESSES) + _poison("script", IN_FILES)
