"""Runs the methods of a ``unittest.TestCase``. This source is appended to such tests and runs in the sandbox.

So it imports nothing of koderz and contains no assert. ``unittest``'s own runner would catch exceptions that must end a
program.
"""

import unittest

PASSED = "passed"
_SKIPPED_CLASSES: set[type[unittest.TestCase]] = set()


def set_up_class_of_cases(kind: type[unittest.TestCase]) -> None:
    """As ``unittest`` does before the tests of a class, which may skip all of them."""
    if _is_skipped(kind):
        return
    try:
        kind.setUpClass()
    except unittest.SkipTest:
        _SKIPPED_CLASSES.add(kind)


def tear_down_class_of_cases(kind: type[unittest.TestCase]) -> None:
    """As ``unittest`` does after the tests of a class."""
    if not _is_skipped(kind):
        kind.tearDownClass()


def _is_skipped(kind: type[unittest.TestCase]) -> bool:
    """Whether a decorator or ``setUpClass`` skips all tests of a class."""
    return kind in _SKIPPED_CLASSES or bool(getattr(kind, "__unittest_skip__", False))


def outcome_of_case(kind: type[unittest.TestCase], name: str) -> str:
    """``passed`` if the test passed or was skipped, else the message of the failed assertion.

    Other exceptions propagate.
    """
    if _is_skipped(kind):
        return PASSED
    case = kind(name)
    try:
        case.setUp()
        try:
            getattr(case, name)()
        finally:
            case.tearDown()
    except unittest.SkipTest:
        return PASSED
    except AssertionError as error:
        said = str(error)  # the program may have raised it, with any text
        return said if said and said != PASSED else f"an assertion failed: {said!r}"
    finally:
        case.doCleanups()
    return PASSED
