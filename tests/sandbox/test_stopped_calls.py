"""A call that raises StopIteration has failed; an iterator that stops has only ended."""

import pytest
from small_problem import checks, judged, some_tiers

pytestmark = [pytest.mark.usefixtures("tier"), pytest.mark.parametrize("tier", some_tiers(), indirect=True)]

STOPS = "def double(x):\n    raise StopIteration"
ODD = "class Odd:\n    def __eq__(self, other): return type(other) is Odd\n"


@pytest.mark.parametrize(
    "test",
    [
        "assert all(map(candidate, [1, 2]))",
        "assert list(map(candidate, [1])) == []",
        "assert next(map(candidate, [1]), 5) == 5",
        "assert list(iter(lambda: candidate(1), 2)) == []",
        "assert list(iter(candidate(0).call, 2)) == []",
        "assert list(zip(map(candidate, [1]), [2])) == []",
    ],
)
@pytest.mark.parametrize("raised", ["StopIteration", "StopAsyncIteration(2)", "Stop('ping')", "Error"])
def test_no_iteration_takes_a_failed_call_for_its_end(test, raised):
    code = (
        "class Stop(StopIteration): pass\nclass Error(Stop, ValueError): pass\nclass Kept: pass\n"
        f"def double(x):\n    if x == 0: return Kept\n    raise {raised}\n@staticmethod\ndef call(): raise {raised}\n"
        "Kept.call = call"
    )
    assert judged(code, checks(test)).marks == "F"


def test_the_message_says_what_was_raised_and_why_it_counts():
    verdict = judged(STOPS, checks("assert all(map(candidate, [1]))"))
    assert verdict.error == "exception"
    assert verdict.message.startswith("line 2: StopIteration (raised by a call, so it ends no iteration in the tests")


def test_it_is_neither_a_stop_iteration_nor_a_runtime_error_for_the_tests():
    tests = checks(
        "for kind in (StopIteration, RuntimeError):",
        "    try: candidate(1)",
        "    except kind: assert candidate is None",
        "    except Exception as error: assert 'StopIteration' in str(error)",
    )
    assert judged(STOPS, tests).marks == "-P"


def test_an_iterator_of_the_program_ends_as_it_would_in_one_process():
    tests = checks(
        "numbers = candidate(2)",
        "assert [next(numbers), next(numbers), next(numbers, None)] == [0, 1, None]",
        "try: next(numbers)",
        "except StopIteration: ended = True",
        "assert ended",
        "assert list(zip(candidate(2), 'ab')) == [(0, 'a'), (1, 'b')]",
    )
    assert judged("def double(n): yield from range(n)", tests).marks == "PPP"


def test_to_send_to_a_generator_is_a_call():
    tests = checks("numbers = candidate(1)", "next(numbers)", "assert list(map(numbers.send, [1])) == []")
    assert judged("def double(x): yield x", tests).marks == "F"


HONEST = ODD + "def double(x): return x == Odd()"
SHARED = "assert all(map(lambda n: candidate(Odd()), [1, 2]))"
CATCHES = ("try: next(iter([]))", "except StopIteration: pass")


@pytest.mark.parametrize(
    "lines",
    [
        (SHARED,),
        (*CATCHES, SHARED),
        ("expected = StopIteration", SHARED),
        ("try: seen = list(map(candidate, [Odd()]))", "except StopIteration: pass", "assert seen != []"),
        ("try: seen = [candidate(Odd()) for _ in iter(lambda: candidate(Odd()), 0)]", CATCHES[1], "assert seen != []"),
        ("try: pass", "except StopIteration: pass", "else: seen = {*map(lambda n: candidate(Odd()), [1])}", SHARED),
        ("from contextlib import suppress", "with suppress(StopIteration): candidate(Odd())", SHARED),
    ],
    ids=" ".join,
)
def test_beside_the_program_too_no_iteration_takes_a_failed_call_for_its_end(lines):
    verdict = judged("def double(x): raise StopIteration", checks(*lines), ODD, canonical=HONEST)
    assert (verdict.passed, verdict.shared) == (False, True)


RAISES = "import unittest\ncase = unittest.TestCase()\n"


@pytest.mark.parametrize(
    "lines",
    [
        ("try: ended = not candidate(Odd())", "except StopIteration: ended = True", "assert ended"),
        ("try: ended = not candidate(Odd())", "except (KeyError, StopIteration): ended = True", "assert ended"),
        ("with case.assertRaises(StopIteration): candidate(Odd())", "assert case"),
        ("case.assertRaises(StopIteration, candidate, Odd())", "assert case"),
        ("case.assertRaises(StopIteration, lambda: candidate(Odd()))", "assert case"),
    ],
    ids=" ".join,
)
def test_beside_the_program_tests_that_expect_a_call_to_raise_it_get_it(lines):
    expecting = "def double(x):\n    if x == Odd(): raise StopIteration"
    verdict = judged(ODD + expecting, RAISES + checks(*lines), ODD, canonical=ODD + expecting)
    assert (verdict.passed, verdict.shared) == (True, True), verdict.message
    failed = judged("def double(x): raise StopAsyncIteration", RAISES + checks(*lines), ODD, canonical=ODD + expecting)
    assert not failed.passed


def test_beside_the_program_an_iterator_ends_as_usual():
    tests = checks(
        "numbers = candidate(Odd())",
        "next(numbers)",
        *CATCHES,
        "try: next(numbers)",
        CATCHES[1] + "; ended = 1",
        "assert ended",
    )
    honest = ODD + "def double(x): yield x == Odd()"
    verdict = judged(honest, tests, ODD, canonical=honest)
    assert (verdict.marks, verdict.shared) == ("P", True)
