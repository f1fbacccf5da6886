"""Runs the methods of a ``unittest.TestCase``, and tests for pytest. This source is appended to tests of modules.

It runs in the sandbox, so it imports nothing of koderz and contains no assert. ``unittest``'s own runner would catch
exceptions that must end a program.
"""

import unittest
from collections.abc import Callable

PASSED = "passed"
_SKIPPED_CLASSES: dict[type[unittest.TestCase], bool] = {}


def set_up_class_of_cases(kind: type[unittest.TestCase]) -> None:
    """As ``unittest`` does before the tests of a class, which may skip all of them."""
    if _is_skipped(kind):
        return
    try:
        kind.setUpClass()
    except unittest.SkipTest as skipped:
        if _outcome_of_skip(skipped) != PASSED:
            raise
        _SKIPPED_CLASSES[kind] = True


def tear_down_class_of_cases(kind: type[unittest.TestCase]) -> None:
    """As ``unittest`` does after the tests of a class."""
    if not _is_skipped(kind):
        kind.tearDownClass()


def _is_skipped(kind: type[unittest.TestCase]) -> bool:
    """Whether a decorator or ``setUpClass`` skips all tests of a class."""
    return kind in _SKIPPED_CLASSES or bool(getattr(kind, "__unittest_skip__", False))


def outcome_of_case(kind: type[unittest.TestCase], name: str) -> str:
    """``passed`` if the test passed, was skipped or failed as expected, else the message of the failed assertion.

    Other exceptions propagate.
    """
    test = getattr(kind, name)
    if _is_skipped(kind) or getattr(test, "__unittest_skip__", False):
        return PASSED
    fails = any(getattr(part, "__unittest_expecting_failure__", False) for part in (kind, test))
    case = kind(name)
    try:
        case.setUp()
        try:
            getattr(case, name)()
        finally:
            case.tearDown()
    except unittest.SkipTest as skipped:
        return _outcome_of_skip(skipped)
    except AssertionError as error:
        return PASSED if fails else _message(error)
    finally:
        case.doCleanups()
    return "the test passed, but is marked as an expected failure" if fails else PASSED


def outcome_of_function(test: Callable[..., object]) -> str:
    """``passed`` if a test for pytest passed or was skipped, else the message of the failed assertion."""
    for parameters in getattr(test, "parameters", [{}]):
        outcome = PASSED
        try:
            test(**parameters)
        except unittest.SkipTest as skipped:
            outcome = _outcome_of_skip(skipped)
        except AssertionError as error:
            outcome = _message(error)
        if outcome != PASSED:
            return f"{outcome} (with {parameters!r})" if parameters else outcome
    return PASSED


def _outcome_of_skip(skipped: unittest.SkipTest) -> str:
    """``passed``, unless the program has raised the exception: only a test may skip itself."""
    trace = skipped.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith("<candidate>"):
            return "the program raised SkipTest"
        trace = trace.tb_next
    return PASSED


def _message(error: AssertionError) -> str:
    """The message of a failed assertion, which is never ``passed``: the program may have raised it, with any text."""
    said = str(error)
    return said if said and said != PASSED else f"an assertion failed: {said!r}"
