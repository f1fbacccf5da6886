"""Programs, tests and replies that are large or too large: what carries them is the same in every tier."""

import pytest
from small_problem import checks, judged, some_tiers

from koderz_core.errors import DataError
from koderz_core.sandbox.judge import MOST_CHARACTERS

pytestmark = [pytest.mark.usefixtures("tier"), pytest.mark.parametrize("tier", some_tiers(), indirect=True)]


def test_a_reply_that_is_too_large_fails_its_test_and_says_how_large_it_was():
    verdict = judged("def double(x): return 2 * x if x > 1 else 'x' * 20_000_000")
    assert (verdict.marks, verdict.error) == ("FPP", "exception")
    assert "20 MB" in verdict.message


def test_a_large_reply_within_the_limit_is_judged():
    tests = checks("assert len(candidate(1)) == 100_000", "assert candidate(1) == 5")
    verdict = judged("def double(x): return [1.5] * 100_000", tests)
    assert verdict.marks == "PF"
    assert len(verdict.failures[0].actual) <= 500


@pytest.mark.parametrize("character", ["x", "é", "\U0001f600", "\\", "\x02"])
def test_a_program_may_be_long_and_one_that_is_too_long_fails_without_being_run(character):
    code = "def double(x): return 2 * x\n#"
    fits = code + character * (MOST_CHARACTERS - len(code))
    assert judged(fits).passed
    verdict = judged(f"{fits}x")
    assert (verdict.marks, verdict.error, verdict.seconds) == ("---", "memory", 0.0)
    assert verdict.message == "the program has 1,000,001 characters, at most 1,000,000 are run"


def test_tests_that_are_too_large_for_a_worker_are_not_the_program_s_fault():
    with pytest.raises(DataError, match=r"tests of small/1 are too large: 18 MB"):
        judged("def double(x): return 2 * x", checks(f"assert candidate(1) == 2, '{'x' * (17 << 20)}'"))
