"""How one method of a ``unittest.TestCase`` is run: its text stands behind such tests, and runs where they do.

So it imports nothing of koderz and holds no assert. ``unittest``'s own runner would swallow what ends a program.
"""

import unittest

PASSED = "passed"


def outcome_of_case(kind: type[unittest.TestCase], name: str) -> str:
    """``passed``, as also for what was skipped, or what was not as expected. What else was raised, it lets through."""
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
        return str(error) or "an assertion failed"
    finally:
        case.doCleanups()
    return PASSED
