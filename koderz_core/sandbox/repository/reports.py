"""What a process reported of its tests, put together by test. All of it may be forged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from koderz_core.sandbox.inside.faults import excerpt
from koderz_core.sandbox.inside.recorder import seconds_of
from koderz_core.sandbox.repository.workspace import Record, Run

PASSED = "passed"
_MOST_CHARACTERS = 1000  # of the name of a file and an error; honest errors have up to 500 (``reporter``)
Outcome = Literal["passed", "failed", "error", "skipped"]
STOPPED = {
    "timeout": "the tests were stopped after {:.0f} s",
    "flood": "the tests were stopped, because their process sent too much to the judge",
}


@dataclass(slots=True)
class TestReport:
    """One test that ran. ``phases``: pairs of a phase and its outcome. ``records``: those of ``observe`` in order.

    ``error``: the class of its first error; ``message``: its text.
    ``place``: ``path:line`` in the tree that raised this error, "" if the file of the test raised it.
    """

    __test__ = False  # pytest: not a test class
    phases: list[tuple[str, str]] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    seconds: float = 0.0
    error: str = ""
    message: str = ""
    place: str = ""

    @property
    def outcome(self) -> Outcome:
        """``error``: it broke outside of its own function, or it did not end."""
        if any(outcome == "failed" for phase, outcome in self.phases if phase != "call"):
            return "error"
        if ("call", "failed") in self.phases:
            return "failed"
        if any(outcome == "skipped" for _, outcome in self.phases):
            return "skipped"
        passed = ("call", PASSED) in self.phases and self.phases[-1] == ("teardown", PASSED)
        return "passed" if passed else "error"


Reports = Mapping[str, TestReport]
"""Tests that ran, by the id under which they ran, in this order."""


@dataclass(eq=False)
class Transcript:
    """A run, by the ids under which its tests ran. ``error`` and ``message``: of the first error outside of tests."""

    finished: bool
    stopped: str
    seconds: float
    tests: dict[str, TestReport] = field(default_factory=dict)
    error: str = ""
    message: str = ""

    @cached_property
    def reports(self) -> Reports:
        return {test: found for test, found in self.tests.items() if found.phases}

    @property
    def completed(self) -> bool:
        return self.finished and not self.stopped

    def end(self) -> str:
        """Why not all tests ran, "" if there is no such reason."""
        if self.stopped:
            return STOPPED[self.stopped].format(self.seconds)
        return self.message or ("" if self.finished else "the process ended before its tests were complete")


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test of a survey. ``protected``: observations can decide it, so its outcome need not be believed.

    ``message``: of the first failure, one hostile line.
    """

    __test__ = False  # pytest: not a test class
    id: str
    outcome: Outcome
    seconds: float
    message: str = ""
    protected: bool = False


@dataclass(frozen=True, slots=True)
class Survey:
    """All tests of a tree that pytest found, in their order. ``completed``: whether the process ran to its end.

    ``message``: why no tests were found or not all of them ran; "" if there is no such reason.
    """

    results: tuple[TestResult, ...]
    completed: bool
    seconds: float
    message: str = ""

    def passed(self) -> tuple[str, ...]:
        """The ids of the tests that passed."""
        return tuple(result.id for result in self.results if result.outcome == "passed")

    def protecting(self, protected: frozenset[str]) -> Survey:
        """The same survey with this set of protected tests."""
        results = tuple(replace(test, protected=test.id in protected) for test in self.results)
        return replace(self, results=results)


def survey_of(found: Transcript) -> Survey:
    """The outcomes that the process reported, without a decision about a program."""
    results = tuple(
        TestResult(test, report.outcome, round(report.seconds, 4), report.message)
        for test, report in found.tests.items()
    )
    return Survey(results, found.completed, found.seconds, found.end())


def transcript_of(run: Run) -> Transcript:
    """The records of a run by test. What comes between the starts of two tests belongs to the first."""
    found = Transcript(run.finished, run.stopped, run.seconds)
    observed: list[Record] = []
    for record in run.records:
        match record:
            case ["start", str(test)]:
                observed = found.tests.setdefault(test, TestReport()).records
            case ["phase", str(test), str(phase), str(outcome), float() | int() as seconds] if test in found.tests:
                found.tests[test].phases.append((phase, outcome))
                found.tests[test].seconds += seconds_of(seconds)
            case ["raised", str(name), str(error), str(message), str(place)]:
                _raised(found, name, error, message, place)
            case ["internal", str(message)]:
                _raised(found, "", "exception", message)
            case ["finish"]:
                observed = []
            case ["collected", list(ids)]:
                found.tests |= {test: TestReport() for test in ids if isinstance(test, str)}
            case _:
                observed.append(record)
    return found


def _raised(found: Transcript, name: str, error: str, message: str, place: str = "") -> None:
    if name in found.tests:
        report = found.tests[name]
        report.place = report.place if report.message else place
        report.error, report.message = report.error or error, report.message or excerpt(message)
    elif not found.error:
        found.error, found.message = error, excerpt(f"{name}: {message}" if name else message, _MOST_CHARACTERS)
