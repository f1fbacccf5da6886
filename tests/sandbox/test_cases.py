"""Calls that are sent many at a time, with right answers that never leave the judge: verdicts as those of asserts."""

import math

import pytest
from cases_as_asserts import as_asserts, cases
from small_problem import BWRAP, best_tier, judge_of

from koderz_core.errors import DataError
from koderz_core.records import Cases, Problem, PublicProblem, TestSet
from koderz_core.sandbox.judge import BoxedJudge

DOUBLING = cases(([1], 2), ([2], 4), ([21], 42))
MANY = cases(*(([x], 2 * x) for x in range(4500)))  # more than are sent together
RIGHT = "def double(x): return 2 * x"
PUBLIC = PublicProblem("small/1", "", "double")


def judged(code, tests=DOUBLING, judge=None):
    return (judge or judge_of(best_tier())).check(Problem(PUBLIC, tests, ""), code, tests)


def seen(verdict):
    """All that a verdict tells, but for times."""
    return (verdict.marks, verdict.failures, verdict.completed, verdict.error, verdict.message, verdict.passed)


PROGRAMS = {
    "right": RIGHT,
    "another type": "def double(x): return 2.0 * x",
    "wrong for one": "def double(x): return 4 if x == 2 else 0",
    "raises for one": "def double(x): return 2 * x if x - 2 else {}[x]",
    "raises its own": "class Odd(Exception): pass\ndef double(x): raise Odd(x)",
    "raises what no message holds": "def double(x): raise KeyError([{1: (x,)}], float('nan'))",
    "ends": "import sys\ndef double(x): return 2 * x if x - 2 else sys.exit(0)",
    "dies": "import os\ndef double(x): return 2 * x if x - 2 else os._exit(0)",
    "does not load": "def double(x) return 2",
    "is not there": "def triple(x): return 3 * x",
    "is no function": "double = 4",
    "keeps count": "count = []\ndef double(x):\n    count.append(x)\n    return 2 * x if len(count) < 3 else count",
    "changes builtins": "import builtins\nbuiltins.len = builtins.isinstance = builtins.type = None\n" + RIGHT,
    "too large": "def double(x): return 2 * x if x - 2 else 'x' * 20_000_000",
    "too deep": "def double(x):\n    made = 0\n    for _ in range(500): made = [made]\n    return made",
    "endless": "def double(x): return double(x)",
    "holds an object": "def double(x): return [2 * x, double]",
    "surrogates": "def double(x): return '\\ud83d' + '\\ude00'",
    "memory": "def double(x): return 2 * x if x - 2 else len(bytearray(2 << 30))",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_the_verdict_that_it_has_on_asserts(name):
    assert seen(judged(PROGRAMS[name])) == seen(judged(PROGRAMS[name], as_asserts(DOUBLING)))


@pytest.mark.parametrize(
    ("right", "answer", "how"),
    [
        (0.3, 0.1 + 0.2, {}),
        ([0.5, math.nan, math.inf], [0.5 + 1e-9, math.nan, math.inf], {}),
        ((1, [2, {3: {4}}]), (1, [2, {3: {4}}]), {}),
        ((1, 2), [1, 2], {}),
        ([3, 1, 1], (1, 3), {"oracle": "set"}),
        (True, "found", {"oracle": "some"}),
        (True, None, {"oracle": "some"}),
        (7, 0, {"oracle": "or zero"}),
        (7, 5, {"oracle": "any"}),
        (10, 10.4, {"tolerance": 0.5}),
        ({"a": 1.0}, {"a": 1.1}, {"tolerance": 0.5}),
        (list(range(9000)), [float(x) for x in range(9000)], {}),
        (list(range(9000)), [*range(8999), 0], {}),
        ("ab" * 9000, "ab" * 9000, {}),
        ("ab" * 9000, "ba" * 9000, {}),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_answers_are_compared_as_asserts_compare_them(right, answer, how):
    tests = cases(([0], right), ([1], right), **how)
    code = f"from math import inf, nan\ndouble = lambda x: {answer!r} if x else 'else'"
    assert seen(judged(code, tests)) == seen(judged(code, as_asserts(tests)))


def test_oracles_see_the_arguments_as_they_were_sent():
    tests = cases(([[-6.0, 2.0]], 3.0), ([[4.0, 2.0]], -2.0), oracle="root", tolerance=1e-4)
    code = "def double(xs):\n    root = -xs[0] / xs[1]\n    xs.clear()\n    return root + 1e-6"
    assert judged(code, tests).marks == "PP"


def test_what_a_program_changes_in_its_arguments_changes_nothing_but_them():
    tests = cases(([[3, 1]], [1, 3]), ([[2, 1]], [1, 2]))
    assert judged("def double(xs):\n    xs.sort()\n    return xs", tests).passed
    assert judged("def double(xs):\n    xs.clear()\n    return xs", tests).marks == "FF"


def test_calls_come_in_order_to_one_program_however_many_there_are():
    counting = "calls = []\ndef double(x):\n    calls.append(x)\n    return len(calls) - 1 + x"
    assert judged(counting, MANY).passed


def test_an_answer_that_is_an_object_fails_its_test_only():
    assert judged("def double(x): return iter([x]) if x == 2 else 2 * x").marks == "PFP"


def test_a_call_that_does_not_return_leaves_what_was_answered_before_it():
    tests = cases(*(([x], 2 * x) for x in range(900)), seconds=0.5)
    verdict = judged("def double(x):\n    while x == 700: pass\n    return 2 * x", tests)
    assert verdict.marks == "P" * 700 + "F" + "-" * 199
    assert (verdict.error, verdict.message, verdict.completed) == ("timeout", "stopped after 0.5 s", False)


SLEEPY = "import time\ndef double(x):\n    time.sleep(0.3)\n    return 2 * x"
FOUR = [([x], 2 * x) for x in range(4)]


def test_tests_with_limits_of_their_own_may_exceed_that_of_the_set():
    verdict = judged(SLEEPY, cases(*FOUR, seconds=0.5, limit="1"))
    assert (verdict.passed, verdict.seconds > 1.2) == (True, True)
    assert judged(SLEEPY, cases(*FOUR, seconds=0.5)).error == "timeout"


def test_a_test_that_exceeds_its_own_limit_ends_the_program():
    verdict = judged("import time\ndef double(x):\n    time.sleep(60 * (x == 2))\n    return 2 * x", timed(seconds=9.0))
    assert (verdict.marks, verdict.message) == ("PPF-", "stopped after 0.5 s in one test")
    assert verdict.seconds < 2


def test_all_tests_together_have_a_limit_even_if_each_is_in_time(monkeypatch):
    monkeypatch.setattr("koderz_core.sandbox.requests.TOTAL_SECONDS", 1.0)
    verdict = judged(SLEEPY, timed(seconds=0.4))
    assert (verdict.marks, verdict.message) == ("PPPF", "stopped after 1 s")


def test_a_program_that_failed_a_test_has_only_the_time_of_the_set():
    verdict = judged(SLEEPY.replace("2 * x", "2 * x or 1"), timed(seconds=0.7))
    assert (verdict.marks, verdict.error, verdict.seconds < 1.1) == ("FPF-", "assertion", True)


def test_a_program_that_does_not_load_has_only_the_time_of_the_set():
    verdict = judged("while True: pass", timed(seconds=0.4))
    assert (verdict.marks, verdict.message) == ("----", "stopped after 0.4 s")


@pytest.mark.parametrize("piece", [b" ", b'{"number"', b"[" * 4096])
def test_nothing_but_an_answer_starts_the_time_of_the_next_test(piece):
    drip = f"import os\ndef double(x):\n    while True: os.write(3, {piece!r}) and __import__('time').sleep(0.01)"
    verdict = judged(drip, timed(seconds=9.0))
    assert (verdict.marks, verdict.message) == ("F---", "stopped after 0.5 s in one test")
    assert verdict.seconds < 2


def timed(seconds):
    return cases(*FOUR, seconds=seconds, limit="0.5")


def test_each_call_says_how_long_it_took():
    verdict = judged("import time\ndef double(x):\n    time.sleep(0.05 * (x == 2))\n    return 2 * x")
    assert verdict.test_seconds[1] > 0.04 > verdict.test_seconds[0]


SEND = """
import json, os, sys
def asked():
    frame = sys._getframe()
    while "question" not in frame.f_locals or "calls" not in frame.f_locals["question"]: frame = frame.f_back
    return frame.f_locals["question"]
def send(number, **reply): os.write(3, json.dumps({"number": number, **reply}).encode() + b"\\n")
"""
ALWAYS_EQUAL = "class Same{0}:\n    __eq__ = lambda *_: True\n    __hash__ = None\ndef double(x): return Same({1})"
FORGED = {
    "an object that equals everything": ALWAYS_EQUAL.format("", ""),
    "an int that equals everything": ALWAYS_EQUAL.format("(int)", "0"),
    "a float that equals everything": ALWAYS_EQUAL.format("(float)", "0"),
    "a string that equals everything": ALWAYS_EQUAL.format("(str)", "'0'"),
    "a list that equals everything": ALWAYS_EQUAL.format("(list)", "[0]"),
    "answers before they are asked for": "import os\n"
    + "".join(f'os.write(3, b\'{{"number": {n}, "value": {2 * n}}}\\n\')\n' for n in range(3))
    + "def double(x): return 0",
    "answers to what was not asked": SEND
    + "def double(x):\n    for n, value in enumerate((2, 4, 42)): send(n, value=value)\n    return 0",
    "the answer of another call": SEND + "def double(x):\n    send(asked()['first'] + 1, value=4)\n    return 0",
    "one answer twice": SEND + "def double(x):\n    for _ in range(2): send(asked()['first'], value=2)\n    return 0",
    "no answer": SEND + "def double(x):\n    import time\n    while True: time.sleep(1)",
    "nonsense": "import os\ndef double(x):\n    os.write(3, b'[[[{\\n')\n    return 2 * x",
    "no line": "import os\ndef double(x):\n    os.write(3, b'{\"number\"')\n    return 2 * x",
    "a line without an end": "import os\ndef double(x):\n    while True: os.write(3, b'[' * 65536)",
    "nesting": "import os\ndef double(x):\n    os.write(3, b'[' * 200000 + b'\\n')\n    return 2 * x",
    "a value of no kind": SEND
    + "def double(x):\n    send(asked()['first'] + x - 1, value={'large': 'x'})\n    return 0",
    "a kept value": SEND + "def double(x):\n    send(asked()['first'], value={'kept': [0, 'int']})\n    return 0",
    "a digest": SEND + "def double(x):\n    send(asked()['first'], digest='0' * 64, shown=7)\n    return 0",
    "odd seconds": SEND + "def double(x):\n    send(asked()['first'], value=0, seconds=[float('nan')])\n    return 0",
}


@pytest.mark.parametrize("name", FORGED)
def test_no_answer_can_be_forged(name):
    judge = judge_of(best_tier(), 1.0)
    verdict = judged(FORGED[name], judge=judge)
    assert (verdict.passed, verdict.marks.count("P")) == (False, 1 if name == "one answer twice" else 0)
    assert judged(RIGHT, judge=judge).passed


def test_one_answer_too_many_is_no_answer():
    code = """
def double(x):
    first = asked()["first"]
    lines = [json.dumps({"number": first + n, "value": value}) for n, value in enumerate((2, 4, 42, 0))]
    os.write(3, "".join(f"{line}\\n" for line in lines).encode())
"""
    verdict = judged(SEND + code)
    assert (verdict.passed, verdict.message) == (False, "the program's process sent an answer that nobody asked for")


LOOK = """
import gc, re, sys
LOOK = re.compile("zebra-[7]731-quokk[a]")
def texts():
    frame = sys._getframe()
    while frame:
        yield repr(frame.f_locals)
        frame = frame.f_back
    for thing in gc.get_objects():
        if isinstance(thing, (dict, list, tuple)): yield repr(thing)
def double(x): return "".join(found for text in texts() for found in LOOK.findall(text)[:1])
"""


def test_right_answers_are_nowhere_in_a_program_s_process():
    assert judged(LOOK, cases(([1], "zebra-7731-quokka"), ([2], "zebra-7731-quokka"))).marks == "FF"


def test_that_search_finds_what_is_there():
    assert judged(LOOK, cases((["zebra-7731-quokka"], ""))).failures[0].actual.startswith("'zebra-7731")


def test_a_right_answer_that_python_refuses_to_write_is_shown():
    verdict = judged("def double(x): return 0", cases(([1], 10**3000), ([2], [10**6000])))
    assert [failure.expected for failure in verdict.failures] == ["<int of 9966 bits>", "[<int of 19932 bits>]"]


def test_answers_that_keep_the_judge_busy_are_a_timeout(monkeypatch):
    monkeypatch.setattr("koderz_core.sandbox.requests.GRACE_SECONDS", 0.5)
    monkeypatch.setattr("koderz_core.sandbox.requests.CROWDED_TIMES", 1.0)
    judge = BoxedJudge(best_tier(), BWRAP, timeout_seconds=0.3, workers=1)
    colliding = "def double(x): return [k * (2**61 - 1) for k in range(1, 150000)]"
    assert judged(colliding, cases(([1], [1]), oracle="set"), judge).error == "timeout"
    assert judged(RIGHT, judge=judge).passed
    judge.close()


@pytest.mark.parametrize("cases", [Cases("[1]\n[2]", "2"), Cases("[1]", "{}"), Cases("[1]", "2 4"), Cases("[1]", "[")])
def test_cases_that_are_none_are_broken_tests(cases):
    with pytest.raises(DataError, match=r"The tests of small/1 are broken"):
        judged(RIGHT, TestSet(DOUBLING.source, cases=cases))
