"""Events as journal lines, and lines of any schema version as events.

A line is an envelope ``{"at", "kind", "experiment", "ordinal", "event"}``. Kinds that a later koderz wrote are kept and
skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from koderz_core.errors import JournalError
from koderz_core.events.kinds import KINDS, Event, Kind

SCHEMA_VERSION = 1

# (kind, schema version it stood in) -> the payload as the next schema version has it.
UPCASTERS: Mapping[tuple[Kind, int], Callable[[dict[str, Any]], dict[str, Any]]] = {}  # Any: JSON of any version


@dataclass(frozen=True, slots=True)
class Entry:
    """An event with its envelope. ``at``: seconds since 1970 (UTC); ``ordinal``: its place in the experiment."""

    at: float
    event: Event
    experiment: str | None = None
    ordinal: int | None = None


@dataclass(frozen=True, slots=True)
class _Line:
    at: float
    kind: Kind
    event: msgspec.Raw
    experiment: str | None = None
    ordinal: int | None = None


_NAMES = {record: kind for kind, record in KINDS.items()}
_ENCODER = msgspec.json.Encoder()
_LINES = msgspec.json.Decoder(_Line)
_EVENTS = {kind: msgspec.json.Decoder(record) for kind, record in KINDS.items()}


def encode(entry: Entry) -> bytes:
    """One journal line, newline included."""
    payload = msgspec.Raw(_ENCODER.encode(entry.event))
    line = _Line(entry.at, _NAMES[type(entry.event)], payload, entry.experiment, entry.ordinal)
    return _ENCODER.encode(line) + b"\n"


def decode(line: bytes, schema_version: int = SCHEMA_VERSION) -> Entry | None:
    """The entry of one journal line, brought up from ``schema_version``; None for a kind not known here.

    Raises JournalError if the line is not one of koderz.
    """
    try:
        envelope = _LINES.decode(line)
        if envelope.kind not in KINDS:
            return None
        event = _event(envelope.kind, envelope.event, schema_version)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise JournalError(f"not a journal line of koderz ({error})") from error
    return Entry(envelope.at, event, envelope.experiment, envelope.ordinal)


def schema_version_of(header: bytes) -> int:
    """The schema version that a journal's first line states. Raises JournalError if it is no header."""
    try:
        envelope = _LINES.decode(header)
        version = msgspec.json.decode(envelope.event)["schema_version"]
    except (msgspec.DecodeError, KeyError, TypeError) as error:
        raise JournalError(f"the header is missing or broken ({error})") from error
    if envelope.kind != "benchmark_opened" or not isinstance(version, int):
        raise JournalError("the header is missing")
    return version


def _event(kind: Kind, raw: msgspec.Raw, schema_version: int) -> Event:
    if schema_version == SCHEMA_VERSION:
        return _EVENTS[kind].decode(raw)
    payload = msgspec.json.decode(raw)
    for version in range(schema_version, SCHEMA_VERSION):
        if upcast := UPCASTERS.get((kind, version)):
            payload = upcast(payload)
    return msgspec.convert(payload, KINDS[kind])
