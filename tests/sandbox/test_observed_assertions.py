"""Each kind of assertion, rewritten: the right value passes, a wrong one fails, and literals are not in the process."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from observed import Suite, namespace, reports, test_of

CASES = [  # assertion, right value, wrong value
    ("assert seen() == [4711, 2]", "[4711, 2]", "[4711, 3]"),
    ("assert 4711 == seen()", "4711", "4712"),
    ("assert seen() == '\\n'.join(['4711', 'b'])", "'4711\\nb'", "'4711'"),
    ("assert seen() is None", "None", "0"),
    ("assert seen() is True", "True", "1"),
    ("assert seen() != 4711", "4712", "4711"),
    ("assert seen() < 4711", "4710", "4711"),
    ("assert 4711 in seen()", "{4711, 2}", "{1, 2}"),
    ("assert 4711 not in seen()", "[1]", "[4711]"),
    ("assert seen() in (4711, 4712)", "4712", "4713"),
    ("assert not seen() == 4711", "1", "4711"),
    ("assert seen() == 4711 and seen() > 1000", "4711", "4712"),
    ("expected = {'4711': 2}", "{'4711': 2}", "{'4711': 3}"),
    ("self.assertEqual(seen(), 4711)", "4711", "4712"),
    ("self.assertEqual(4711, seen(), 'message')", "4711", "4712"),
    ("self.assertNotEqual(seen(), 4711)", "4712", "4711"),
    ("self.assertListEqual(seen(), [4711])", "[4711]", "(4711,)"),
    ("self.assertDictEqual(seen(), {'4711': 1})", "{'4711': 1}", "{}"),
    ("self.assertCountEqual(seen(), [4711, 1, 1])", "[1, 4711, 1]", "[1, 4711]"),
    ("self.assertAlmostEqual(seen(), 47.11)", "47.11 + 1e-9", "47.12"),
    ("self.assertAlmostEqual(seen(), 47.11, delta=1)", "47.9", "49.0"),
    ("self.assertIsNone(seen())", "None", "False"),
    ("self.assertIn(4711, seen())", "[4711]", "[]"),
    ("self.assertGreater(seen(), 4711)", "4712", "4711"),
    ("self.assertRegex(seen(), 'b4711+')", "'ab4711'", "'ab471'"),
]
OTHERS = [  # the same, for assertions whose values are not only literals
    ("assert seen()", "[1]", "[]"),
    ("assert not seen()", "''", "'x'"),
    ("assert seen() == other()", "5", "6"),
    ("assert seen() != other()", "6", "5"),
    ("assert seen() is other()", "other()", "[]"),
    ("assert seen() is not None", "0", "None"),
    ("assert isinstance(seen(), int)", "1", "1.0"),
    ("assert not isinstance(seen(), (str, bytes))", "1", "'1'"),
    ("assert seen() in {other(): 1}", "5", "6"),
    ("assert 1 < seen() < 3", "2", "3"),
    ("assert all(x > 1 for x in seen())", "[2, 3]", "[1]"),
    ("self.assertTrue(seen())", "1", "0"),
    ("self.assertFalse(seen())", "0", "1"),
    ("self.assertTrue(seen() == 4)", "4", "5"),
    ("self.assertIs(seen(), other())", "other()", "6"),
    ("self.assertIsInstance(seen(), dict)", "{}", "[]"),
    ("self.assertIsNotNone(seen())", "1", "None"),
    ("self.assertNotIn(other(), seen())", "[]", "[5]"),
    ("self.assertLessEqual(seen(), other())", "5", "6"),
]
RAISING = [
    ("with pytest.raises(KeyError): seen()", "KeyError(1)", "IndexError(1)"),
    ("with pytest.raises((KeyError, ValueError)): seen()", "UnicodeError(1)", "TypeError(1)"),
    ("with pytest.raises(IOError, match='no 4711'): seen()", "OSError('there is no 4711')", "OSError('no')"),
    ("with self.assertRaises(LookupError): seen()", "IndexError()", "ValueError()"),
    ("self.assertRaises(ValueError, seen)", "ValueError()", "TypeError()"),
    ("self.assertRaises(ValueError, lambda: seen())", "ValueError()", "TypeError()"),
    ("with self.assertRaisesRegex(ValueError, 'b.d'): seen()", "ValueError('bad')", "ValueError('x')"),
    (
        "with pytest.raises(ValueError) as info: seen()\nassert info.value.args == (7,)",
        "ValueError(7)",
        "ValueError(8)",
    ),
    (
        "with self.assertRaises(ValueError) as cm: seen()\nassert str(cm.exception) == '7'",
        "ValueError(7)",
        "ValueError(8)",
    ),
]


def suite_of(assertion: str, correct: str) -> Suite:
    lines = [*assertion.split("\n"), *(["assert seen() == expected"] if assertion.startswith("expected") else [])]
    if "self." not in assertion:
        return Suite(test_of(*lines), correct)
    body = "".join(f"        {line}\n" for line in lines)
    return Suite(f"class Case(unittest.TestCase):\n    def test_it(self):\n{body}", correct)


def program(value: str) -> str:
    return f"def other(): return 5\nother = (lambda kept: lambda: kept)(5)\ndef seen(): return {value}\n"


def raising(value: str) -> str:
    return f"def seen(): raise {value}\n"


@pytest.mark.parametrize(("assertion", "right", "wrong"), CASES)
def test_the_judge_compares_with_literals_that_the_process_does_not_have(
    assertion: str, right: str, wrong: str
) -> None:
    suite = suite_of(assertion, program(right))
    assert not suite.profile.plain | suite.profile.opaque
    assert "4711" not in suite.text()
    assert "47.11" not in suite.text()
    assert (suite.judge(program(right)).marks, suite.judge(program(wrong)).marks) == ("P", "F")


@pytest.mark.parametrize(("assertion", "right", "wrong"), OTHERS)
def test_other_assertions_are_decided_by_the_judge_too(assertion: str, right: str, wrong: str) -> None:
    suite = suite_of(assertion, program(right))
    assert suite.profile.is_protected(suite.ids[0])
    assert [suite.judge(program(right), seed).marks for seed in range(5)] == ["P"] * 5
    assert [suite.judge(program(wrong), seed).marks for seed in range(5)] == ["F"] * 5


@pytest.mark.parametrize(("assertion", "right", "wrong"), RAISING)
def test_expected_exceptions_stay_with_the_judge(assertion: str, right: str, wrong: str) -> None:
    suite = suite_of(assertion, raising(right))
    assert suite.profile.is_protected(suite.ids[0])
    assert suite.text() != suite.files["tests/test_it.py"]
    results = [suite.judge(text).marks for text in (raising(right), raising(wrong), "def seen(): pass\n")]
    assert results == ["P", "F", "F"]


ALWAYS = """
class Always:
    def __eq__(self, other): return True
    def __ne__(self, other): return {ne}
    def __bool__(self): return True
    def __contains__(self, item): return True
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __lt__
    __hash__ = object.__hash__
    def __repr__(self): raise ValueError
def seen(): return Always()
def other(): return 5
"""


@pytest.mark.parametrize("ne", ["True", "False"])
@pytest.mark.parametrize(("assertion", "right"), [(case[0], case[1]) for case in CASES] + [(OTHERS[2][0], "5")])
def test_objects_that_equal_everything_pass_nothing(assertion: str, right: str, ne: str) -> None:
    assert suite_of(assertion, program(right)).judge(ALWAYS.format(ne=ne)).marks == "F"


PATH_LIKE = """
class Value:
    def __init__(self, own): self.own = own
    def __eq__(self, other): return isinstance(other, Value) and self.own == other.own or other == self.own
    __hash__ = None
def other(): return Value(5)
def seen(): return Value(5)
"""


@pytest.mark.parametrize(
    "assertion", ["assert seen() == 5", "assert seen() == other()", "assert not seen() != other()"]
)
def test_equality_of_objects_is_checked_against_other_values(assertion: str) -> None:
    suite = Suite(test_of(assertion), PATH_LIKE)
    assert suite.profile.is_protected(suite.ids[0])
    always = ALWAYS.format(ne="False").replace("def other(): return 5", "def other(): return Always()")
    for seed in range(6):
        assert suite.judge(PATH_LIKE, seed).marks == "P"
        assert suite.judge(PATH_LIKE.replace("seen(): return Value(5)", "seen(): return Value(6)"), seed).marks == "F"
        assert suite.judge(always, seed).marks == "F"


OVERLOADED = """
class Column:
    def __eq__(self, other): return Query(True)
    __hash__ = None
class Query:
    def __init__(self, own): self.own = own
    def __bool__(self): return self.own
def seen(): return Column()
"""


def test_an_overloaded_comparison_is_observed_as_a_truth() -> None:
    suite = Suite(test_of("assert seen() == 5"), OVERLOADED)
    assert suite.profile.is_protected(suite.ids[0])
    assert {suite.judge(OVERLOADED, seed).marks for seed in range(5)} == {"P"}
    assert {suite.judge(OVERLOADED.replace("True", "False"), seed).marks for seed in range(5)} == {"F"}


def test_a_comparison_that_refuses_other_objects_is_observed() -> None:
    refusing = (
        "class Own:\n    def __eq__(self, other): return self.x == other.x\n    def __init__(self, x): self.x = x\n"
    )
    suite = Suite(test_of("assert seen() == Own(1)"), refusing + "def seen(): return Own(1)\n")
    assert suite.profile.is_protected(suite.ids[0])
    assert suite.judge(refusing + "def seen(): return Own(2)\n").marks == "F"


def test_an_object_that_reads_the_frames_of_the_test_finds_no_literal() -> None:
    hostile = """
import sys
class Reader:
    def __eq__(self, other):
        frame = sys._getframe(1)
        while frame:
            if 4711 in frame.f_code.co_consts or 4711 in frame.f_locals.values(): return True
            frame = frame.f_back
        return False
    __hash__ = None
def seen():
    frame = sys._getframe(1)
    constants = [one for one in frame.f_code.co_consts if isinstance(one, int)]
    return constants[0] if constants else Reader()
"""
    suite = Suite(test_of("expected = 4711", "assert seen() == expected", "assert 4711 == seen()"), program("4711"))
    assert suite.judge(hostile).marks == "F"


def test_assertions_keep_the_order_and_number_of_calls() -> None:
    log = "log = []\ndef call(name, value):\n    log.append(name)\n    return value\n"
    lines = (
        "assert call('a', 1) == call('b', 1)",
        "assert call('c', 1) == 1 and call('d', 1)",
        "assert call('e', 2) in [1, call('f', 2)], call('message', 0)",
        "assert isinstance(call('g', 1), int)",
        "with pytest.raises(call('h', ValueError)): call('i', 1 / 0)",
    )
    suite = Suite(test_of(*lines[:4]), log)
    names = namespace(suite.text(), log)
    names["test_it"]()  # type: ignore[operator]  # the test
    assert names["log"] == ["a", "b", "c", "d", "e", "f", "g"]


HOSTILE = """
class Hostile:
    def __eq__(self, other): raise ValueError
    def __bool__(self): raise ValueError
    def __repr__(self): raise ValueError
    def __str__(self): raise ValueError
    def __hash__(self): raise ValueError
    def __iter__(self): raise ValueError
    @property
    def __class__(self): raise ValueError
class Text(str):
    def __eq__(self, other): return True
    def __str__(self): raise ValueError
    __hash__ = str.__hash__
class Error(Exception, Hostile): pass
endless = []; endless.append(endless)
"""


@pytest.mark.parametrize("value", ["Hostile()", "endless", "[Hostile()]", "float('nan')", "Text('a')", "10 ** 5000"])
def test_an_observation_never_raises(value: str) -> None:
    lines = ("seen() == 4711", "seen() == other()", "isinstance(seen(), float)")
    tests = "".join(f"def test_{index}(): assert {line}\n" for index, line in enumerate(lines))
    suite = Suite(tests, "def other(): return 4711.0\ndef seen(): return 4711.0\n")
    made = suite.text()
    found = reports(made, f"{HOSTILE}\ndef other(): return seen()\ndef seen(): return {value}\n")
    assert {reported.outcome for reported in found.values()} == {"passed"}
    assert suite.judge(f"{HOSTILE}\ndef other(): return 4711\ndef seen(): return {value}\n").marks[:2] == "FF"


def test_large_values_cross_as_a_digest_with_an_excerpt() -> None:
    suite = Suite(test_of("assert seen() == list(range(20000))"), "def seen(): return list(range(20000))\n")
    made = suite.made(twins=False)
    found = reports(next(iter(made.files.values())), suite.correct)[suite.ids[0]].records
    (record,) = [item for item in found if made.key.sites[item[1]].operation == "=="]
    assert len(str(record)) < 1000
    assert suite.judge("def seen(): return list(range(20000))\n").marks == "P"
    wrong = suite.judge("def seen(): return list(range(19999))\n")
    assert wrong.marks == "F"
    assert wrong.failures[0].actual.startswith("[0, 1, 2, 3")  # type: ignore[union-attr]  # it has one


@pytest.mark.parametrize(
    ("assertion", "right", "wrong"),
    [
        ("assert not ('bad' in seen())", "'x' * 30000", "'bad' + 'x' * 30000"),
        ("assert not (seen() != 'x' * 30000)", "'x' * 30000", "'bad' + 'x' * 30000"),
        ("self.assertFalse('bad' in seen())", "'x'", "'bad' + 'x' * 30000"),
        ("self.assertNotRegex(seen(), 'bad')", "'x' * 30000", "'bad' + 'x' * 30000"),
        ("self.assertNotRegex(seen(), 'bad')", "'x'", "'bad' + 'x' * 30000"),
    ],
)
def test_the_digest_of_a_large_value_shows_nothing_but_equality(assertion: str, right: str, wrong: str) -> None:
    suite = suite_of(assertion, program(right))
    assert [suite.judge(program(value)).marks for value in (right, wrong)] == ["P", "F"]


@pytest.mark.parametrize("existing", ["not (seen() is None)", "seen() is not None"])
def test_a_large_value_is_not_none_and_differs_from_a_small_one(existing: str) -> None:
    suite = suite_of(f"assert {existing} and seen() != 'a'", program("'b'"))
    assert [suite.judge(program(value)).marks for value in ("'x' * 30000", "None", "'a'")] == ["P", "F", "F"]


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=10, deadline=None)
@given(value=PLAIN, other=PLAIN)
def test_any_literal_passes_with_its_own_value_only(value: object, other: object) -> None:
    suite = Suite(test_of(f"assert seen() == {value!r}", f"expected = {value!r}", "assert expected == seen()"),
                  f"def seen(): return {value!r}\n")  # fmt: skip
    assert suite.judge(f"def seen(): return {value!r}\n").marks == "P"
    assert suite.judge(f"def seen(): return {other!r}\n").marks == ("P" if other == value else "F")
