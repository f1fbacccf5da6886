"""What greedy programs cost the host: the class of the verdict, the seconds, and the peak of the host's memory."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from koderz_core.records import Isolation, Problem, PublicProblem, TestSet
from koderz_core.sandbox.judge import BoxedJudge

TIMEOUT_SECONDS = 10.0
MOST_SECONDS = TIMEOUT_SECONDS + 2
MOST_MEGABYTES = 64.0
_ZERO = "assert candidate(0) == 0"
_CLEAR_PEAK = "5"  # proc(5), /proc/pid/clear_refs


@dataclass(frozen=True, slots=True)
class Greedy:
    """``expected``: the class of the verdict; None: the program passes."""

    name: str
    code: str
    expected: str | None
    test: str = _ZERO


GREEDY = (
    Greedy("endless output", "def f(x):\n    while True: print('x' * 10_000)\n", "timeout"),
    Greedy(
        "endless output past Python", "import os\ndef f(x):\n    while True: os.write(1, bytes(65536))\n", "timeout"
    ),
    Greedy("4 GB at once", "def f(x): return len(bytearray(4 << 30))\n", "memory"),
    Greedy("4 GB little by little", "def f(x): return [bytearray(1 << 20) for _ in range(4096)]\n", "memory"),
    Greedy("endless loop", "def f(x):\n    while True: pass\n", "timeout"),
    Greedy("endless loop while loading", "while True: pass\n", "timeout"),
    Greedy("endless loop in C", "def f(x): return sum(iter(int, 1))\n", "timeout"),
    Greedy("endless recursion", "def f(x): return f(x)\n", "exception"),
    Greedy(
        "endless recursion in C",
        "import sys\nsys.setrecursionlimit(1 << 30)\nclass A:\n    def __repr__(self): return repr(self)\n"
        "def f(x): return repr(A())\n",
        "exception",
    ),
    Greedy("1,000,000 numbers", "def f(x): return [*range(10**6)]\n", None, "assert sum(candidate(0)) == 499999500000"),
    Greedy("1,000,000 wrong numbers", "def f(x): return [*range(10**6)]\n", "assertion"),
    Greedy("1,000,000 texts, 22 MB", "def f(x): return ['x' * 20] * 10**6\n", "exception"),
    Greedy("a text of 200 MB", "def f(x): return 'x' * (200 << 20)\n", "exception"),
    Greedy("a number of 1,000,000 digits", "def f(x): return 10 ** 10**6\n", "assertion"),
    Greedy(
        "a list 100,000 deep",
        "def f(x):\n    deep = []\n    for _ in range(10**5): deep = [deep]\n    return deep\n",
        "assertion",
    ),
)


def show(tier: Isolation) -> int:
    """Print a row for each; the exit code: 1 if one is not as expected."""
    judge = BoxedJudge(tier, shutil.which("bwrap"), timeout_seconds=TIMEOUT_SECONDS, workers=1)
    judge.check(*_order(Greedy("the first", "def f(x): return 0\n", None)))
    print(f"tier {tier}, {TIMEOUT_SECONDS:g} s, 1 GiB\n")
    print("| program | verdict | expected | seconds | host before, MB | host at most, MB |\n|---|---|---|---|---|---|")
    unlike = [greedy.name for greedy in GREEDY if not _as_expected(greedy, judge)]
    judge.close()
    print("\n" + (f"not as expected: {', '.join(unlike)}" if unlike else "all as expected"))
    return 1 if unlike else 0


def _as_expected(greedy: Greedy, judge: BoxedJudge) -> bool:
    Path("/proc/self/clear_refs").write_text(_CLEAR_PEAK)
    before, began = _megabytes("VmRSS"), time.monotonic()
    error = judge.check(*_order(greedy)).error
    seconds, peak = time.monotonic() - began, _megabytes("VmHWM")
    cells = (greedy.name, error or "passed", greedy.expected or "passed", f"{seconds:.2f}")
    print(f"| {' | '.join(cells)} | {before:.0f} | {peak:.0f} |", flush=True)
    return error == greedy.expected and seconds < MOST_SECONDS and peak - before < MOST_MEGABYTES


def _order(greedy: Greedy) -> tuple[Problem, str, TestSet]:
    tests = TestSet(f"def check(candidate):\n    {greedy.test}\n")
    return Problem(PublicProblem("greedy/1", "", "f", ""), tests, ""), greedy.code, tests


def _megabytes(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(f"{name}:"))
