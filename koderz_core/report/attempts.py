"""Attempt by attempt in words and in numbers: who solves at which one, at what price, and what errors turn into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from koderz_core.analysis.attempts import AttemptByAttempt
from koderz_core.analysis.configurations import Compared
from koderz_core.analysis.pairs import Key
from koderz_core.report.columns import Numbers, json_row
from koderz_core.report.comparison_numbers import spread
from koderz_core.report.formats import TextTable, columns, count, money, percent, rate

Found = Mapping[Key, AttemptByAttempt]

MOST_TRANSITIONS = 12
PASSED = "passes the gate"
ABOUT_ATTEMPTS = (
    "Solved here: of those that came to an attempt, the share that it solved. It falls because what is left is "
    "harder, not because models tire. $ per solve more: what the attempt cost all that made it, by how many it solved; "
    "the first has the spec in it. It has no interval: with few solves it is a guess."
)


def attempt_tables(rows: Sequence[Compared], found: Found) -> tuple[TextTable, ...]:
    """Every table that has something to say."""
    made = (attempts_table, transitions_table, repeats_table)
    return tuple(table for make in made if (table := make(rows, found)).rows)


def attempts_table(rows: Sequence[Compared], found: Found) -> TextTable:
    """One line per configuration and attempt."""
    lines = []
    for row in _asked(rows, found):
        costs = found[row.key].costs
        for place, one in enumerate(found[row.key].attempts):
            cost = costs[place] if costs else None
            lines.append(
                (
                    row.letter,
                    row.label,
                    str(one.attempt),
                    count(one.at_risk),
                    count(one.solved),
                    rate(one.hazard),
                    str(one.false_passes),
                    percent(one.tests),
                    money(cost.usd if cost else None),
                    money(cost.usd_per_solve if cost else None),
                )
            )
    names = (
        "letter | configuration | attempt | came to it | solved | solved here [95 %] | false passes | "
        "gate tests passed | $ of all | $ per solve more"
    )
    return TextTable("Attempt by attempt", columns(names), tuple(lines))


def transitions_table(rows: Sequence[Compared], found: Found) -> TextTable:
    """What an attempt that failed was followed by, the most frequent of each configuration."""
    lines = []
    for row in _asked(rows, found):
        told = found[row.key].transitions
        of = sum(transition.count for transition in told)
        for one in told[:MOST_TRANSITIONS]:
            ends = (one.before or PASSED, one.after or PASSED)
            lines.append((row.letter, row.label, *ends, count(one.count), percent(one.count / of)))
    names = columns("letter | configuration | ended with | the next with | times | share")
    return TextTable("What errors turn into", names, tuple(lines))


def repeats_table(rows: Sequence[Compared], found: Found) -> TextTable:
    """How often the same program came again."""
    lines = []
    for row in _asked(rows, found):
        told = found[row.key].repeats
        if told.programs:
            share = percent(told.repeated / told.programs)
            lines.append((row.letter, row.label, count(told.programs), count(told.repeated), share, count(told.trials)))
    names = columns("letter | configuration | programs tried | tried before | share | in experiments")
    return TextTable("The same program again, but for layout and comments", names, tuple(lines))


def attempt_numbers(rows: Sequence[Compared], found: Found) -> list[Numbers]:
    """All of it for programs, an entry per configuration."""
    return [
        json_row(
            {
                "letter": row.letter,
                "configuration": "/".join(row.key),
                "attempts": list(_attempts(found[row.key])),
                "transitions": [asdict(transition) for transition in found[row.key].transitions],
                "repeats": asdict(found[row.key].repeats),
            }
        )
        for row in _asked(rows, found)
    ]


def attempt_rows(rows: Sequence[Compared], found: Found) -> list[Numbers]:
    """One flat row per configuration and attempt."""
    return [
        json_row({"letter": row.letter, "configuration": "/".join(row.key), "label": row.label} | attempt)
        for row in _asked(rows, found)
        for attempt in _attempts(found[row.key])
    ]


def _attempts(told: AttemptByAttempt) -> Iterator[Numbers]:
    for place, one in enumerate(told.attempts):
        cost = told.costs[place] if told.costs else None
        yield {
            "attempt": one.attempt,
            "at_risk": one.at_risk,
            "solved": one.solved,
            "false_passes": one.false_passes,
            **spread("hazard", one.hazard),
            "gate_tests_passed": one.tests,
            "tested": one.tested,
            "usd": cost.usd if cost else None,
            "usd_per_solve": cost.usd_per_solve if cost else None,
        }


def _asked(rows: Sequence[Compared], found: Found) -> list[Compared]:
    return [row for row in rows if row.key in found]
