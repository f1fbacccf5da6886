"""A call that raises StopIteration has failed; an iterator that stops has only ended."""

import pytest
from small_problem import checks, judged

pytestmark = pytest.mark.usefixtures("tier")

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


@pytest.mark.parametrize(("named", "marks"), [("", "F"), ("expected = StopIteration", "P")])
def test_beside_the_program_only_tests_that_name_it_get_it(named, marks):
    tests = checks(*filter(None, [named]), "assert all(map(candidate, [Odd()]))")
    honest = ODD + "def double(x): return x == Odd()"
    verdict = judged("def double(x): raise StopIteration", tests, ODD, canonical=honest)
    assert (verdict.marks, verdict.shared) == (marks, True)
