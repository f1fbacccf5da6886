"""What can happen, one frozen record each, and their form in a journal.

A journal line is an envelope ``{"at", "kind", "experiment", "ordinal", "event"}``. Long texts stand in the journal
once, as ``text_stored``; other events name them by SHA-256. Kinds that a later koderz wrote are kept and skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from koderz_core.errors import JournalError
from koderz_core.records import (
    Cost,
    Experiment,
    Finish,
    Outcome,
    Plan,
    Sampling,
    ScoreKind,
    StopReason,
    Tier,
    Usage,
    Verdict,
)

SCHEMA_VERSION = 1

Kind = str
Text = str
"""SHA-256 (hex) of a text that a ``text_stored`` event holds."""


@dataclass(frozen=True, slots=True)
class BenchmarkOpened:
    """The first line of a journal: all that its numbers depend on."""

    schema_version: int
    koderz_version: str
    benchmark: str
    plan: Plan
    prompt_versions: Mapping[str, str]
    price_version: str
    isolation: str
    tiers: Mapping[str, Tier]  # model id -> tier


@dataclass(frozen=True, slots=True)
class TextStored:
    """A text that other events name by its hash."""

    sha256: Text
    text: str


@dataclass(frozen=True, slots=True)
class ExperimentStarted:
    """Work on an experiment began, or began again after an interruption."""

    experiment: Experiment


@dataclass(frozen=True, slots=True)
class MessageRef:
    """A message sent to a model, its content by hash."""

    role: Literal["system", "user", "assistant"]
    text: Text


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A request is about to be sent: attempt ``attempt`` (from 1) of this ordinal. ``request`` is its hash."""

    role: str
    member: int
    model: str
    request: str
    messages: tuple[MessageRef, ...]
    sampling: Sampling
    seed: int
    attempt: int


@dataclass(frozen=True, slots=True)
class CallFinished:
    """A model answered."""

    text: Text
    finish: Finish
    usage: Usage
    cost: Cost
    seconds: float
    first_token_seconds: float | None
    honoured: Sampling


@dataclass(frozen=True, slots=True)
class CallFailed:
    """An attempt failed on the provider's or our side."""

    message: str
    seconds: float
    retryable: bool


@dataclass(frozen=True, slots=True)
class CodeTested:
    """One iteration: a candidate ran on the gate tests. ``code`` None: the reply held none."""

    iteration: int
    request: str
    code: Text | None
    how: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class SpecWritten:
    """A specification that the following prompts are built on."""

    text: str


@dataclass(frozen=True, slots=True)
class CheckpointReviewed:
    """A stronger model reviewed the iterations so far; ``guidance`` is what goes into the next prompts."""

    checkpoint: int
    after_iteration: int
    guidance: str


Note = SpecWritten | CheckpointReviewed


@dataclass(frozen=True, slots=True)
class CandidateScored:
    """A distinct candidate was scored after the strategy had ended. ``held_out`` None: there are no such tests."""

    code: Text
    returned: bool
    gate: Verdict | None
    held_out: Verdict | None


@dataclass(frozen=True, slots=True)
class ExperimentFinished:
    """How an experiment ended. ``error`` says what went wrong on our or a provider's side."""

    outcome: Outcome
    reason: StopReason | None
    score_kind: ScoreKind | None
    code: Text | None
    seconds: float
    error: str | None = None


@dataclass(frozen=True, slots=True)
class BenchmarkClosed:
    """The process that ran the benchmark let go of its journal in good order."""

    reason: Literal["finished", "stopped"]


Event = (
    BenchmarkOpened
    | TextStored
    | ExperimentStarted
    | CallStarted
    | CallFinished
    | CallFailed
    | CodeTested
    | SpecWritten
    | CheckpointReviewed
    | CandidateScored
    | ExperimentFinished
    | BenchmarkClosed
)

KINDS: Mapping[Kind, type[Event]] = {
    "benchmark_opened": BenchmarkOpened,
    "text_stored": TextStored,
    "experiment_started": ExperimentStarted,
    "call_started": CallStarted,
    "call_finished": CallFinished,
    "call_failed": CallFailed,
    "code_tested": CodeTested,
    "spec_written": SpecWritten,
    "checkpoint_reviewed": CheckpointReviewed,
    "candidate_scored": CandidateScored,
    "experiment_finished": ExperimentFinished,
    "benchmark_closed": BenchmarkClosed,
}

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
