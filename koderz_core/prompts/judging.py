"""The prompt for a judge that picks one of several programs, and the choice in its answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from koderz_core.prompts.extraction import answer
from koderz_core.prompts.kinds import quoted, statement
from koderz_core.prompts.markdown import one_line
from koderz_core.records import Message, Observed, PublicProblem

VERSION = "1"
MOST_PROGRAMS = 4
_MOST_CALLS = 5
_PROGRAM_LIMIT, _VALUE_LIMIT = 4000, 200  # characters
_CHOICE = re.compile(r"\bBEST\b\W{0,8}(?:program\W{0,3})?(\d{1,2})\b", re.IGNORECASE | re.ASCII)

_TASK = (
    "Several programs were written for the problem below, and tests do not tell them apart. Check each against the "
    "text of the problem, above all where they differ, and pick the one that is most likely right for every input.\n"
    "End with one line: BEST: and the number of that program."
)


@dataclass(frozen=True, slots=True)
class Contender:
    """A program and the results of its calls."""

    code: str
    seen: Sequence[Observed] = ()


def choose(problem: PublicProblem, contenders: Sequence[Contender]) -> tuple[Message, ...]:
    """The prompt for the best of at most ``MOST_PROGRAMS`` programs; it shows the calls on which they differ."""
    shown = contenders[:MOST_PROGRAMS]
    parts = [_TASK, f"Problem:\n{statement(problem)}"]
    parts += [
        f"Program {n}:\n{quoted(contender.code, problem, _PROGRAM_LIMIT)}" for n, contender in enumerate(shown, 1)
    ]
    if differing := [f"- {call}: {results}" for call, results in _differing(shown).items()]:
        parts.append("\n".join(["What they give where they differ:", *differing[:_MOST_CALLS]]))
    return (Message("user", "\n\n".join(parts)),)


def chosen(reply: str, count: int) -> int | None:
    """The index, from 0, of the program that an answer picks among ``count``; None if it picks none of them."""
    text = answer(reply).strip()
    named = _CHOICE.findall(text) or ([text] if re.fullmatch(r"\d{1,2}", text, re.ASCII) else [])
    number = int(named[-1]) if named else 0
    return number - 1 if 1 <= number <= min(count, MOST_PROGRAMS) else None


def _differing(shown: Sequence[Contender]) -> Mapping[str, str]:
    """The results of the programs, by call, for calls on which they differ."""
    differing: dict[str, str] = {}
    for steps in zip(*(contender.seen for contender in shown), strict=True):
        results = [_gave(observed) for observed in steps]
        if len(set(results)) > 1:
            line = "; ".join(f"program {n} {result}" for n, result in enumerate(results, 1))
            differing[one_line(steps[0].call, _VALUE_LIMIT)] = line
    return differing


def _gave(observed: Observed) -> str:
    if observed.value is not None:
        return f"gives {one_line(observed.value, _VALUE_LIMIT)}"
    return f"fails ({one_line(observed.message, _VALUE_LIMIT) or observed.error})"
