"""What can happen in a benchmark, one frozen record each, and their form in a journal."""

from koderz_core.events.kinds import (
    KINDS,
    BenchmarkClosed,
    BenchmarkOpened,
    CallFailed,
    CallFinished,
    CallStarted,
    CandidateScored,
    CheckpointReviewed,
    CodeTested,
    Event,
    ExperimentFinished,
    ExperimentStarted,
    Note,
    SpecWritten,
    TextStored,
)
from koderz_core.events.lines import SCHEMA_VERSION, UPCASTERS, Entry, decode, encode

__all__ = [
    "KINDS",
    "SCHEMA_VERSION",
    "UPCASTERS",
    "BenchmarkClosed",
    "BenchmarkOpened",
    "CallFailed",
    "CallFinished",
    "CallStarted",
    "CandidateScored",
    "CheckpointReviewed",
    "CodeTested",
    "Entry",
    "Event",
    "ExperimentFinished",
    "ExperimentStarted",
    "Note",
    "SpecWritten",
    "TextStored",
    "decode",
    "encode",
]
