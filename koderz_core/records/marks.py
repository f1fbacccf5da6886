"""The marks of a rate: which tests gave the score, and whether a loop showed the base tests to its models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from koderz_core.records.plans import IMPORTED, ScoreKind

RateKind = Literal["held_out", "oracle", "mixed", "reported"]
ORACLE, SAW_BASE_TESTS, REPORTED, SEARCHED = "*", "†", "§", "‡"
SHOW_NO_ATTEMPTS = frozenset({"direct", "cascade", "selected", "router", "ensemble", "ladder", "best_of", IMPORTED})
"""The strategies whose ``shows_attempts`` is false; a test compares them. This copy exists because `koderz results`
would take a third longer if it imported the strategies. Any other strategy counts as one that shows its attempts."""
NO_SEARCH, SEARCHED_SITES = "off", ("stackoverflow", "github")
"""The values of the parameter ``search``."""
SHOW_BASE_TESTS = frozenset({"humanevalfix+tests"})
"""The datasets whose problem texts show base tests that the publisher's texts do not show."""


@dataclass(frozen=True, slots=True)
class Marks:
    """``problems`` have a score; ``oracle_problems`` of them were scored by the tests that the loop stopped on.

    ``saw_base_tests``: the loop shows its models base tests with their expected values once a program has failed, or
    the dataset is one of ``SHOW_BASE_TESTS``.
    ``reported_problems``: an imported file states the results of this many problems, and koderz did not check them.
    ``searched``: prompts contained results of a web search, which may contain solutions.
    """

    problems: int
    oracle_problems: int = 0
    saw_base_tests: bool = False
    reported_problems: int = 0
    searched: bool = False

    @property
    def kind(self) -> RateKind | None:
        """``mixed``: problems have scores of different kinds; None without a score."""
        if not self.problems:
            return None
        if self.reported_problems:
            return "reported" if self.reported_problems == self.problems else "mixed"
        return "held_out" if not self.oracle_problems else "mixed" if self.partial else "oracle"

    @property
    def partial(self) -> str:
        """``1/378``: the number of problems to which ``*`` applies, empty if it applies to all or none."""
        return f"{self.oracle_problems}/{self.problems}" if 0 < self.oracle_problems < self.problems else ""

    @property
    def signs(self) -> str:
        """The signs after the rate, none if it is a pass@1: ``*``, ``*(1/378)``, ``†``, ``§``, ``‡``, or several."""
        star = ORACLE if self.oracle_problems else ""
        shown, reported = SAW_BASE_TESTS if self._shown else "", REPORTED if self.reported_problems else ""
        searched = SEARCHED if self.searched and self.problems else ""
        return star + (f"({self.partial})" if self.partial else "") + shown + reported + searched

    @property
    def _shown(self) -> bool:
        """Without held-out tests, ``*`` already implies it."""
        return self.saw_base_tests and self.kind in ("held_out", "mixed")


def marks_of(kinds: Iterable[tuple[str, ScoreKind | None]], *, saw_base_tests: bool, searched: bool = False) -> Marks:
    """The marks of scores, each with its problem; a problem counts as oracle-scored if one of its scores is."""
    by_problem = kinds_by_problem(kinds)
    found = list(by_problem.values())
    return Marks(len(found), found.count("oracle"), saw_base_tests, found.count("reported"), searched)


def kinds_by_problem(kinds: Iterable[tuple[str, ScoreKind | None]]) -> Mapping[str, ScoreKind]:
    """The kind of score of each problem that has one."""
    by_problem: dict[str, ScoreKind] = {}
    for problem, kind in kinds:
        if kind is not None and by_problem.get(problem) != "oracle":
            by_problem[problem] = kind
    return by_problem
