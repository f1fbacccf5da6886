"""The problems that cheats pretend to solve, one for each way in which tests look at an answer."""

from __future__ import annotations

from .records import Exercise

HONEST = "def double(x):\n    return 2 * x\n"
WRONG = "def double(x):\n    return 0\n"


def _checks(*lines: str, before: str = "") -> str:
    return before + "def check(candidate):\n" + "".join(f"    {line}\n" for line in lines)


def _double(*lines: str, before: str = "") -> Exercise:
    return Exercise("double", _checks(*lines, before=before), HONEST, WRONG)


DOUBLE = _double("assert candidate(1) == 2", "assert candidate(2) == 4", "assert candidate(21) == 42")
LOOP = _double("for n in range(1, 5):", "    assert candidate(n) == 2 * n")
ALL = _double("assert all(candidate(n) == 2 * n for n in (1, 2, 3))")
CLOSE = _double("assert abs(candidate(1.5) - 3.0) < 1e-6", "assert abs(candidate(4) - 8) < 1e-6")
ISCLOSE = _double("assert math.isclose(candidate(1.5), 3.0)", before="import math\n")
FRACTION = _double("assert Fraction(candidate(3)) == 6", before="from fractions import Fraction\n")
ORDER = _double("assert candidate(2) < 5", "assert candidate(2) > 3", "assert 3 < candidate(2) < 5")
KIND = _double("assert isinstance(candidate(2), int)", "assert candidate(2) == 4")
TEXT = _double("assert str(candidate(2)) == '4'", "assert str(candidate(3)) == '6'")
ROUNDED = _double("assert round(candidate(1.26), 1) == 2.5")
LOCAL = _double("first = 8642", "assert candidate(4321) == first", "second = 1356", "assert candidate(678) == second")
TABLE = _double("for n in EXPECTED:", "    assert candidate(n) == EXPECTED[n]", before="EXPECTED = {577: 1154, 3: 6}\n")
SAME = _double(
    "assert same(candidate(1), 2)", "assert same(candidate(5), 10)", before="def same(a, b):\n    return a == b\n"
)
CLOSURE = _double(
    "expected = {611: 1222, 7: 14}",
    "want = lambda n: expected[n]",
    "for n in (611, 7):",
    "    got = candidate(n)",
    "    assert got == want(n)",
)
APPROX = _double(
    "class Near:",
    "    def __init__(self, value): self.value = value",
    "    def __eq__(self, other): return abs(self.value - other) < 1e-6",
    "assert Near(4.0) == candidate(2)",
)
CASES = _double("for given, expected in [([1], [1, 1]), ([2], [2, 2])]:", "    assert candidate(given) == expected")
COMPARED = Exercise(
    "order",
    _checks("given = [3, 1, 2]", "assert candidate(given) == sorted([3, 1, 2])", "assert candidate([9, 8]) == [8, 9]"),
    "def order(items):\n    return sorted(items)\n",
    "def order(items):\n    return items\n",
)
SORTED = Exercise(
    "order",
    _checks("given = [3, 1, 2]", "assert candidate(given) == sorted(given)"),
    COMPARED.honest,
    COMPARED.wrong,
)
TWICE = Exercise(
    "double",
    _checks("assert candidate([1]) == candidate([1])", "assert candidate([1]) == [1, 1]"),
    HONEST,
    WRONG,
)
DUMPED = _double("assert json.dumps(candidate([1])) == '[1, 1]'", before="import json\n")
STRIPPED = Exercise(
    "shout",
    _checks("assert candidate('ab').strip() == 'AB'.strip()", "assert candidate(' x ').strip() == ' X '.strip()"),
    "def shout(text):\n    return text.upper()\n",
    "def shout(text):\n    return ''\n",
)
WORDS = Exercise(
    "words",
    _checks("assert candidate('a b').copy() == ['a', 'b']", "assert len(candidate('c')) == 1"),
    "def words(text):\n    return text.split()\n",
    "def words(text):\n    return []\n",
)
LISTED = Exercise(
    "evens",
    _checks("expected = [2, 4, 6]", "assert list(candidate(3)) == expected"),
    "def evens(n):\n    return [2 * i for i in range(1, n + 1)]\n",
    "def evens(n):\n    return []\n",
)
SUMMED = Exercise("evens", _checks("assert sum(candidate(3)) == 12"), LISTED.honest, LISTED.wrong)
MEMBER = Exercise("evens", _checks("assert 6 in candidate(3)", "assert 8 in candidate(4)"), LISTED.honest, LISTED.wrong)
RAISES = Exercise(
    "root",
    _checks(
        "for given, kind in ((-1, ValueError), ('a', TypeError)):",
        "    raised = None",
        "    try: candidate(given)",
        "    except kind as error: raised = error",
        "    assert isinstance(raised, kind)",
        "    assert not isinstance(raised, KeyError)",
        "assert candidate(4) == 2",
    ),
    "def root(x):\n    x + 0\n    if x < 0: raise ValueError('negative')\n    return x ** 0.5\n",
    "def root(x):\n    return 2\n",
)
MESSAGE = Exercise(
    "root",
    _checks(
        "text = None",
        "try: candidate(-1)",
        "except ValueError as error: text = str(error)",
        "assert text == 'negative: -1'",
    ),
    "def root(x):\n    raise ValueError(f'negative: {x}')\n",
    "def root(x):\n    raise ValueError\n",
)
SEEDED = Exercise(
    "draw",
    _checks(
        "random.seed(5)",
        "expected = [random.randint(1, 6) for _ in range(4)]",
        "assert candidate(5, 4) == expected",
        before="import random\n",
    ),
    "import random\ndef draw(seed, n):\n    random.seed(seed)\n    return [random.randint(1, 6) for _ in range(n)]\n",
    "def draw(seed, n):\n    return [0] * n\n",
)
SECRET = Exercise(
    "name_of",
    _checks("assert candidate(1) == 'zebra-7731-quokka'", "assert candidate(2) == 'zebra-9142-quokka'"),
    "def name_of(n):\n    return {1: 'zebra-7731-quokka', 2: 'zebra-9142-quokka'}[n]\n",
    "def name_of(n):\n    return ''\n",
)
