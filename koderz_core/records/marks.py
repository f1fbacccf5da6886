"""The marks of a rate: which tests gave the score, and what a loop was shown of the base tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from koderz_core.records.plans import ScoreKind

RateKind = Literal["held_out", "oracle", "mixed"]
ORACLE, SAW_BASE_TESTS = "*", "†"
SHOW_NO_ATTEMPTS = frozenset({"direct", "cascade", "selected", "ensemble", "ladder", "best_of"})
"""The strategies whose facts say so, a test holds, for the store: `koderz results` would take a third longer if it
imported them. Any other strategy counts as one that shows its attempts."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Of ``problems`` with a score, ``oracle_problems`` were scored by the tests that the loop stopped on.

    ``saw_base_tests``: the loop shows its models base tests with their expected values once a program has failed.
    """

    problems: int
    oracle_problems: int = 0
    saw_base_tests: bool = False

    @property
    def kind(self) -> RateKind | None:
        """``mixed``: some problems are scored in the one way and some in the other; None without a score."""
        if not self.problems:
            return None
        return "held_out" if not self.oracle_problems else "mixed" if self.partial else "oracle"

    @property
    def partial(self) -> str:
        """``1/378``: on how many problems ``*`` holds, if not on all; else empty."""
        return f"{self.oracle_problems}/{self.problems}" if 0 < self.oracle_problems < self.problems else ""

    @property
    def signs(self) -> str:
        """What follows the rate: nothing if it may be called pass@1; ``*``, ``*(1/378)``, ``†`` or both."""
        star = ORACLE if self.oracle_problems else ""
        return star + (f"({self.partial})" if self.partial else "") + (SAW_BASE_TESTS if self._shown else "")

    @property
    def _shown(self) -> bool:
        """Where no test is held out, ``*`` says all there is to say."""
        return self.saw_base_tests and self.kind in ("held_out", "mixed")


def marks_of(kinds: Iterable[tuple[str, ScoreKind | None]], *, saw_base_tests: bool) -> Marks:
    """The marks of scores, each with its problem; a problem is an oracle's if one of its scores is."""
    found = kinds_by_problem(kinds)
    return Marks(len(found), sum(one == "oracle" for one in found.values()), saw_base_tests)


def kinds_by_problem(kinds: Iterable[tuple[str, ScoreKind | None]]) -> Mapping[str, ScoreKind]:
    """How each problem is scored that has a score."""
    found: dict[str, ScoreKind] = {}
    for problem, kind in kinds:
        if kind is not None and found.get(problem) != "oracle":
            found[problem] = kind
    return found
