"""The prompt for a judge who picks one of several programs, and the choice in its answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from koderz_core.prompts.extraction import answer
from koderz_core.prompts.quotes import fenced, one_line
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
    """A program, and what calls of it gave."""

    code: str
    seen: Sequence[Observed] = ()


def choose(problem: PublicProblem, contenders: Sequence[Contender]) -> tuple[Message, ...]:
    """Ask for the best of at most ``MOST_PROGRAMS`` programs; calls on which they differ are shown."""
    shown = contenders[:MOST_PROGRAMS]
    parts = [_TASK, f"Problem:\n{fenced(problem.prompt.rstrip(), len(problem.prompt))}"]
    parts += [f"Program {n}:\n{fenced(one.code, _PROGRAM_LIMIT)}" for n, one in enumerate(shown, 1)]
    if differing := [f"- {call}: {said}" for call, said in _differing(shown).items()]:
        parts.append("\n".join(["What they give where they differ:", *differing[:_MOST_CALLS]]))
    return (Message("user", "\n\n".join(parts)),)


def chosen(reply: str, count: int) -> int | None:
    """The place, from 0, of the program that an answer picks of ``count``; None if it picks none of them."""
    text = answer(reply).strip()
    named = _CHOICE.findall(text) or ([text] if re.fullmatch(r"\d{1,2}", text, re.ASCII) else [])
    number = int(named[-1]) if named else 0
    return number - 1 if 1 <= number <= min(count, MOST_PROGRAMS) else None


def _differing(shown: Sequence[Contender]) -> Mapping[str, str]:
    """What each program gave, by the call, where that is not the same."""
    found: dict[str, str] = {}
    for seen in zip(*(contender.seen for contender in shown), strict=True):
        if len({_gave(one) for one in seen}) > 1:
            said = "; ".join(f"program {n} {_gave(one)}" for n, one in enumerate(seen, 1))
            found[one_line(seen[0].call, _VALUE_LIMIT)] = said
    return found


def _gave(one: Observed) -> str:
    if one.value is not None:
        return f"gives {one_line(one.value, _VALUE_LIMIT)}"
    return f"fails ({one_line(one.message, _VALUE_LIMIT) or one.error})"
