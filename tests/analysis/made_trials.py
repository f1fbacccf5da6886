"""Trials written as marks, a character for each repeat of a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from koderz_core.records.plans import Outcome
from koderz_core.records.trials import Trial

_OUTCOMES: Mapping[str, Outcome | None] = {
    "1": "solved",
    "0": "unsolved",
    "e": "error",
    "c": "cancelled",
    "-": None,
}


def trials(configuration: str, marks: Mapping[str, str]) -> list[Trial]:
    """``marks``, by problem: 1 solved, 0 unsolved, e error, c cancelled, - not ended."""
    return [
        Trial(
            benchmark="bench",
            configuration=configuration,
            experiment=f"{configuration}/{problem}/{repeat}",
            problem=problem,
            repeat=repeat,
            outcome=_OUTCOMES[mark],
            reason=None,
            score_kind="held_out",
            gate_passed=None,
            code=None,
            iterations=1,
            usd=None,
            frontier_usd=None,
            tokens=None,
            frontier_tokens=None,
            seconds=None,
        )
        for problem, repeats in marks.items()
        for repeat, mark in enumerate(repeats)
    ]


def once(configuration: str, solved: Sequence[object]) -> list[Trial]:
    """One trial of each of as many problems, solved where there is truth."""
    return trials(configuration, {f"p/{place}": "1" if item else "0" for place, item in enumerate(solved)})
