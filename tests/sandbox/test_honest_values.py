"""Values and objects of honest programs: what tests see of them is what they would see in one process."""

import pytest
from small_problem import checks, judged

HONEST = {
    "fraction": (
        "from fractions import Fraction\ndef double(x): return Fraction(4, 2)",
        ["assert candidate(1) == 2", "assert abs(candidate(1) - 1.5) < 0.6"],
    ),
    "decimal": ("from decimal import Decimal\ndef double(x): return [Decimal(4)]", ["assert candidate(1) == [4]"]),
    "bytearray": ("def double(x): return bytearray(b'x')", ["assert candidate(1) == b'x'"]),
    "counter": ("import collections\ndef double(x): return collections.Counter()", ["assert candidate(1)['b'] == 0"]),
    "deque": (
        "from collections import deque\ndef double(x): return deque([1], 5)",
        ["assert candidate(1).maxlen == 5"],
    ),
    "range": ("def double(x): return range(3)", ["assert candidate(1)[2] == 2", "assert candidate(1) == range(3)"]),
    "view of a dict": ("def double(x): return {1: 2}.keys()", ["assert sorted(candidate(1)) == [1]"]),
    "instance": (
        "class A:\n    number = 5\n    kind = 6\n    __str__ = lambda self: 'a'\ndef double(x): return A()",
        [
            "a = candidate(1)",
            "assert (a.number, a.kind, str(a)) == (5, 6, 'a')",
            "a.left = [1]",
            "assert a.left == [1]",
        ],
    ),
    "generator that never ends": (
        "def double(x):\n    for n in range(4): yield n\n    while True: pass",
        ["from itertools import islice", "assert list(islice(candidate(1), 4)) == [0, 1, 2, 3]"],
    ),
    "rows that are one list": (
        "def double(g): g[0][0] = 1",
        ["g = [[0] * 3] * 3", "candidate(g)", "assert sum(map(sum, g)) == 3"],
    ),
    "one list twice": ("def double(x, y): x.append(1)", ["x = []", "candidate(x, x)", "assert x == [1]"]),
    "argument sorted and returned": (
        "def double(x):\n    x.sort()\n    return x",
        ["assert candidate([2, 1]) == [1, 2]"],
    ),
}


@pytest.mark.parametrize(("code", "tests"), HONEST.values(), ids=HONEST)
def test_honest_values_are_what_they_would_be_in_one_process(code, tests):
    assert judged(code, checks(*tests), canonical=code).passed


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import collections\ndef double(x): return collections.OrderedDict([(2, 1), (1, 1)])", "O([(1, 1), (2, 1)])"),
        ("def double(x): return '\\ud83d\\ude00'", "'\\U0001F600'"),
    ],
)
def test_nothing_becomes_right_on_its_way(code, expected):
    tests = checks("from collections import OrderedDict as O", f"assert candidate(1) == {expected}")
    assert judged(code, tests).marks == "F"
