"""Results attempt by attempt, in words and in numbers: solves, dollars, errors and repeated programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from koderz_core.report.columns import (
    NAMED,
    Numbers,
    Row,
    Shown,
    interval,
    json_row,
    json_rows,
    reasons,
    share,
    text,
    usd,
    whole,
)
from koderz_core.report.formats import count, listed, money, percent, rate
from koderz_core.report.sections import Listing, Section

if TYPE_CHECKING:  # numpy is slow to import
    from koderz_core.analysis.attempts import Attempt, AttemptByAttempt, Transition
    from koderz_core.analysis.configurations import ConfigurationFigures
    from koderz_core.analysis.money import AttemptCost

Found = Mapping[tuple[str, str], "AttemptByAttempt"]
"""By key of the configuration."""
MOST_TRANSITIONS = 12
ABOUT_ATTEMPTS = (
    "Each row covers one attempt number of a configuration: the first attempts of all its experiments, then the "
    "second attempts, and so on. “Solved here” is the share of experiments that this attempt solved, among the "
    "experiments that reached this attempt. The share falls from attempt to attempt because the remaining problems are "
    "harder, not because models get worse. “$ per extra solve” is the cost of this attempt in all experiments that "
    "reached it, divided by the number of experiments that this attempt solved. If the strategy requests a spec before "
    "the first attempt, the cost of the first attempt includes this call. “$ per extra solve” has no interval. If an "
    "attempt solved only a few experiments, “$ per extra solve” is a rough estimate."
)
_CHOOSES = (
    "In some experiments of {}, a program passed the gate before the last attempt, for example because the strategy "
    "tests several programs and then chooses one. The table counts the result of each experiment at its last attempt. "
    "For {}, “solved here” and “$ per extra solve” therefore do not show what a single attempt contributes."
)


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One attempt of a configuration. ``cost``: None if a price is unknown."""

    configuration: ConfigurationFigures
    of: Attempt
    cost: AttemptCost | None


@dataclass(frozen=True, slots=True)
class TransitionRow:
    """A transition of a configuration. ``share``: of all its transitions."""

    configuration: ConfigurationFigures
    of: Transition
    share: float


def _end(error: str | None) -> str:
    return error or "passes the gate"


ATTEMPT = (
    whole("attempt", "number of the attempt, starting at 1", shown=Shown("attempt", 3)),
    whole(
        "at_risk",
        "number of experiments that have a result and reached this attempt",
        shown=Shown("experiments", 3, count),
    ),
    whole(
        "solved",
        "number of solved experiments that ended at this attempt, even if an earlier attempt found the program",
        shown=Shown("solved", 3, count),
    ),
    whole(
        "false_passes",
        "number of experiments that ended at this attempt because a wrong program passed the gate",
        shown=Shown("false passes", 5),
    ),
    *interval(
        share(
            "hazard",
            "share of the experiments in `at_risk` that are counted in `solved`, with equal weight for every problem",
            shown=Shown("solved here [95 %]", 4, rate, "of.hazard"),
        )
    ),
    share(
        "gate_tests_passed",
        "mean share of gate tests that the tested programs passed",
        "no program was tested",
        path="of.tests",
        shown=Shown("gate tests passed", 6, percent),
    ),
    whole("tested", "number of experiments whose program was tested in this attempt"),
    usd(
        "usd",
        "cost of this attempt in all experiments that reached it, in dollars",
        "a price is unknown",
        path="cost.usd",
        shown=Shown("$ spent", 7, money),
    ),
    usd(
        "usd_per_solve",
        "`usd` divided by `solved`",
        "an unknown price, or a number that is not finite (see `usd_per_solve_is`)",
        path="cost.usd_per_solve",
        shown=Shown("$ per extra solve", 8, money),
    ),
    *reasons("usd_per_solve"),
)
TRANSITION = (
    text("before", "error class of an attempt", "the program passed the gate", shown=Shown("result", 3, _end)),
    text(
        "after", "error class of the next attempt", "the program passed the gate", shown=Shown("next result", 3, _end)
    ),
    whole(
        "count", "number of times that the result `after` followed the result `before`", shown=Shown("times", 3, count)
    ),
)
REPEATS = (
    whole("programs", "number of programs in all attempts", shown=Shown("programs", 3, count)),
    whole(
        "repeated",
        "number of programs that repeat an earlier program of the same experiment, ignoring layout and comments",
        shown=Shown("repeated programs", 3, count),
    ),
    whole(
        "trials",
        "number of experiments with at least one repeated program",
        shown=Shown("experiments with repeated programs", 5, count),
    ),
)
ATTEMPTS = (*NAMED, *ATTEMPT)


def attempts_section(rows: Sequence[ConfigurationFigures], found: Found) -> Section:
    """Each attempt, the most frequent transitions to the next one, and how often a program was tried again."""
    known = [row for row in rows if row.key in found]
    attempts = [line for row in known for line in _attempts(row, found)]
    transitions = [line for row in known for line in _transitions(row, found)[:MOST_TRANSITIONS]]
    repeats = [Row(row, of) for row in known if (of := found[row.key].repeats).programs]
    of_all = Shown("share", 4, percent, "share")
    again = Shown("share", 4, lambda of: percent(of.repeated / of.programs), "of")
    listings = (
        Listing("attempts", "Attempt by attempt", ATTEMPTS, attempts),
        Listing("transitions", "Transitions between error classes", (*NAMED, *TRANSITION, of_all), transitions),
        Listing("repeats", "Repeated programs, ignoring layout and comments", (*NAMED, *REPEATS, again), repeats),
    )
    choosing = [row.letter for row in known if found[row.key].chooses]
    named = listed(choosing) if choosing else ""
    return Section(listings, (ABOUT_ATTEMPTS, *([_CHOOSES.format(named, named)] if named else [])))


def attempt_numbers(rows: Sequence[ConfigurationFigures], found: Found) -> list[Numbers]:
    """All of it for programs, an entry per configuration."""
    return [
        json_row(
            {
                "letter": row.letter,
                "configuration": row.full_id,
                "attempts": json_rows(ATTEMPT, list(_attempts(row, found))),
                "transitions": json_rows(TRANSITION, _transitions(row, found)),
                "repeats": json_rows(REPEATS, [Row(row, found[row.key].repeats)])[0],
            }
        )
        for row in rows
        if row.key in found
    ]


def _attempts(row: ConfigurationFigures, found: Found) -> Iterator[AttemptRow]:
    results = found[row.key]
    for place, attempt in enumerate(results.attempts):
        yield AttemptRow(row, attempt, results.costs[place] if results.costs else None)


def _transitions(row: ConfigurationFigures, found: Found) -> list[TransitionRow]:
    transitions = found[row.key].transitions
    total = sum(transition.count for transition in transitions)
    return [TransitionRow(row, transition, transition.count / total) for transition in transitions]
