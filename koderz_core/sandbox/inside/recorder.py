"""Keeps the marks of the tests while they run: what passed, what failed and why, what was never reached."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple

from .excerpt import excerpt, shown
from .faults import Fault, TestsBrokenError, describe, fault_of

MAX_FAILURES = 50
PASSED, FAILED, NOT_REACHED = "P", "F", "-"
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {  # Any: whatever tests compare
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda left, right: left in right,
    "not in": lambda left, right: left not in right,
}


class Failure(NamedTuple):
    """The first time a test failed: ``koderz_core.records.TestFailure``."""

    place: int  # tuples have an index already
    source: str
    expected: str | None
    actual: str | None
    message: str


class Recorder:
    """The marks of all tests, their failures, and the first fault of all. ``called``: was the program asked yet?"""

    def __init__(self, sources: tuple[str, ...], called: Callable[[], bool]) -> None:
        self.sources = sources
        self.called = called
        self.marks = [NOT_REACHED] * len(sources)
        self.failures: list[Failure] = []
        self.first: Fault | None = None

    def site(self, index: int) -> Site:
        return Site(self, index)

    def note(self, fault: Fault) -> None:
        """Remember a fault if it is the first."""
        self.first = self.first or fault

    def passed(self, index: int) -> None:
        if self.marks[index] == NOT_REACHED:
            self.marks[index] = PASSED

    def failed(self, failure: Failure, fault: Fault) -> None:
        """One failure per test is kept, and a bounded number of them."""
        self.note(fault)
        if self.marks[failure.place] != FAILED and len(self.failures) < MAX_FAILURES:
            self.failures.append(failure)
        self.marks[failure.place] = FAILED


class Site:
    """One execution of one assert; swallows exceptions, so that the tests after it still run."""

    def __init__(self, recorder: Recorder, index: int) -> None:
        self._recorder = recorder
        self._index = index
        self._holds = False
        self._actual: Callable[[], str] | None = None
        self._expected: Callable[[], str] | None = None

    def compare(self, operation: str, left: object, right: object) -> None:
        self._actual = lambda: shown(left)
        self._expected = lambda: shown(right) if operation == "==" else f"{operation} {shown(right)}"
        self._holds = bool(_OPERATORS[operation](left, right))

    def true(self, value: object) -> None:
        self._actual, self._expected = lambda: shown(value), lambda: "a true value"
        self._holds = bool(value)

    def false(self, value: object) -> None:
        self._actual, self._expected = lambda: shown(value), lambda: "a false value"
        self._holds = not value

    def holds(self, value: object) -> None:
        self._holds = bool(value)

    def __enter__(self) -> Site:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, TestsBrokenError):
            return False
        if isinstance(error, Exception) and not self._recorder.called():
            raise TestsBrokenError(describe(error))
        if error is not None:
            fault = fault_of(error)
            self._fail(fault, excerpt(fault.message))
        elif self._holds:
            self._recorder.passed(self._index)
        else:
            self._fail(self._false_assert(), "")
        return isinstance(error, Exception)

    def _fail(self, fault: Fault, message: str) -> None:
        source = excerpt(self._recorder.sources[self._index])
        expected = self._expected() if self._expected else None
        actual = self._actual() if self._actual else None
        self._recorder.failed(Failure(self._index, source, expected, actual, message), fault)

    def _false_assert(self) -> Fault:
        source = excerpt(self._recorder.sources[self._index], 300)
        seen = f" was not so: got {excerpt(self._actual(), 200)}" if self._actual else " was not so"
        wanted = f", expected {excerpt(self._expected(), 200)}" if self._expected else ""
        return Fault("assertion", f"{source}{seen}{wanted}")
