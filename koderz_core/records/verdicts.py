"""Programs in replies, and the verdicts on these programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from koderz_core.records.completions import Finish

ErrorClass = Literal[
    "extraction",
    "syntax",
    "import",
    "name",
    "type",
    "assertion",
    "exception",
    "timeout",
    "memory",
    "forbidden",
    "truncated",
    "refused",
    "turn_timeout",
    "context",
    "faked",
]

Isolation = Literal["hardened", "strong", "limited"]
"""Sandbox tiers, best first: bubblewrap, Landlock, seccomp and rlimits; the last three; rlimits only."""


WELL_FORMED = ("fence", "fence-last", "prose", "search-replace", "diff", "whole-file")
"""The rules that find a complete program in one piece, or a change that applies exactly as it is written; replies that
need other rules lack something or hold too much.
"""


@dataclass(frozen=True, slots=True)
class Extracted:
    """The program in a model's reply; ``code`` None: there is none. ``how``: the rule that found the program.

    ``finish``: how the reply ended. If the reply was cut off, its program is incomplete. ``reason``: a clause that says
    why there is no program, if more is known than that none was found. It may quote hostile text on one line.
    """

    code: str | None
    how: str
    finish: Finish = "stop"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TestFailure:
    """A failed test: its position in the test set, its source, and the observed result. Bounded, hostile texts."""

    __test__ = False  # pytest: not a test class
    index: int
    source: str
    expected: str | None = None
    actual: str | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of running one program on one test set.

    ``marks`` has one character per test, in order: ``P`` passed, ``F`` failed, ``-`` not reached. ``completed``:
    whether the test code ran to its end. ``error``: the class of the first failure, None if no test failed.
    ``isolation``: the sandbox tier. ``shared``: whether the tests ran in the program's own process, because they need
    values that are not plain data; the program could in principle fake such a result. ``test_seconds``: the duration of
    each test, in order; empty if unknown.
    """

    marks: str
    failures: tuple[TestFailure, ...]
    completed: bool
    error: ErrorClass | None
    message: str
    seconds: float
    isolation: str
    shared: bool = False
    test_seconds: tuple[float, ...] = ()

    @property
    def tests_passed(self) -> int:
        return self.marks.count("P")

    @property
    def tests_total(self) -> int:
        return len(self.marks)

    @property
    def passed(self) -> bool:
        """Whether every test passed, at least one test ran, and the test code ran to its end."""
        return self.completed and self.error is None and 0 < self.tests_total == self.tests_passed


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """What a whole program did, as its own process reports it: a program may write or end as it likes.

    ``exit_code``: 1 for a program that raised an exception or was stopped. ``error``: None if the program ended by
    itself with exit code 0. ``message`` describes the error in one line and is hostile, as is ``output``.
    """

    output: str
    exit_code: int
    error: ErrorClass | None
    message: str
    seconds: float
