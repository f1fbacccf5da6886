"""All kinds of events, one frozen record each: of a benchmark, of its experiments, and of the steps of a strategy.

A journal holds each long text once, as ``text_stored``; other events name it by its SHA-256.

The guide to the architecture lists the four places of a new kind ("Where to add a feature"). Everything else reads the
record: the journal's encoding, the live tail, verification and bundles. Bundles mask every field that is not of type
``Text`` and not in ``bundles/privacy.py``. A row of ``notes`` in the index is part of its experiment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from msgspec import UNSET, UnsetType

from koderz_core.events.annotations import ExperimentLabelled, ExperimentNoted
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
from koderz_core.records.completions import Reused
from koderz_core.records.plans import Id, Imported
from koderz_core.records.progress import Forecast, MemoryLevel
from koderz_core.records.registrations import WRONG_PAIR, Decision
from koderz_core.records.shards import MergedShard
from koderz_core.records.steps import Considered

Kind = str
"""The name of a kind of event in a journal."""
Text = str
"""SHA-256 (hex) of a text that a ``text_stored`` event holds. ``texts_of`` finds the fields of this type."""

Why = Literal["interval", "plateau", "repeated_error", "repeated_program", "budget"]
"""Why a checkpoint was due."""


@dataclass(frozen=True, slots=True)
class BenchmarkOpened:
    """The header: everything that the numbers of a benchmark depend on. A later one has a larger plan or other prices.

    ``forked_from``: the benchmark whose plan this one runs again from scratch. ``self_test``: how many checks of the
    sandbox passed when the benchmark was opened, as ``17/17``; empty if none were made. ``runtime``: the runtime of
    embedded models, and whether the same seed gives the same text there; empty without such models and in older
    journals. ``imported``: the file of another tool that the results come from, None for experiments of koderz.
    ``merged``: the shards that the journal was merged from; unset for all other journals.
    """

    kind: ClassVar[Kind] = "benchmark_opened"
    schema_version: int
    koderz_version: str
    benchmark: Id
    plan: Plan
    prompt_versions: Mapping[str, str]
    price_version: str
    isolation: str
    tiers: Mapping[str, Tier]  # model id -> tier
    energy: Mapping[str, float] = field(default_factory=dict)  # what local calls are priced by: setting -> value
    forked_from: str | None = None
    self_test: str = ""
    runtime: str = ""
    imported: Imported | None = None
    merged: tuple[MergedShard, ...] | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Raise ValueError if the registration names a configuration that the plan does not have."""
        found = self.plan.registration
        if found and max(found.a, found.b) >= len(self.plan.configurations):
            raise ValueError(WRONG_PAIR)


@dataclass(frozen=True, slots=True)
class ForecastMade:
    """The estimate for the rest of a benchmark, made when its run started; the receipt compares it with the result."""

    kind: ClassVar[Kind] = "forecast_made"
    forecast: Forecast


@dataclass(frozen=True, slots=True)
class ControlObeyed:
    """The benchmark, or only its configuration or experiment ``target``, was paused, resumed or stopped.

    ``by``: the id of the process that requested it. A process that resumes a journal first resumes the whole benchmark,
    which ends all earlier pauses and stops.
    """

    kind: ClassVar[Kind] = "control_obeyed"
    what: Control
    target: str | None
    by: int


@dataclass(frozen=True, slots=True)
class AllowanceSet:
    """The budget and the concurrency of a benchmark from now on, set when its run starts and whenever they change.

    ``by``: the id of the process that requested it. ``before``: the previous values, None at the start of a run. The
    newest event applies to later processes too.
    """

    kind: ClassVar[Kind] = "allowance_set"
    after: Allowance
    by: int
    before: Allowance | None = None


@dataclass(frozen=True, slots=True)
class MemoryLevelChanged:
    """The memory watchdog holds experiments back until ``wanted_bytes`` are free, or no longer (``enough``)."""

    kind: ClassVar[Kind] = "memory_level_changed"
    level: MemoryLevel
    free_bytes: int
    wanted_bytes: int


@dataclass(frozen=True, slots=True)
class TextStored:
    """A text that other events name by its hash."""

    kind: ClassVar[Kind] = "text_stored"
    sha256: str
    text: str


@dataclass(frozen=True, slots=True)
class ExperimentStarted:
    """An experiment started, or started again after an interruption."""

    kind: ClassVar[Kind] = "experiment_started"
    experiment: Experiment


@dataclass(frozen=True, slots=True)
class CandidateScored:
    """A distinct candidate was scored after the strategy had ended. ``held_out`` None: there are no such tests."""

    kind: ClassVar[Kind] = "candidate_scored"
    code: Text
    returned: bool
    gate: Verdict | None
    held_out: Verdict | None


@dataclass(frozen=True, slots=True)
class ExperimentFinished:
    """How an experiment ended.

    ``failure``: the error class of the submitted program, None if it has no error or there is no result. ``error``: the
    error of koderz or a provider; if ``reason`` is ``context``, the prompt that did not fit. ``seconds`` is None only
    in an imported benchmark.
    """

    kind: ClassVar[Kind] = "experiment_finished"
    outcome: Outcome
    reason: StopReason | None
    score_kind: ScoreKind | None
    code: Text | None
    seconds: float | None
    failure: ErrorClass | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class BenchmarkDecided:
    """The first ``problems`` of a sequential benchmark decided its primary comparison: no further experiment starts."""

    kind: ClassVar[Kind] = "benchmark_decided"
    decision: Decision
    problems: int


@dataclass(frozen=True, slots=True)
class BenchmarkClosed:
    """The process that ran the benchmark closed its journal properly."""

    kind: ClassVar[Kind] = "benchmark_closed"
    reason: Literal["finished", "stopped"]


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A request is about to be sent: attempt ``attempt`` (from 1) of this ordinal. ``request`` is its hash.

    ``reserved_usd``: the most that it can cost, None if unknown.
    """

    kind: ClassVar[Kind] = "call_started"
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
    """A model answered. ``text`` and ``seconds`` are None only in an imported benchmark whose file lacks them.

    ``cached``: the earlier call whose answer was used again instead of a new call. Unset, it is not written, so the
    journals of benchmarks without the response cache stay as they were.
    """

    kind: ClassVar[Kind] = "call_finished"
    text: Text | None
    finish: Finish
    usage: Usage
    cost: Cost
    seconds: float | None
    first_token_seconds: float | None
    honoured: Sampling
    cached: Reused | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class CallFailed:
    """An attempt failed, because of the provider or of koderz.

    ``status``: the HTTP status of the error, None without one. ``retry_after_seconds``: when the provider asked for the
    next attempt. ``wait_seconds``: the wait until the next attempt, None if there is none. ``arrived``: whether the
    request may have reached the provider, which may bill it. ``cost``: the cost of the attempt, known of work on this
    machine; None in older journals, for which ``events/unanswered_calls.py`` derives it. ``retries``: the most retries
    of the call. ``closed_seconds``: how long the circuit breaker lets no call through to the provider, None
    if it lets calls through. Both are None in older journals.
    """

    kind: ClassVar[Kind] = "call_failed"
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
    """One iteration: a candidate ran on the gate tests. ``code`` None: the reply contained no program."""

    kind: ClassVar[Kind] = "code_tested"
    iteration: int
    request: str
    code: Text | None
    how: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ProgramProbed:
    """A program answered a few calls. This is not an iteration, and it does not affect the score."""

    kind: ClassVar[Kind] = "program_probed"
    request: str
    code: Text
    observed: tuple[Observed, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class MemoryRecalled:
    """The memories that a query returned, complete, because a later query may return others.

    ``fault``: why the query failed, empty if it did not.
    """

    kind: ClassVar[Kind] = "memory_recalled"
    request: str
    query: Query
    memories: tuple[MemoryRef, ...]
    seconds: float
    fault: str = ""


@dataclass(frozen=True, slots=True)
class RemainingRead:
    """A strategy received what it may still use."""

    kind: ClassVar[Kind] = "remaining_read"
    remaining: Remaining


@dataclass(frozen=True, slots=True)
class SpecWritten:
    """A specification that the following prompts contain, requested with version ``prompt`` of its prompt.

    ``origin``: the experiment that it was recalled from, None if it was written here. ``finish``: how the answer ended;
    "length" means that it was cut, so ``text`` is incomplete or empty.
    """

    kind: ClassVar[Kind] = "spec_written"
    text: str
    prompt: str = "minimal"
    origin: str | None = None
    finish: Finish = "stop"


@dataclass(frozen=True, slots=True)
class CheckpointReviewed:
    """A stronger model reviewed the iterations so far; ``guidance`` is added to the next prompts.

    ``why``: the reason for the review; ``sections``: the answer by heading, of which ``passed_on`` make the guidance.
    If nothing was passed on, the answer was empty and the guidance of an earlier review stays in effect.
    """

    kind: ClassVar[Kind] = "checkpoint_reviewed"
    checkpoint: int
    after_iteration: int
    guidance: str
    why: Why = "interval"
    sections: Mapping[str, str] = field(default_factory=dict)
    passed_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnSpoken:
    """A turn in a debate: ``speaker`` in ``round``, from 1. The judge's turn comes after the last round."""

    kind: ClassVar[Kind] = "turn_spoken"
    speaker: str
    round: int
    text: str


@dataclass(frozen=True, slots=True)
class ConsensusReached:
    """The ``chosen`` candidate, from 1, is submitted; None if no reply held a program.

    ``by``: whether gate tests alone decided; ``words``: n-grams alone, for answers that no test scores. ``weights``:
    those of the parts of CodeBLEU, in the order of its paper.
    """

    kind: ClassVar[Kind] = "consensus_reached"
    chosen: int | None
    by: Literal["gate", "codebleu", "words"]
    candidates: tuple[Considered, ...]
    weights: tuple[float, ...] = ()


Note = SpecWritten | CheckpointReviewed | TurnSpoken | ConsensusReached
Event = (
    BenchmarkOpened
    | ForecastMade
    | ControlObeyed
    | AllowanceSet
    | MemoryLevelChanged
    | TextStored
    | ExperimentStarted
    | CallStarted
    | CallFinished
    | CallFailed
    | CodeTested
    | ProgramProbed
    | MemoryRecalled
    | RemainingRead
    | Note
    | CandidateScored
    | ExperimentFinished
    | BenchmarkDecided
    | BenchmarkClosed
    | ExperimentLabelled
    | ExperimentNoted
)

KINDS: Mapping[Kind, type[Event]] = {event.kind: event for event in get_args(Event)}
