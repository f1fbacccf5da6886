"""What can happen in a benchmark, one frozen record each, and their form in a journal."""

from koderz_core.events.kinds import (
    KINDS,
    BenchmarkClosed,
    BenchmarkOpened,
    CandidateScored,
    ControlObeyed,
    Event,
    ExperimentFinished,
    ExperimentStarted,
    TextStored,
)
from koderz_core.events.lines import SCHEMA_VERSION, UPCASTERS, Entry, decode, encode
from koderz_core.events.steps import (
    CallFailed,
    CallFinished,
    CallStarted,
    CheckpointReviewed,
    CodeTested,
    MemoryRecalled,
    Note,
    ProgramProbed,
    RemainingRead,
    SpecWritten,
)

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
    "ControlObeyed",
    "Entry",
    "Event",
    "ExperimentFinished",
    "ExperimentStarted",
    "MemoryRecalled",
    "Note",
    "ProgramProbed",
    "RemainingRead",
    "SpecWritten",
    "TextStored",
    "decode",
    "encode",
]
