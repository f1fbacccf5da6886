"""What can happen, one frozen record each.

Long texts stand in a journal once, as ``text_stored``; other events name them by SHA-256.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from koderz_core.events.steps import (
    CallFailed,
    CallFinished,
    CallStarted,
    CheckpointReviewed,
    CodeTested,
    ConsensusReached,
    MemoryRecalled,
    ProgramProbed,
    RemainingRead,
    SpecWritten,
    Text,
    TurnSpoken,
)
from koderz_core.records import (
    Allowance,
    Control,
    ErrorClass,
    Experiment,
    Outcome,
    Plan,
    ScoreKind,
    StopReason,
    Tier,
    Verdict,
)
from koderz_core.records.forecasts import Forecast

Kind = str


@dataclass(frozen=True, slots=True)
class BenchmarkOpened:
    """The first line of a journal: all that its numbers depend on. Another one, later, holds a plan that has grown.

    ``forked_from``: the benchmark whose plan this one takes up anew. ``self_test``: how many checks of its sandbox
    passed when it was opened, as ``17/17``; empty where none were made. ``runtime``: what embedded models ran in, and
    whether the same seed gives the same text there; empty where there are none, and in journals of before this field.
    """

    schema_version: int
    koderz_version: str
    benchmark: str
    plan: Plan
    prompt_versions: Mapping[str, str]
    price_version: str
    isolation: str
    tiers: Mapping[str, Tier]  # model id -> tier
    energy: Mapping[str, float] = field(default_factory=dict)  # what local calls are priced by: setting -> value
    forked_from: str | None = None
    self_test: str = ""
    runtime: str = ""


@dataclass(frozen=True, slots=True)
class ForecastMade:
    """What was left to do would probably take that, as was told when it was begun: the receipt compares."""

    forecast: Forecast


@dataclass(frozen=True, slots=True)
class ControlObeyed:
    """The benchmark, or only its configuration or experiment ``target``, was paused, resumed or stopped.

    ``by``: the id of the process that wished it. Whoever goes on with a journal resumes the whole benchmark first, so
    what was paused or stopped before holds nothing back.
    """

    what: Control
    target: str | None
    by: int


@dataclass(frozen=True, slots=True)
class AllowanceSet:
    """What the benchmark may take from now on, as whoever runs it said when it began, and whenever that was changed.

    ``by``: the id of the process that wished it. ``before``: what it was until then, None at a beginning. The newest
    one is what a later process goes by.
    """

    after: Allowance
    by: int
    before: Allowance | None = None


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
class CandidateScored:
    """A distinct candidate was scored after the strategy had ended. ``held_out`` None: there are no such tests."""

    code: Text
    returned: bool
    gate: Verdict | None
    held_out: Verdict | None


@dataclass(frozen=True, slots=True)
class ExperimentFinished:
    """How an experiment ended.

    ``failure`` is the class of what was wrong with the program it handed in, None if nothing was or if it has no
    result. ``error`` says what went wrong on our or a provider's side, and with the reason ``context`` which prompt
    did not fit.
    """

    outcome: Outcome
    reason: StopReason | None
    score_kind: ScoreKind | None
    code: Text | None
    seconds: float
    failure: ErrorClass | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class BenchmarkClosed:
    """The process that ran the benchmark let go of its journal in good order."""

    reason: Literal["finished", "stopped"]


Event = (
    BenchmarkOpened
    | ForecastMade
    | ControlObeyed
    | AllowanceSet
    | TextStored
    | ExperimentStarted
    | CallStarted
    | CallFinished
    | CallFailed
    | CodeTested
    | ProgramProbed
    | MemoryRecalled
    | RemainingRead
    | SpecWritten
    | CheckpointReviewed
    | TurnSpoken
    | ConsensusReached
    | CandidateScored
    | ExperimentFinished
    | BenchmarkClosed
)

KINDS: Mapping[Kind, type[Event]] = {
    "benchmark_opened": BenchmarkOpened,
    "forecast_made": ForecastMade,
    "control_obeyed": ControlObeyed,
    "allowance_set": AllowanceSet,
    "text_stored": TextStored,
    "experiment_started": ExperimentStarted,
    "call_started": CallStarted,
    "call_finished": CallFinished,
    "call_failed": CallFailed,
    "code_tested": CodeTested,
    "program_probed": ProgramProbed,
    "memory_recalled": MemoryRecalled,
    "remaining_read": RemainingRead,
    "spec_written": SpecWritten,
    "checkpoint_reviewed": CheckpointReviewed,
    "turn_spoken": TurnSpoken,
    "consensus_reached": ConsensusReached,
    "candidate_scored": CandidateScored,
    "experiment_finished": ExperimentFinished,
    "benchmark_closed": BenchmarkClosed,
}
