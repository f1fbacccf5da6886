"""Programs that read standard input: the ways to read and write, what ends a run, and what no program gains by."""

from __future__ import annotations

import json

import pytest
from small_problem import best_tier, judge_of

from koderz_core.datasets.programs import output_tests
from koderz_core.records import Problem, PublicProblem, TestSet, Verdict

PUBLIC = PublicProblem("sums/1", "Add the numbers of the second line.", "run", kind="program")
PAIRS = [("3\n1 2 3\n", "6\n"), ("1\n5\n", "5\n"), ("2\n-4 4\n", "0\n")]
TESTS = output_tests(PAIRS)
SUM = "input()\nprint(sum(map(int, input().split())))"


def judged(code: str, tests: TestSet = TESTS, tier: str = "", seconds: float = 10.0) -> Verdict:
    judge = judge_of(tier or best_tier(), seconds)
    return judge.check(Problem(PUBLIC, tests, ""), code, tests)


WAYS = {
    "input": SUM,
    "open(0)": "_, *given = open(0).read().split()\nprint(sum(map(int, given)))",
    "/dev/stdin": "with open('/dev/stdin') as file: _, *given = file.read().split()\nprint(sum(map(int, given)))",
    "pathlib": "import pathlib\n_, *given = pathlib.Path('/dev/stdin').read_text().split()\n"
    "print(sum(map(int, given)))",
    "readline bound early": "import sys\ninput = sys.stdin.readline\n"
    + SUM.replace("print(", "sys.stdout.write('%d\\n' % "),
    "bytes": "import sys\n_, *given = sys.stdin.buffer.read().split()\n"
    "sys.stdout.buffer.write(b'%d' % sum(map(int, given)))",
    "descriptors": "import os\n_, *given = os.read(0, os.fstat(0).st_size).split()\n"
    "os.write(1, b'%d' % sum(map(int, given)))",
    "main and exit": "import sys\nif __name__ == '__main__':\n    " + SUM.replace("\n", "\n    ") + "\n    sys.exit(0)",
    "exit of site": SUM + "\nexit()",
    "own buffer, written at exit": "import atexit, io, sys\nout = sys.stdout = io.StringIO()\n"
    "atexit.register(lambda: sys.__stdout__.write(out.getvalue()))\n" + SUM,
    "a file left open": "out = open(1, 'w')\ninput()\nout.write(str(sum(map(int, input().split()))))",
    "deep recursion": "import sys\nsys.setrecursionlimit(10**6)\n"
    "def add(given): return given[0] + add(given[1:]) if given else 0\n"
    "def deep(n): return deep(n - 1) if n else add(list(map(int, input().split())))\ninput()\nprint(deep(20_000))",
    "class and import of itself": "from dataclasses import dataclass\n@dataclass\nclass Sum:\n    of: list[int]\n"
    "from __main__ import Sum\ninput()\nprint(sum(Sum([*map(int, input().split())]).of))",
    "blanks": SUM.replace("print(", "print('', ") + "\nprint()",
    "noise on standard error": "import sys\nprint('debug', file=sys.stderr)\n" + SUM,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_program_may_read_and_write_as_usual(way: str) -> None:
    verdict = judged(WAYS[way])
    assert (verdict.marks, verdict.passed, verdict.shared) == ("PPP", True, False), verdict.message


def test_every_tier_runs_programs(tier: str) -> None:
    assert judged(WAYS["descriptors"], tier=tier).passed
    assert judged("print(6)", tier=tier).marks == "PFF"


@pytest.mark.parametrize(
    ("code", "marks", "error", "message"),
    [
        ("print(", "---", "syntax", "line 1: SyntaxError: '(' was never closed"),
        (
            f"{SUM}\nimport sys; sys.exit(3)",
            "FFF",
            "exception",
            "line 3: RuntimeError: the program ended with exit code 3",
        ),
        (
            f"{SUM}\nraise SystemExit('no')",
            "FFF",
            "exception",
            "line 3: RuntimeError: the program ended with exit code 1",
        ),
        (
            "n = int(input())\nprint(6 // (n - 1))",
            "FFF",
            "assertion",
            r"run('3\n1 2 3\n') returned '3\n', expected '6\n'",
        ),
        (f"n = int(input())\n1 // (n - 1)\n{SUM[8:]}", "PFP", "exception", "line 2: ZeroDivisionError"),
        (f"{SUM}\nimport os; os._exit(0)", "FFF", "exception", "the program ended its own process (exit code 0)"),
        (
            "import os\nif input() == '1': os.abort()\n" + SUM[8:],
            "PFP",
            "exception",
            "the program's process died of SIGABRT",
        ),
        (
            "while True: print('x' * 2**20)",
            "FFF",
            "exception",
            "line 1: OverflowError: the program wrote more than 16 MB",
        ),
        (
            "import threading; threading.Thread(target=print).start()",
            "FFF",
            "forbidden",
            "line 1: RuntimeError: can't start",
        ),
        ("import numpy", "FFF", "import", "line 1: ModuleNotFoundError"),
    ],
)
def test_what_ends_a_run_fails_that_case_only(code: str, marks: str, error: str, message: str) -> None:
    verdict = judged(code)
    assert (verdict.marks, verdict.error, verdict.passed) == (marks, error, False)
    assert verdict.message.startswith(message)


def test_a_failed_case_shows_its_input_and_both_outputs() -> None:
    first, *_ = judged("print(5)").failures
    assert (first.source, first.expected, first.actual) == (r"run('3\n1 2 3\n')", r"'6\n'", r"'5\n'")


def test_each_case_has_its_own_time_limit_and_one_that_exceeds_it_is_the_last() -> None:
    code = "import time\nn = int(input())\ntime.sleep(0.8 if n else 30)\nprint(n)"
    right = output_tests([("1", "1"), ("2", "2"), ("3", "3")], seconds=2.0)
    assert judged(code, right, seconds=0.5).passed  # although all cases together take longer than each limit
    verdict = judged(code, output_tests([("1", "1"), ("0", "0"), ("3", "3")], seconds=2.0))
    assert (verdict.marks, verdict.error, verdict.completed) == ("PF-", "timeout", False)


def test_a_case_finds_nothing_of_the_cases_before_it() -> None:
    code = (
        "import builtins, math, random, sys\nseen = getattr(math, 'seen', 0) + len(sys.argv[1:])\n"
        "math.seen = seen + 1\nlimit = sys.getrecursionlimit()\nsys.setrecursionlimit(5000)\n"
        "sys.argv.append('x')\nbuiltins.len = lambda _: 9\n"
        "print(seen, limit, random.random(), sys.stdin.read())\nrandom.seed(); sys.stdin.close(); sys.stdout = None"
    )
    seen = {failure.actual for failure in judged(code, output_tests([("a", "?")] * 3)).failures}
    assert seen == {"'0 1000 0.8444218515250481 a\\n'"}


REPORT = json.dumps({"number": 0, "value": "6\n", "passed": True})
FAKES = {
    "writes nothing and ends well": "raise SystemExit",
    "prints all that could be right": "print('6\\n5\\n0')",
    "searches its process for the answers": "import gc\n"
    "texts = [o for o in gc.get_objects() if isinstance(o, dict)]\n"
    "print(next((v for o in texts for k, v in o.items() if k in ('answers', 'right', 'output')), 6))",
    "reads its frames": "import sys\nframe = sys._getframe()\nfound = []\nwhile frame:\n"
    "    found += frame.f_locals.values()\n    frame = frame.f_back\n"
    "print(next((x for x in found if x in ('6\\n', '5\\n', '0\\n')), 6))",
    "forges a report on every descriptor": "import os\nfor fd in range(64):\n    try: os.write(fd, "
    f"{REPORT!r}.encode() + b'\\n')\n    except OSError: pass",
    "answers the question itself": "import sys, os, json\nframe = sys._getframe()\nwhile frame:\n"
    "    if 'number' in frame.f_locals: os.write(3, json.dumps({'number': frame.f_locals['number'], 'value': '6\\n',"
    " 'passed': True, 'seconds': 0}).encode() + b'\\n')\n    frame = frame.f_back",
    "returns an object that equals everything": "import sys\nclass Any(str):\n    __eq__ = lambda *_: True\n"
    "    __hash__ = None\nrun = sys._getframe(1).f_locals['self']\ntype(run)._read_from = lambda *_: Any()",
    "returns an object that is no text": "import sys\nclass Any:\n    __eq__ = lambda *_: True\n"
    "run = sys._getframe(1).f_locals['self']\ntype(run)._read_from = lambda *_: Any()",
    "keeps standard output across cases": "import sys\nout = sys.stdout\nclass Kept(type(out)): pass\nprint(6)\n"
    "sys.modules['io'].open = lambda *_, **__: out",
    "reads a file with the answers": "import os\nprint(next(open(f).read() for f in os.listdir('/') if 'answer' in f))",
    "patches comparison and decoding": "import sys, json, builtins\nfor m in list(sys.modules.values()):\n"
    "    for n in ('encode', 'decode', 'literal', 'shown'):\n"
    "        if hasattr(m, n): setattr(m, n, lambda *_, **__: '6\\n')\n"
    "builtins.bool = lambda _: True\nprint(6)",
    "changes its input": "import os\nos.pwrite(0, b'3\\n1 2 3\\n', 0)\nprint(6)",
    "raises its own success": "class SystemExit(BaseException): code = 0\nraise SystemExit",
    "ends in atexit": "import atexit, os\natexit.register(os._exit, 0)\nprint(6)",
    "is killed by itself": "import os, signal\nprint(6, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)",
    "sleeps": "import time\nprint(6, flush=True)\ntime.sleep(60)",
}


@pytest.mark.parametrize("fake", FAKES)
def test_a_fake_passes_at_most_the_case_that_it_answers(fake: str) -> None:
    verdict = judged(FAKES[fake], seconds=1.0)
    assert not verdict.passed
    assert verdict.tests_passed <= 1


def test_the_calls_of_a_probe_see_the_whole_program_each_time() -> None:
    code = "import builtins\nprint(input() * 2)\nbuiltins.print = None"
    calls = ["run('ab')", "run('a') == 'aa\\n'", "run('')"]
    first, second, third = judge_of(best_tier()).probe(PUBLIC, code, calls)
    assert (first.value, second.value) == (repr("abab\n"), "True")
    assert third.message == "line 2: EOFError: EOF when reading a line"
