"""All kinds of events, one frozen record each: of a benchmark, of its experiments, and of the steps of a strategy.

A journal holds each long text once, as ``text_stored``; other events name it by its SHA-256.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from koderz_core.records import (
    Allowance,
    Control,
    Cost,
    ErrorClass,
    Experiment,
    Finish,
    MemoryRef,
    MessageRef,
    Observed,
    Outcome,
    Plan,
    Query,
    Remaining,
    Sampling,
    ScoreKind,
    StopReason,
    Tier,
    Usage,
    Verdict,
)
from koderz_core.records.forecasts import Forecast

Kind = str
Text = str
"""SHA-256 (hex) of a text that a ``text_stored`` event holds."""

Why = Literal["interval", "plateau", "repeated_error", "repeated_program", "budget"]
"""Why a checkpoint was due."""


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


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A request is about to be sent: attempt ``attempt`` (from 1) of this ordinal. ``request`` is its hash.

    ``reserved_usd``: the most that it can cost, None if that is not known.
    """

    role: str
    member: int
    model: str
    request: str
    messages: tuple[MessageRef, ...]
    sampling: Sampling
    seed: int
    attempt: int
    reserved_usd: float | None = None


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
    """An attempt failed on the provider's or our side.

    ``status``: the HTTP status that said so, None if none did; ``retry_after_seconds``: when the provider said to come
    back; ``wait_seconds``: after which the next attempt was due, None if there was to be none; ``arrived``: whether the
    request may have reached somebody, who may bill it; ``cost``: what it cost all the same, which is known of work on
    this machine (None in journals of before this was recorded: ``events/unanswered.py`` derives it); ``retries``: how
    many times the call may be tried again in all; ``closed_seconds``: for how long the circuit breaker lets no call
    through to the provider, None if it lets calls through. Both are None in older journals.
    """

    message: str
    seconds: float
    retryable: bool
    status: int | None = None
    retry_after_seconds: float | None = None
    wait_seconds: float | None = None
    arrived: bool = True
    cost: Cost | None = None
    retries: int | None = None
    closed_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class CodeTested:
    """One iteration: a candidate ran on the gate tests. ``code`` None: the reply held none."""

    iteration: int
    request: str
    code: Text | None
    how: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ProgramProbed:
    """A program was asked what some calls give: no iteration, and no score hangs on it."""

    request: str
    code: Text
    observed: tuple[Observed, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class MemoryRecalled:
    """What was remembered at that moment, whole: memory may say something else later.

    ``fault``: what kept it from being looked up, empty if nothing did.
    """

    request: str
    query: Query
    memories: tuple[MemoryRef, ...]
    seconds: float
    fault: str = ""


@dataclass(frozen=True, slots=True)
class RemainingRead:
    """A strategy was told what it may still use."""

    remaining: Remaining


@dataclass(frozen=True, slots=True)
class SpecWritten:
    """A specification that the following prompts are built on, asked for by version ``prompt`` of its prompt.

    ``origin``: the experiment that it was recalled from, None: it was written here. ``finish``: how its answer ended;
    "length": it was cut, so ``text`` is a part of it, or nothing.
    """

    text: str
    prompt: str = "minimal"
    origin: str | None = None
    finish: Finish = "stop"


@dataclass(frozen=True, slots=True)
class CheckpointReviewed:
    """A stronger model reviewed the iterations so far; ``guidance`` is what goes into the next prompts.

    ``why`` it was due then; ``sections``: its answer by heading, of which ``passed_on`` make the guidance. If nothing
    was passed on, the answer was empty, and what an earlier review advised still holds.
    """

    checkpoint: int
    after_iteration: int
    guidance: str
    why: Why = "interval"
    sections: Mapping[str, str] = field(default_factory=dict)
    passed_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnSpoken:
    """Somebody spoke in a debate: ``speaker`` in ``round``, from 1; the judge's word comes after the last."""

    speaker: str
    round: int
    text: str


@dataclass(frozen=True, slots=True)
class Considered:
    """A candidate that a consensus was sought among: the ``member``-th model's, tried in ``iteration``.

    ``similarity``: the mean of how alike it is to the others among the best by gate tests, from 0 to 1; None: it was
    not scored. ``excluded``: why not, empty if it could have been.
    """

    member: int
    iteration: int | None
    tests_passed: int
    tests_total: int
    similarity: float | None = None
    excluded: str = ""


@dataclass(frozen=True, slots=True)
class ConsensusReached:
    """Of these candidates the ``chosen``-th, from 1, is handed in; None: no reply held a program.

    ``by``: whether gate tests alone told it from the others. ``weights``: what the parts of CodeBLEU counted, in the
    order of its paper.
    """

    chosen: int | None
    by: Literal["gate", "codebleu"]
    candidates: tuple[Considered, ...]
    weights: tuple[float, ...] = ()


Note = SpecWritten | CheckpointReviewed | TurnSpoken | ConsensusReached
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
