"""Records the marks of tests while they run: passed, failed with the reason, or not reached."""

from __future__ import annotations

import operator
import re
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, NamedTuple

from .faults import CannotCrossError, Fault, TestsBrokenError, describe, excerpt, fault_of, shown
from .values import Opaque, encode, holds

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # differs from run to run
MAX_FAILURES = 50
MAX_SOURCE = 1500  # characters of a failed test, which may be a method of many lines
PASSED, FAILED, NOT_REACHED = "P", "F", "-"
_MOST_SECONDS = 1e6
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {  # Any: any values
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
    """The first failure of a test, as ``koderz_core.records.TestFailure``."""

    place: int  # named tuples already have a method ``index``
    source: str
    expected: str | None
    actual: str | None
    message: str


class Outcome(NamedTuple):
    """The result of a test set, as in ``koderz_core.records.Verdict``; ``test_seconds`` has one number per test."""

    marks: str
    failures: tuple[Failure, ...]
    error: str | None
    message: str
    test_seconds: tuple[float, ...]


class Recorder:
    """The marks of all tests, their failures, and the first fault. ``called``: whether the program was called.

    ``asks``: a comparison of two objects of the program asks the program, as with ``objects.Object``.
    """

    def __init__(self, sources: Sequence[str], called: Callable[[], bool], *, asks: bool = False) -> None:
        self.sources = sources
        self.called = called
        self.asks = asks
        self.met_own = False  # objects of the program were compared with each other, and equalled nothing
        self.marks = [NOT_REACHED] * len(sources)
        self.failures: list[Failure] = []
        self.first: Fault | None = None
        self.seconds = [0.0] * len(sources)

    def outcome(self) -> Outcome:
        marks = "".join(self.marks)
        message = self.first.message if self.first else _not_reached(marks)
        line = excerpt(" ".join(message.splitlines()), 1000)
        seconds = tuple(round(taken, 4) for taken in self.seconds)
        return Outcome(marks, tuple(self.failures), self.first.error if self.first else None, line, seconds)

    def site(self, index: int) -> Site:
        return Site(self, index)

    def note(self, fault: Fault) -> None:
        """Record a fault if it is the first."""
        self.first = self.first or fault

    def passed(self, index: int) -> None:
        if self.marks[index] == NOT_REACHED:
            self.marks[index] = PASSED

    def failed(self, failure: Failure, fault: Fault) -> None:
        """Mark a test as failed. The first failure of each test is recorded, up to ``MAX_FAILURES``."""
        self.note(fault)
        if self.marks[failure.place] != FAILED and len(self.failures) < MAX_FAILURES:
            self.failures.append(failure)
        self.marks[failure.place] = FAILED


def seconds_of(stated: object) -> float:
    """The time that a hostile process states; 0.0 if this time is impossible. No verdict depends on it."""
    return float(stated) if isinstance(stated, int | float) and 0 <= stated < _MOST_SECONDS else 0.0


def _not_reached(marks: str) -> str:
    missed = marks.count(NOT_REACHED)
    return f"{missed} of {len(marks)} tests were not reached" if missed else ""


class Site:
    """One execution of one assert. It suppresses exceptions, so that later tests still run."""

    def __init__(self, recorder: Recorder, index: int) -> None:
        self._recorder = recorder
        self._index = index
        self._holds = False
        self._said = ""
        self._actual: Callable[[], str] | None = None
        self._expected: Callable[[], str] | None = None
        self._began = time.perf_counter()

    def compare(self, operation: str, left: object, right: object) -> None:
        self.settle(operation, left, right)
        if not self._holds:
            _check_comparable(left, right)
            if not (self._recorder.asks or self._recorder.met_own) and operation not in {"is", "is not"}:
                self._recorder.met_own = _are_own(left, right)

    def settle(self, operation: str, left: object, right: object) -> None:
        """As ``compare``, for tests whose own values are known to be plain data."""
        self._actual = lambda: shown(left)
        self._expected = lambda: shown(right) if operation == "==" else f"{operation} {shown(right)}"
        self._holds = bool(OPERATORS[operation](left, right))

    def outcome(self, value: object) -> None:
        """Whether a method passed: ``koderz_core.datasets.cases`` says ``passed``, or why not."""
        self._holds = type(value) is str and value == "passed"
        self._said = "" if self._holds else excerpt(f"AssertionError: {_ADDRESS.sub('', str(value))}")

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
        self._recorder.seconds[self._index] += time.perf_counter() - self._began
        if isinstance(error, (TestsBrokenError, CannotCrossError)):
            return False
        if isinstance(error, Exception) and not self._recorder.called():
            raise TestsBrokenError(describe(error))
        if error is not None:
            fault = fault_of(error)
            self._fail(fault, excerpt(fault.message))
        elif self._holds:
            self._recorder.passed(self._index)
        else:
            self._fail(self._false_assert(), self._said)
        return isinstance(error, Exception)

    def _fail(self, fault: Fault, message: str) -> None:
        source = excerpt(self._recorder.sources[self._index], MAX_SOURCE)
        expected = self._expected() if self._expected else None
        actual = self._actual() if self._actual else None
        self._recorder.failed(Failure(self._index, source, expected, actual, message), fault)

    def _false_assert(self) -> Fault:
        source = excerpt(self._recorder.sources[self._index], 300)
        if self._said:
            return Fault("assertion", f"{source.splitlines()[0]} {self._said}")
        seen = f" was not so: got {excerpt(self._actual(), 200)}" if self._actual else " was not so"
        wanted = f", expected {excerpt(self._expected(), 200)}" if self._expected else ""
        return Fault("assertion", f"{source}{seen}{wanted}")


def _check_comparable(left: object, right: object) -> None:
    """Raise CannotCrossError if an object of the program was compared with an object of the tests.

    The program cannot cause this error, because it cannot turn the tests' value into an object.
    """
    for opaque, other in ((left, right), (right, left)):
        if isinstance(opaque, Opaque) and holds(encode(other), "opaque"):
            raise CannotCrossError(f"the tests compare what the program returned with {shown(other)}")


def _are_own(left: object, right: object) -> bool:
    """Whether objects of the program were compared with each other: here, they equal nothing.

    A program can cause this, so the tests continue. They run in its own process only if the canonical solution causes
    it too.
    """
    return holds(encode(right), "kept") and holds(encode(left), "kept")
