"""Events as journal lines, lines of any schema version as events, and the texts that an event names.

A line is an envelope ``{"v", "at", "kind", "experiment", "ordinal", "event"}``. Kinds from a later koderz are skipped;
their lines stay in the file.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import msgspec

from koderz_core.errors import JournalError
from koderz_core.events.kinds import KINDS, Event, Kind
from koderz_core.records.plans import Id

SCHEMA_VERSION = 1
_REFERENCES = ("tuple[MessageRef, ...]", "tuple[MemoryRef, ...]")


class LaterLineError(JournalError):
    """A later koderz wrote the line; it is not damaged."""


Upcasters = Mapping[tuple[Kind, int], Callable[[dict[str, Any]], dict[str, Any]]]  # Any: JSON of any version
UPCASTERS: Upcasters = {}
"""(Kind, schema version of the line) -> the payload in the next schema version."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An event with its envelope. ``at``: seconds since 1970 (UTC); ``ordinal``: its place in the experiment."""

    at: float
    event: Event
    experiment: str | None = None
    ordinal: int | None = None


@dataclass(frozen=True, slots=True)
class _Line:
    v: int  # schema version of this line: a later koderz may append to a journal
    at: float
    kind: Kind
    event: msgspec.Raw
    experiment: Id | None = None
    ordinal: int | None = None


_ENCODER = msgspec.json.Encoder()
_LINES = msgspec.json.Decoder(_Line)


_DECODERS: dict[Kind, msgspec.json.Decoder[Event]] = {}
_PREPARING = threading.Lock()  # msgspec may crash if two threads prepare it for the same class


def _decoder(kind: Kind) -> msgspec.json.Decoder[Event]:
    if kind not in _DECODERS:
        with _PREPARING:
            _DECODERS[kind] = msgspec.json.Decoder(KINDS[kind])
    return _DECODERS[kind]


def encode(entry: Entry) -> bytes:
    """One journal line, newline included."""
    line = {
        "v": SCHEMA_VERSION,
        "at": entry.at,
        "kind": entry.event.kind,
        "event": entry.event,
        "experiment": entry.experiment,
        "ordinal": entry.ordinal,
    }
    return _ENCODER.encode(line) + b"\n"


def decode(line: bytes, upcasters: Upcasters = UPCASTERS) -> Entry | None:
    """The entry of one journal line of any version so far; None for a kind not known here.

    Raises JournalError if koderz did not write the line, LaterLineError if a later koderz did.
    """
    try:
        envelope = _LINES.decode(line)
        if envelope.kind not in KINDS:
            return None
        event = _event(envelope, upcasters)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise JournalError(f"not in the format of a line of koderz' journals ({error})") from error
    return Entry(envelope.at, event, envelope.experiment, envelope.ordinal)


def _event(line: _Line, upcasters: Upcasters) -> Event:
    if line.v > SCHEMA_VERSION:
        raise LaterLineError(
            f"a later version of koderz wrote this line (schema {line.v}; this version reads schemas up to "
            f"{SCHEMA_VERSION})"
        )
    if line.v == SCHEMA_VERSION:
        return _decoder(line.kind).decode(line.event)
    payload = msgspec.json.decode(line.event)
    for version in range(line.v, SCHEMA_VERSION):
        if upcast := upcasters.get((line.kind, version)):
            payload = upcast(payload)
    return msgspec.convert(payload, KINDS[line.kind])


def texts_of(event: Event) -> tuple[str, ...]:
    """The SHA-256 of every text that an event names: its fields of type ``Text``, its messages and its memories."""
    record: type = type(event)
    direct = (getattr(event, name) for name in text_fields(record))
    nested = (ref.text for name in _fields_of(record, _REFERENCES) for ref in getattr(event, name))
    return (*(text for text in direct if text is not None), *nested)


def text_fields(record: type) -> tuple[str, ...]:
    """The fields of an event that hold the SHA-256 of a text."""
    return _fields_of(record, ("Text", "Text | None"))


@cache
def _fields_of(record: type, types: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part.name for part in fields(record) if part.type in types)
