import pytest
from small_problem import BWRAP, checks, judged

from koderz_core.errors import DataError, SandboxError
from koderz_core.sandbox.judge import BoxedJudge
from koderz_core.sandbox.requests import ask
from koderz_core.sandbox.tiers import count_tests

pytestmark = pytest.mark.usefixtures("tier")


def test_a_right_program_passes_every_test(tier):
    verdict = judged("def double(x):\n    return 2 * x")
    assert (verdict.marks, verdict.passed, verdict.error, verdict.message) == ("PPP", True, None, "")
    assert verdict.isolation == tier
    assert not verdict.shared


def test_a_false_assert_fails_its_test_only_and_shows_what_was_seen():
    verdict = judged("def double(x):\n    return 4")
    assert (verdict.marks, verdict.completed, verdict.error) == ("FPF", True, "assertion")
    first = verdict.failures[0]
    assert (first.index, first.source) == (0, "assert candidate(1) == 2")
    assert (first.actual, first.expected) == ("4", "2")


@pytest.mark.parametrize(
    ("test", "actual", "expected"),
    [
        ("assert candidate(2) is None", "4", "is None"),
        ("assert abs(candidate(2) - 5) < 0.5", "1", "< 0.5"),
        ("assert candidate(2) in [1, 2]", "4", "in [1, 2]"),
        ("assert not candidate(2)", "4", "a false value"),
        ("assert candidate(0)", "0", "a true value"),
        ("assert candidate(2) == 5 and x", None, None),
    ],
)
def test_each_kind_of_assert_shows_what_it_can(test, actual, expected):
    (failure,) = judged("def double(x): return 2 * x", checks(test)).failures
    assert (failure.actual, failure.expected) == (actual, expected)


def test_an_assert_in_a_loop_passes_if_every_round_passes():
    tests = checks("for n in range(5): assert candidate(n) == 2 * n", "assert candidate(9) == 18")
    assert judged("def double(x): return 2 * x", tests).marks == "PP"
    verdict = judged("def double(x): return 2 * min(x, 3) if x < 9 else 18", tests)
    assert verdict.marks == "FP"
    assert [failure.actual for failure in verdict.failures] == ["6"]


def test_an_exception_outside_asserts_ends_the_tests():
    tests = checks("assert candidate(1) == 2", "y = candidate(0)", "assert y == 0")
    verdict = judged("def double(x): return 2 // x", tests)
    assert (verdict.marks, verdict.completed, verdict.error) == ("P-", False, "exception")
    assert verdict.message == "line 1: ZeroDivisionError: integer division or modulo by zero"


def test_tests_that_were_not_reached_do_not_pass():
    verdict = judged(
        "def double(x): return 2 * x", checks("assert candidate(1) == 2", "if candidate(1) == 3: assert candidate(2)")
    )
    assert (verdict.marks, verdict.passed, verdict.completed) == ("P-", False, True)
    assert verdict.message == "1 of 2 tests were not reached"


def test_tests_without_a_real_assert_are_passed_by_nothing():
    assert not judged("def double(x): return 2 * x", checks("assert True", "candidate(1)")).passed


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        ("def double(x:\n  pass", "syntax", "line 1: SyntaxError: "),
        ("\nx = 1\0", "syntax", "SyntaxError: "),
        ("import no_such_module", "import", "line 1: ModuleNotFoundError: "),
        ("def double(x):\n\n    return y", "name", "line 3: NameError: name 'y' is not defined"),
        ("def double(x):\n    x += y\n    y = 1", "name", "line 2: UnboundLocalError: "),
        ("def triple(x): return 3 * x", "name", "NameError: the program defines no function 'double'"),
        ("double = 5", "name", "NameError: the program defines no function 'double'"),
        ("def double(x): return 'a' + x", "type", "line 1: TypeError: "),
        ("def double(): return 2", "type", "TypeError: "),
        ("def double(x): return x", "assertion", "assert candidate(1) == 2 was not so: got 1, expected 2"),
        ("def double(x): raise ValueError('odd')", "exception", "line 1: ValueError: odd"),
        ("def double(x): assert x > 99, 'mine'", "exception", "line 1: AssertionError: mine"),
        ("def double(x): return double(x)", "exception", "line 1: RecursionError: "),
        ("def double(x): return bytearray(4 << 30)", "memory", "line 1: MemoryError"),
        ("def double(x): raise PermissionError('no')", "forbidden", "line 1: PermissionError: no"),
        ("import sys\nsys.exit(3)", "exception", "line 2: SystemExit: 3"),
        ("def double(x): raise KeyboardInterrupt", "exception", "line 1: KeyboardInterrupt"),
        ("import os\ndef double(x): os._exit(0)", "exception", "the program ended its own process (exit code 0)"),
        ("import os\ndef double(x): os.abort()", "exception", "the program's process died of SIGABRT"),
        ("import os\ndef double(x): os.kill(os.getpid(), 9)", "memory", "the program's process was killed"),
        ("import os\ndef double(x): os.closerange(0, 99)", "exception", "the program ended its own process"),
        (
            "import os\ndef double(x): os.write(3, b'\\0\\0\\0\\1x')",
            "exception",
            "the program's process sent a message",
        ),
    ],
)
def test_the_first_failure_names_the_error(code, error, message):
    verdict = judged(code)
    assert not verdict.passed
    assert "P" not in verdict.marks
    assert len(verdict.marks) == 3
    assert verdict.error == error
    assert verdict.message.startswith(message)


def test_a_program_that_cannot_be_loaded_has_as_many_marks_as_the_host_counts():
    tests = checks("assert True", "assert candidate(1) == 2", "for n in ():", "    assert candidate(n)")
    assert len(judged("(", tests).marks) == count_tests(tests)


def test_an_exception_keeps_its_builtin_type_and_arguments():
    tests = checks(
        "try: candidate(1)", "except KeyError as error: assert error.args == ('key', 2)", "assert candidate(2) == 4"
    )
    code = "class Odd(KeyError): pass\ndef double(x):\n    if x == 1: raise Odd('key', 2)\n    return 2 * x"
    assert judged(code, tests).marks == "PP"


def test_a_test_cannot_catch_the_end_of_a_program():
    tests = checks("try: candidate(1)", "except Exception: pass", "assert 1 != candidate")
    verdict = judged("def double(x): raise SystemExit", tests)
    assert (verdict.marks, verdict.completed) == ("-", False)


def test_helper_functions_of_the_problem_are_known_to_program_and_tests():
    tests = checks("assert candidate(1) == twice(1)", "assert double(4) == 8")
    verdict = judged("def double(x): return twice(x)", tests, preamble="def twice(x):\n    return 2 * x\n")
    assert verdict.passed


def test_lines_are_counted_in_the_program_not_in_the_preamble():
    verdict = judged("def double(x):\n    return nothing", preamble="import math\nimport re\n")
    assert verdict.message.startswith("line 2: NameError")


def test_programs_may_define_dataclasses_and_enums():
    code = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom enum import IntEnum\n"
        "@dataclass\nclass Pair:\n    x: int\nclass Two(IntEnum):\n    TWO = 2\n"
        "def double(x): return Pair(x).x * Two.TWO"
    )
    assert judged(code).passed


def test_programs_may_use_asyncio_without_a_network():
    code = (
        "import asyncio\n"
        "async def put(queue, x):\n    await asyncio.sleep(0.001)\n    await queue.put(2 * x)\n"
        "async def main(x):\n    queue = asyncio.Queue()\n"
        "    _, got = await asyncio.gather(put(queue, x), asyncio.wait_for(queue.get(), 9))\n    return got\n"
        "def double(x): return asyncio.run(main(x))"
    )
    assert judged(code).passed


def test_a_program_runs_as_a_module_not_as_a_script():
    assert judged("def double(x): return 2 * x\nif __name__ == '__main__':\n    1 / 0").passed


def test_failures_hold_no_text_that_a_journal_could_not():
    verdict = judged("def double(x): raise ValueError('\\ud800\\n' * 9999)")
    verdict.message.encode("utf-8")
    assert len(verdict.message) <= 1000
    assert len(verdict.message.splitlines()) == 1
    assert all(len(failure.message) <= 500 for failure in verdict.failures)


@pytest.mark.parametrize(
    ("tests", "cause"),
    [
        ("def check(candidate:", "SyntaxError"),
        ("import no_such_module\n" + checks("assert candidate(1) == 2"), "no_such_module"),
        (checks("assert candidate(unknown) == 2"), "unknown"),
        ("x = 1", "check"),
        ("", "check"),
        (checks("assert candidate('x' * (17 << 20)) == 2"), "at most 17 MB"),
        (checks("raise SystemExit"), "SystemExit"),
    ],
)
def test_tests_that_are_broken_are_not_the_program_s_fault(tests, cause):
    with pytest.raises(DataError, match=cause) as caught:
        judged("def double(x): return 2 * x", tests)
    assert "small/1" in str(caught.value)


def test_a_program_called_with_too_much_of_what_it_returned_fails_by_itself():
    tests = checks("once = candidate([1])", "assert candidate([once, once]) == 5")
    verdict = judged("def double(x):\n    return 'x' * (10 << 20)", tests)
    assert (verdict.marks, verdict.error) == ("F", "exception")


def test_a_worker_lost_twice_is_an_error_of_ours_which_no_boxed_program_can_cause(tier):
    code = "import os, time\ndef double(x):\n    os.kill(os.getppid(), 9)\n    time.sleep(5)"
    if tier == "limited":
        with pytest.raises(SandboxError, match="small/1"):
            judged(code)
    else:
        assert judged(code).error == "forbidden"


def test_a_worker_that_cannot_be_started_is_an_error_of_ours(tier, tmp_path, monkeypatch):
    monkeypatch.setattr("koderz_core.sandbox.box._interpreter", lambda: tmp_path / "gone")
    with pytest.raises(SandboxError, match="could not be started"):
        judged("", judge=BoxedJudge(tier, BWRAP))


def test_an_assert_that_fails_once_in_a_loop_has_failed():
    tests = checks("for n in (1, 2, 3): assert candidate(n) == 2 * n")
    assert judged("def double(x): return 2 * x if x > 1 else 0", tests).marks == "F"


def test_tests_that_catch_everything_cannot_catch_the_end_of_the_program():
    tests = checks("try: candidate(1)", "except BaseException: pass", "assert candidate is not None")
    verdict = judged("import os\ndef double(x): os._exit(0)", tests)
    assert (verdict.passed, verdict.error) == (False, "exception")


def test_tests_that_draw_at_random_draw_the_same_every_time():
    tests = checks("import random", "assert candidate(1) == random.random()")
    expected = {judged("def double(x): return 0", tests).failures[0].expected for _ in range(3)}
    assert len(expected) == 1


def test_a_program_that_fails_tests_of_plain_data_without_a_solution_is_run_once(monkeypatch):
    orders = []
    monkeypatch.setattr(
        "koderz_core.sandbox.judge.ask", lambda workers, order: orders.append(order) or ask(workers, order)
    )
    assert judged("def double(x): return 5").marks == "FFF"
    assert len(orders) == 1
