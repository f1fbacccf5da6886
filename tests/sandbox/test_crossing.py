"""What crosses between tests and a program in another process as if they were in one, and what cannot."""

import pytest
from small_problem import checks, judged, some_tiers

pytestmark = [pytest.mark.usefixtures("tier"), pytest.mark.parametrize("tier", some_tiers(), indirect=True)]

PAIR = "class Pair:\n    def __init__(self, first): self.first = first\n    def up(self): return self.first + 1\n"


def test_what_a_program_changes_in_place_is_changed_for_the_tests():
    tests = checks(
        "inner = [1]", "lists = [[3], inner]", "assert candidate(lists) is None", "assert lists == [inner, [3]]"
    )
    assert judged("def double(x): x.reverse()", tests).marks == "PP"
    assert judged("def double(x): x.append(9)", tests).marks == "PF"
    tests = checks("inner = []", "candidate({'a': inner}, {1})", "assert inner == [7]")
    assert judged("def double(x, y): x['a'].append(7); y.clear()", tests).passed


def test_sets_and_dicts_are_changed_in_place_too():
    tests = checks(
        "some, more = {1, 2}, {'a': 1}", "candidate(some, more)", "assert some == {2}", "assert more == {'b': 2}"
    )
    assert judged("def double(x, y): x.discard(1); y.clear(); y['b'] = 2", tests).passed


@pytest.mark.parametrize(
    "code",
    [
        "def double(n): yield from range(n)",
        "def double(n): return map(int, range(n))",
        "def double(n): return range(n)",
    ],
)
def test_what_is_returned_lazily_is_asked_for_as_it_is_used(code):
    tests = checks(
        "assert list(candidate(3)) == [0, 1, 2]",
        "assert sum(candidate(5000)) == 12497500",
        "assert list(zip(candidate(9), 'ab')) == [(0, 'a'), (1, 'b')]",
    )
    assert judged(code, tests).passed


def test_an_endless_iterator_costs_no_more_than_what_is_taken():
    tests = checks("numbers = candidate(1)", "assert [next(numbers) for _ in range(600)] == list(range(600))")
    assert judged("import itertools\ndef double(x): return itertools.count()", tests).passed


def test_what_an_iterator_raises_comes_after_the_items_before_it():
    tests = checks(
        "seen = []",
        "try:",
        "    for item in candidate(1): seen.append(item)",
        "except KeyError: seen.append('end')",
        "assert seen == [1, 2, 3, 'end']",
    )
    assert judged("def double(x):\n    yield 1\n    yield 2\n    yield 3\n    raise KeyError", tests).passed


def test_classes_that_the_publishers_solution_defines_are_the_program_s_in_the_tests():
    tests = checks(
        "pair = Pair(4)",
        "assert candidate(pair) == 8",
        "assert pair.up() == 5",
        "assert pair.first == 4",
        "assert candidate([Pair(1), Pair(2)][1]) == 4",
    )
    assert judged(PAIR + "def double(x): return 2 * x.first", tests, canonical=PAIR).passed
    missing = judged("def double(x): return 2 * x.first", tests, canonical=PAIR)
    assert (missing.error, missing.message) == ("name", "NameError: the program does not define 'Pair'")


def test_other_functions_of_a_program_can_be_tested():
    code = "def double(x): return 2 * x\ndef half(x): return x // 2"
    assert judged(code, checks("assert candidate(half(4)) == 4"), canonical=code).passed


@pytest.mark.parametrize(
    "test", ["table = [2, 4]; assert candidate(1) in table", "assert [candidate(table) for table in [1]]"]
)
def test_a_variable_of_the_tests_is_not_a_name_that_a_program_must_define(test):
    assert judged(
        "def double(x): return 2 * x", checks(test), canonical="table = {}\ndef double(x): return x + x"
    ).passed


def test_arguments_of_a_call_may_have_any_name():
    call = "candidate(self=1, handle=1, what=1, target=1, function=1)"
    assert judged("def double(**named): return len(named)", checks(f"assert {call} == 5")).passed


def test_the_problem_s_own_functions_are_not_the_program_s():
    given = "def right(x): return 2 * x\n"
    verdict = judged(
        "def right(x): return 5\ndef double(x): return 5",
        checks("assert candidate(4) == right(4)"),
        given,
        canonical=given,
    )
    assert verdict.marks == "F"


def test_not_a_number_is_as_equal_to_itself_as_in_one_process():
    tests = checks("import math", "assert candidate(1) != candidate(1)", "assert [candidate(1)] == [math.nan]")
    assert judged("import math\ndef double(x): return math.nan", tests).passed


def test_an_object_of_the_program_s_is_equal_to_nothing():
    code = "class Liar:\n    def __eq__(self, other): return True\n    __ne__ = __eq__\ndef double(x): return Liar()"
    verdict = judged(code, checks("assert candidate(1) == 2", "assert candidate(1) != 2", "assert 2 in [candidate(1)]"))
    assert (verdict.marks, verdict.shared) == ("FFF", False)
    assert judged(code, checks("assert candidate(1) != None", "assert not candidate(1) != None")).marks == "PF"


PLAIN = ("bool", "int", "float", "complex", "str", "bytes", "bytearray", "list", "tuple", "dict", "set", "frozenset")


@pytest.mark.parametrize("kind", PLAIN)
def test_what_an_object_says_to_be_does_not_count_and_the_message_is_about_the_object(kind):
    liar = f"class Liar:\n    __class__ = {kind}\n    __eq__ = lambda *_: True\ndef double(x): return Liar()"
    verdict = judged(liar, checks("assert candidate(1) == 2"))
    assert (verdict.marks, verdict.error) == ("F", "assertion")
    assert verdict.message == "assert candidate(1) == 2 was not so: got <object of type Liar>, expected 2"


def test_a_number_that_says_to_be_of_another_type_is_what_it_is():
    code = "class Half(float):\n    __class__ = int\ndef double(x): return Half(0.5)"
    assert judged(code, checks("assert candidate(1) == 0.5", "assert type(candidate(1)) is float")).passed


@pytest.mark.parametrize(
    "lie", ["__class__ = SyntaxError", "__class__ = None", "pass\nclass Liar(Exception, metaclass=Kind): pass"]
)
def test_what_an_exception_says_to_be_does_not_count(lie):
    kind = "class Kind(type):\n    __name__ = __mro__ = 5\n"
    verdict = judged(
        f"{kind}class Liar(Exception): {lie}\ndef double(x):\n    raise Liar", checks("assert candidate(1)")
    )
    assert (verdict.error, verdict.message.partition(": ")[2]) == ("exception", "Liar")


NEEDS_SHARING = checks("assert candidate(object()) is not None")


@pytest.mark.parametrize(
    "test", ["assert candidate(1) == Odd(1)", "assert candidate(Odd(1)) == Odd(1)", "assert Odd(1) in [candidate(1)]"]
)
def test_tests_that_need_other_values_run_beside_the_program_and_say_so(test):
    odd = "class Odd:\n    def __init__(self, n): self.n = n\n    def __eq__(self, other): return self.n == other.n\n"
    right = "def double(x): return x if isinstance(x, Odd) else Odd(x)"
    verdict = judged(right, checks(test, "assert candidate(1) == Odd(2)"), odd, canonical=odd + right)
    assert (verdict.marks, verdict.shared) == ("PF", True)


POINT = "class Point:\n    def __init__(self, n): self.n = n\n    def __eq__(self, other): return self.n == other.n\n"


def test_tests_that_compare_objects_of_the_program_run_beside_it():
    right, tests = f"{POINT}def double(x): return Point(x)", checks("assert [candidate(2)] == [Point(2)]")
    for code, marks in ((right, "P"), (right.replace("Point(x)", "Point(x + 1)"), "F")):
        verdict = judged(code, tests, canonical=right)
        assert (verdict.marks, verdict.shared) == (marks, True)


@pytest.mark.parametrize(
    ("right", "test"),
    [
        (PAIR + "    def __lt__(self, other): return self.first < other.first", "assert candidate(1) < candidate(2)"),
        ("import collections\nPair = collections.namedtuple('Pair', 'first')", "assert candidate(3).first == 6"),
        (PAIR + "    def __repr__(self): return 'Pair'", "assert repr(candidate(1)) == 'Pair'"),
        (PAIR, "assert isinstance(candidate(1), Pair)"),
    ],
)
def test_tests_that_the_publisher_s_solution_passes_only_beside_them_run_beside_each_program(right, test):
    right += "\ndef double(x): return Pair(2 * x)"
    verdict = judged(f"{right}  # another", checks(test, "assert candidate(0).first == 0"), canonical=right)
    assert (verdict.marks, verdict.shared) == ("PP", True)
    wrong = right.replace("2 * x", "5 - x")
    assert judged(wrong, checks(test, "assert candidate(0).first == 0"), canonical=right).marks[-1] == "F"


def test_the_tested_class_has_attributes_and_the_tested_function_a_name():
    code = "class double:\n    size = 2\n    def __init__(self, x): self.x = x\n    of = classmethod(lambda c, x: c(x))"
    tests = checks("assert double.size == 2", "assert candidate.of(3).x == 3", "assert candidate.__name__ == 'double'")
    assert judged(code, tests).marks == "PPP"


@pytest.mark.parametrize("argument", ["lambda y: y", "(n for n in [3])", "__import__('datetime').date(2000, 1, 3)"])
def test_without_a_solution_arguments_that_cannot_cross_let_tests_run_beside_the_program(argument):
    tests = checks(f"assert candidate({argument}) == 6")
    for code, marks in (("def double(x): return 6", "P"), ("def double(x): return 5", "F")):
        verdict = judged(code, tests)
        assert (verdict.marks, verdict.shared) == (marks, True)


@pytest.mark.parametrize("canonical", ["", "def double(x): return 2 * x"])
def test_objects_that_only_the_program_returns_stay_outside_of_its_tests(canonical):
    code = "class Liar:\n    __eq__ = lambda *_: True\ndef double(x): return Liar()"
    tests = checks("assert candidate(1) == candidate(1)", "assert candidate(2) == 4")
    verdict = judged(code, tests, canonical=canonical)
    assert (verdict.marks, verdict.shared) == ("FF", False)


@pytest.mark.parametrize(
    "report",
    [
        "{'marks': 'PPPP'}",
        "{'marks': 'PP', 'failures': [], 'error': None, 'message': '', 'test_seconds': [], 'completed': True}",
        "{'broken': 'x'}",
        "[1]",
        "{'marks': 'P', 'failures': [], 'error': 'odd', 'message': 1, 'test_seconds': 'x', 'completed': True}",
        "{'marks': 'P', 'failures': [[9, '', '', '', '']], 'error': None, 'message': '', 'test_seconds': []}",
        "{'marks': 'P', 'failures': [], 'error': None, 'message': '', 'test_seconds': [0.0] * 9, 'completed': True}",
        "{'marks': 'F', 'failures': [], 'error': None, 'message': '', 'test_seconds': ['nan'], 'completed': True}",
        "{'marks': 'F', 'failures': [], 'error': None, 'message': '', 'test_seconds': ['inf'], 'completed': True}",
    ],
)
def test_a_report_is_believed_only_as_far_as_it_could_be_true(report):
    forged = f"import sys\nsys.modules['inside.shared'].report = lambda *_: {report}\ndef double(x): return None"
    verdict = judged(forged, NEEDS_SHARING, canonical="def double(x): return x")
    assert (verdict.shared, verdict.passed) == (True, False)


@pytest.mark.parametrize("canonical", ["", "def double(x): return 2 * x"])
@pytest.mark.parametrize(
    "code",
    [
        "def double(x): return lambda _: 2 * x",
        "class Equal:\n    __eq__ = lambda *_: True\n    __call__ = lambda *_: 4\ndef double(x): return Equal()",
    ],
)
def test_a_program_cannot_have_its_tests_run_beside_it(code, canonical):
    like = "class Like:\n    def __eq__(self, other): return other == 2\n"
    for tests in (
        checks("assert candidate(1) == 2", "candidate(1)(lambda y: y)"),
        like + checks("assert candidate(1) == Like()"),
    ):
        verdict = judged(code, tests, canonical=canonical)
        assert not verdict.passed
        assert not verdict.shared


def test_a_program_gives_the_tests_no_names_but_those_they_speak_of():
    forged = """
import sys
frame = sys._getframe()
while 'self' not in frame.f_locals: frame = frame.f_back
frame.f_locals['self']._program['names'].append('abs')
def abs(x): return 0
def double(x): return 5
"""
    assert not judged(forged, checks("assert abs(candidate(1) - 2) < 0.1")).passed


def test_a_program_cannot_make_the_tests_broken():
    tests = checks("pair = Pair(4)", "assert candidate(pair) == 8")
    assert (
        judged("Pair = 5\ndef double(x): return 8", tests, canonical=PAIR + "def double(x): return 2 * x.first").marks
        == "-"
    )


def test_the_same_program_has_the_same_verdict_every_time():
    code = "import random\ndouble = lambda x: [random.random(), next(iter({'a', 'b', 'c', 'd', 'e', 'f'}))]"
    told = {judged(code).failures[0].actual for _ in range(3)}
    assert len(told) == 1


def test_each_test_says_how_long_it_took():
    verdict = judged("import time\ndef double(x):\n    time.sleep(0.05 * (x == 2))\n    return 2 * x")
    assert len(verdict.test_seconds) == 3
    assert verdict.test_seconds[1] > 0.04 > verdict.test_seconds[0]


def test_a_program_cannot_empty_what_it_is_compared_with():
    tests = checks("given = [3, 1]", "assert candidate(given) == sorted(given)")
    emptied = "def double(items):\n    items.clear()\n    return []"
    right = "def double(items):\n    items.sort()\n    return list(items)"
    assert judged(right, tests, canonical=right).passed
    assert not judged(emptied, tests, canonical=right).passed


def test_a_program_that_must_not_change_its_arguments_is_seen_to_change_them():
    tests = checks("given = [3, 1]", "assert candidate(given) == [1, 3]", "assert given == [3, 1]")
    verdict = judged("def double(x):\n    x.sort()\n    return x", tests, canonical="def double(x): return sorted(x)")
    assert verdict.marks == "PF"


def test_a_program_that_is_to_change_its_arguments_may():
    in_place = "def double(x): x.sort()"
    assert judged(
        in_place, checks("given = [3, 1]", "candidate(given)", "assert given == [1, 3]"), canonical=in_place
    ).passed


def test_where_there_is_no_solution_to_tell_a_change_in_place_is_what_the_tests_look_at():
    tests = checks("given = [3, 1]", "candidate(given)", "assert given == [1, 3]")
    assert judged("def double(x): x.sort()", tests, canonical="").passed


PLACE = "class Place:\n    def __init__(self, v): self.v = v\n"
BY_KEY = checks("given = [3, 1]", "assert candidate(given, lambda x: -x) == sorted(given, key=lambda x: -x)")
EMPTYING_CLASS = "class double:\n    def __new__(cls, a, key):\n        a.clear()\n        return []"
OF_OBJECT = PLACE + checks("place = Place(3)", "assert candidate(place) == place.v * 2")


@pytest.mark.parametrize(
    ("tests", "right", "emptied"),
    [
        (BY_KEY, "def double(a, key): return sorted(a, key=key)", "def double(a, key):\n    a.clear()\n    return []"),
        (BY_KEY, "def double(a, key):\n    a.sort(key=key)\n    return a", "def double(a, key): return a.clear() or a"),
        (OF_OBJECT, "def double(a): return a.v * 2", "def double(a):\n    a.v = 0\n    return 0"),
        (BY_KEY, "def double(a, key): return sorted(a, key=key)", EMPTYING_CLASS),
    ],
)
def test_beside_its_tests_too_a_program_cannot_change_what_it_is_compared_with(tests, right, emptied):
    assert judged(right, tests, canonical=right).passed
    verdict = judged(emptied, tests, canonical=right)
    assert (verdict.marks, verdict.shared) == ("F", True)
    assert verdict.message.endswith("(judged with copies of the arguments; it passes only with the tests' own objects)")


@pytest.mark.parametrize(
    ("right", "lines"),
    [
        ("def double(a, key): a.sort(key=key)", ("candidate(given, lambda x: x)", "assert given == [1, 3]")),
        ("def double(a, key): return a", ("assert candidate(given, lambda x: x) is given",)),
        ("def double(a, key): return key(a)", ("assert candidate((n for n in given), list) == [3, 1]",)),
    ],
)
def test_beside_its_tests_a_program_may_change_what_it_is_asked_to_change(right, lines):
    verdict = judged(right, checks("given = [3, 1]", *lines), canonical=right)
    assert (verdict.passed, verdict.shared) == (True, True), verdict.message
