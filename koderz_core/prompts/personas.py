"""The personas of a debate: a pack in YAML beside this file, and a text of the same form with one's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated

import msgspec

from koderz_core.errors import PlanError, UnknownNameError

MOST_SPEAKERS = 8
MOST_CHARS = 20_000
_PACK = "personas.yaml"

_ROLE = re.compile(r"[a-z][a-z0-9_]{0,39}")
_Line = Annotated[str, msgspec.Meta(min_length=1, max_length=300, pattern=r"\A[^\x00-\x1f\x7f]*\S[^\x00-\x1f\x7f]*\Z")]
_Lines = Annotated[tuple[_Line, ...], msgspec.Meta(min_length=1, max_length=12)]


class Persona(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How somebody sees a problem, and what they hold to."""

    style: _Line
    rules: _Lines


_FIELDS: Mapping[str, tuple[object, str]] = {
    "style": (_Line, "one line of at most 300 characters"),
    "rules": (_Lines, "a list of 1 to 12 lines, each of at most 300 characters"),
}


@dataclass(frozen=True, slots=True)
class Speaker:
    """A persona and the role it goes by."""

    role: str
    persona: Persona


def speakers(roles: str, own: str = "") -> tuple[Speaker, ...]:
    """The personas that a list such as ``architect,coder`` names, of the pack and of ``own``.

    A persona in ``own`` replaces that of the same name in the pack. Raises UnknownNameError for a role without a
    persona, PlanError for a list that is not a debate, a text that holds no personas, or own ones of which none speaks.
    """
    added = _read(own) if own else {}
    known = {**_pack(), **added}
    names = [name.strip() for name in roles.split(",")]
    for name in names:
        if name not in known:
            raise UnknownNameError("persona", name, known)
    if not 2 <= len(names) <= MOST_SPEAKERS or len(set(names)) < len(names):
        raise PlanError(f"{roles!r} is no debate: name from 2 to {MOST_SPEAKERS} different personas.")
    if added and not added.keys() & set(names):
        own_names = ",".join(sorted(added)[:MOST_SPEAKERS])
        raise PlanError(f"None of your personas speaks in this debate. Name who does, for example agents={own_names}.")
    return tuple(Speaker(name, known[name]) for name in names)


@cache
def _pack() -> Mapping[str, Persona]:
    return _read(files(__package__).joinpath(_PACK).read_text("utf-8"))


def check(text: str, source: str) -> None:
    """Raise PlanError, which names the ``source``, if a text holds no personas."""
    _read(text, source)


def _read(text: str, source: str = "The personas") -> Mapping[str, Persona]:
    if len(text) > MOST_CHARS:
        raise PlanError(f"{source} cannot be read: {len(text)} characters are too long. Write at most {MOST_CHARS}.")
    try:
        found = msgspec.yaml.decode(text, type=dict[str, dict[str, object]])
        return {role: _persona(role, fields) for role, fields in found.items()}
    except msgspec.ValidationError:
        fault = "they are not roles with fields"
    except (msgspec.MsgspecError, RecursionError) as error:
        fault = f"they are not YAML ({error})"
    except ValueError as error:
        fault = str(error)
    raise PlanError(
        f"{source} cannot be read: {fault}. Write YAML: for each role, in small letters, a `style` and a list of "
        "`rules`, each of one line."
    )


def _persona(role: str, fields: Mapping[str, object]) -> Persona:
    """Raise ValueError, which names role and field."""
    if not _ROLE.fullmatch(role):
        raise ValueError(f"{role[:100]!r} is no role")
    if other := sorted(fields.keys() - _FIELDS):
        raise ValueError(f"role {role!r} has an unknown field {other[0][:100]!r}; the fields are {', '.join(_FIELDS)}")
    for name, (kind, said) in _FIELDS.items():
        if name not in fields:
            raise ValueError(f"role {role!r} has no field {name!r}")
        try:
            msgspec.convert(fields[name], kind)
        except msgspec.ValidationError:
            raise ValueError(f"field {name!r} of role {role!r} must be {said}") from None
    return msgspec.convert(fields, Persona)
