"""Prompts of a debate, for its speakers and its judge, and the personas that speak in it.

Speakers see the whole positions of the others if they fit. Personas come from a YAML file next to this module, and
from a text in the same format that a user gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated

import msgspec

from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.prompts.extraction import answer
from koderz_core.prompts.kinds import statement
from koderz_core.prompts.markdown import BYTES_PER_TOKEN, fair_shares, shortened
from koderz_core.records import Message, PublicProblem

VERSION = "1"
POSITION_LIMIT = 8000  # characters, as for a spec: a longer position would crowd out the problem
_NOTHING = "(said nothing)"

_SYSTEM = (
    "You take part in a debate on how to solve a programming problem. You are the {role}. {style}\nYou hold to this:\n"
    "{rules}\nNobody writes the program here; somebody will afterwards, from what comes of the debate."
)
_OPEN = (
    "Give your position: what the problem really asks, which approach you would take, and what matters most from where "
    "you stand. At most {words} words."
)
_REPLY = (
    "Answer the others: say what you take over and from whom, and what you reject and why. Change your mind where they "
    "are right and not where they are only many. Then give your whole position as it is now: it is all that the others "
    "and the judge will see of you. At most {words} words."
)
_JUDGE = (
    "Several people have debated how to solve the problem below, and these are their last positions. Weigh them "
    "against the text of the problem: an argument counts, not how many share it. Where they disagree, decide.\n"
    "Write what the programmer needs, who sees the problem and your answer and nothing else: (1) the approach, in "
    "steps, (2) the edge cases, and what each must give, (3) the mistakes to avoid. Nothing that the text contradicts. "
    "Do not write the program. At most {words} words."
)
MOST_SPEAKERS = 8
MOST_CHARS = 20_000
_PACK = "personas.yaml"

_ROLE = re.compile(r"[a-z][a-z0-9_]{0,39}")
_Line = Annotated[str, msgspec.Meta(min_length=1, max_length=300, pattern=r"\A[^\x00-\x1f\x7f]*\S[^\x00-\x1f\x7f]*\Z")]
_Lines = Annotated[tuple[_Line, ...], msgspec.Meta(min_length=1, max_length=12)]


@dataclass(frozen=True, slots=True)
class Position:
    """The position of a speaker in a round."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """``turn_tokens``: the longest turn; ``shown_tokens``: the limit of all positions together in a prompt."""

    turn_tokens: int
    shown_tokens: int

    @property
    def words(self) -> int:
        return max(20, self.turn_tokens // 2)  # a token is about 0.75 English words, and no turn should be cut off


def position(speaker: str, reply: str) -> Position:
    """The position in an answer, without thoughts."""
    return Position(speaker, shortened(answer(reply).strip(), POSITION_LIMIT))


def turn(problem: PublicProblem, speaker: Speaker, last: Sequence[Position], limits: TurnLimits) -> tuple[Message, ...]:
    """The prompt for a speaker, with the positions of the last round; empty ``last``: the first round."""
    rules = "\n".join(f"- {rule}" for rule in speaker.persona.rules)
    system = _SYSTEM.format(role=_titled(speaker.role), style=speaker.persona.style, rules=rules)
    own = [position for position in last if position.speaker == speaker.role]
    others = [position for position in last if position.speaker != speaker.role]
    parts = [f"Problem:\n{statement(problem)}"]
    if last:
        parts.append("\n\n".join(["Positions of the last round.", *_positions([*own, *others], speaker.role, limits)]))
    parts.append((_REPLY if last else _OPEN).format(words=limits.words))
    return (Message("system", system), Message("user", "\n\n".join(parts)))


def judge(problem: PublicProblem, last: Sequence[Position], limits: TurnLimits) -> tuple[Message, ...]:
    """The prompt for the judge, which shows the last positions."""
    parts = [_JUDGE.format(words=limits.words), f"Problem:\n{statement(problem)}", *_positions(last, "", limits)]
    return (Message("user", "\n\n".join(parts)),)


def _positions(positions: Sequence[Position], own: str, limits: TurnLimits) -> Iterator[str]:
    """The positions, each whole if all fit together, else cut to its fair share with a remark."""
    texts = {position.speaker: position.text for position in positions}
    sizes = fair_shares(texts, limits.shown_tokens * BYTES_PER_TOKEN)
    for position in positions:
        name = "You" if position.speaker == own else f"The {_titled(position.speaker)}"
        cut = " (cut to fit)" if sizes[position.speaker] < len(position.text) else ""
        yield f"### {name}{cut}:\n{shortened(position.text, sizes[position.speaker]) or _NOTHING}"


def _titled(role: str) -> str:
    return role.replace("_", " ")


class Persona(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The view of a speaker on a problem, and the rules that it follows."""

    style: _Line
    rules: _Lines


_FIELDS: Mapping[str, tuple[object, str]] = {
    "style": (_Line, "one line of at most 300 characters"),
    "rules": (_Lines, "a list of 1 to 12 lines, each of at most 300 characters"),
}


@dataclass(frozen=True, slots=True)
class Speaker:
    """A persona and the name of its role."""

    role: str
    persona: Persona


def speakers(roles: str, own: str = "") -> tuple[Speaker, ...]:
    """The personas that a list such as ``architect,coder`` names, from koderz and from ``own``.

    A persona in ``own`` replaces the one of the same name in koderz. Raises UnknownNameError for a role without a
    persona, PlanError for a list that is not a debate, a text without personas, or own personas of which none speaks.
    """
    added = _read(own) if own else {}
    known = {**_builtin(), **added}
    names = [name.strip() for name in roles.split(",")]
    for name in names:
        if name not in known:
            raise UnknownNameError("persona", name, known)
    if not 2 <= len(names) <= MOST_SPEAKERS or len(set(names)) < len(names):
        raise PlanError(f"{roles!r} names {len(names)} personas. Name 2 to {MOST_SPEAKERS} different personas.")
    if added and not added.keys() & set(names):
        own_names = ",".join(sorted(added)[:MOST_SPEAKERS])
        raise PlanError(
            f"None of your personas speaks in this debate. Name the speakers, for example agents={own_names}."
        )
    return tuple(Speaker(name, known[name]) for name in names)


@cache
def _builtin() -> Mapping[str, Persona]:
    return _read(files(__package__).joinpath(_PACK).read_text("utf-8"))


def check(text: str, source: str) -> None:
    """Raise PlanError, which names the ``source``, if a text holds no valid personas."""
    _read(text, source)


def _read(text: str, source: str = "The personas") -> Mapping[str, Persona]:
    if len(text) > MOST_CHARS:
        raise PlanError(f"{source} cannot be read: {len(text)} characters are too long. Write at most {MOST_CHARS}.")
    try:
        decoded = msgspec.yaml.decode(text, type=dict[str, dict[str, object]])
        return {role: _persona(role, fields) for role, fields in decoded.items()}
    except msgspec.ValidationError:
        fault = "they are not roles with fields"
    except (msgspec.MsgspecError, RecursionError) as error:
        fault = f"they are not YAML ({error})"
    except ValueError as error:
        fault = str(error)
    raise PlanError(
        f"{source} cannot be read: {fault}. Write YAML with a `style` and a list of `rules` for each role, each of one "
        "line; names of roles have small letters."
    )


def _persona(role: str, fields: Mapping[str, object]) -> Persona:
    """Raise ValueError, which names role and field, for an invalid persona."""
    if not _ROLE.fullmatch(role):
        raise ValueError(f"{role[:100]!r} is not the name of a role")
    if other := sorted(fields.keys() - _FIELDS):
        raise ValueError(f"role {role!r} has an unknown field {other[0][:100]!r}; the fields are {', '.join(_FIELDS)}")
    for name, (kind, expected) in _FIELDS.items():
        if name not in fields:
            raise ValueError(f"role {role!r} has no field {name!r}")
        try:
            msgspec.convert(fields[name], kind)
        except msgspec.ValidationError:
            raise ValueError(f"field {name!r} of role {role!r} must be {expected}") from None
    return msgspec.convert(fields, Persona)
