"""Runs one method of a ``unittest.TestCase``. This source is appended to such tests and runs in the sandbox.

So it imports nothing of koderz and contains no assert. ``unittest``'s own runner would catch exceptions that must end a
program.
"""

import unittest

PASSED = "passed"


def outcome_of_case(kind: type[unittest.TestCase], name: str) -> str:
    """``passed`` if the test passed or was skipped, else the message of the failed assertion.

    Other exceptions propagate.
    """
    if getattr(kind, "__unittest_skip__", False):  # its methods do not have the attribute
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
