"""What the results are asked for: one frozen record per row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from koderz_core.records.completions import Finish, MessageRef, Sampling, Tier
from koderz_core.records.plans import Outcome, Scalar, ScoreKind, StopReason
from koderz_core.records.verdicts import ErrorClass, TestFailure, Verdict

State = Literal["planned", "running", "finished"]


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """A benchmark and how far it is. ``closed_at`` None: its process is at work, or died."""

    id: str
    name: str
    dataset: str
    problems: int
    repeats: int
    configurations: int
    isolation: str
    koderz_version: str
    price_version: str
    opened_at: float
    last_at: float  # when its last event happened
    closed_at: float | None
    closed_reason: str | None
    planned: int  # experiments in all
    finished: int  # those with an outcome
    running: int  # those under way without one


@dataclass(frozen=True, slots=True)
class TierCost:
    """What the finished calls to models of one tier cost; ``cost_usd`` None if ``unpriced`` of them have no price."""

    tier: Tier | None
    calls: int
    unpriced: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One configuration in one benchmark.

    ``planned`` counts all its experiments. Each is in at most one of ``solved``, ``unsolved``, ``cancelled``,
    ``errors`` and ``running``; the others wait. ``score_kind`` is ``oracle`` if one of the scores is.
    ``mean_iterations`` is over the solved and unsolved. Tokens and ``cost_usd`` are of finished calls, None if one of
    them did not report its tokens or has no price (``unpriced`` counts those). ``seconds`` adds up the experiments.
    """

    benchmark: str
    configuration: str
    label: str
    strategy: str
    models: Mapping[str, tuple[str, ...]]
    parameters: Mapping[str, Scalar]
    gate: str
    problems: int
    planned: int
    solved: int
    unsolved: int
    cancelled: int
    errors: int
    running: int
    score_kind: ScoreKind | None
    mean_iterations: float | None
    input_tokens: int | None
    output_tokens: int | None
    seconds: float
    cost_usd: float | None
    unpriced: int
    tiers: tuple[TierCost, ...]


@dataclass(frozen=True, slots=True)
class ExperimentRow:
    """One experiment; the tests are those of the program it returned; tokens and cost as in ``SummaryRow``.

    ``iterations``: its tries; an answer that it handed in untested is one.
    """

    id: str
    benchmark: str
    configuration: str
    label: str
    problem: str
    repeat: int
    state: State
    outcome: Outcome | None
    reason: StopReason | None
    score_kind: ScoreKind | None
    code: str | None  # SHA-256 of the returned program
    gate_passed: bool | None
    gate_tests_passed: int | None
    gate_tests_total: int | None
    held_out_passed: bool | None
    held_out_tests_passed: int | None
    held_out_tests_total: int | None
    iterations: int
    calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    unpriced: int
    seconds: float | None
    started_at: float | None
    finished_at: float | None
    failure: ErrorClass | None  # what was wrong with the returned program
    error: str | None


@dataclass(frozen=True, slots=True)
class IterationRow:
    """One candidate program on the gate tests."""

    experiment: str
    iteration: int
    ordinal: int | None
    at: float
    code: str | None
    how: str
    passed: bool
    marks: str
    tests_passed: int
    tests_total: int
    error: ErrorClass | None
    message: str
    seconds: float
    isolation: str
    failures: tuple[TestFailure, ...]


@dataclass(frozen=True, slots=True)
class CallRow:
    """One attempt to have a model answer. ``text``: SHA-256 of the answer; ``message``: why it failed."""

    experiment: str
    ordinal: int
    attempt: int
    at: float
    role: str
    member: int
    model: str
    tier: Tier | None
    state: Literal["started", "finished", "failed"]
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cost_usd: float | None
    cost_source: str | None
    seconds: float | None
    first_token_seconds: float | None
    finish: Finish | None
    sampling: Sampling
    honoured: Sampling | None
    messages: tuple[MessageRef, ...]
    text: str | None
    message: str | None


@dataclass(frozen=True, slots=True)
class NoteRow:
    """Something a strategy put into the journal; ``iteration``: the one it came after."""

    experiment: str
    ordinal: int
    at: float
    kind: Literal["spec_written", "checkpoint_reviewed"]
    iteration: int | None
    text: str


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A candidate scored after its experiment had ended; ``code`` is its SHA-256."""

    experiment: str
    code: str
    at: float
    returned: bool
    gate: Verdict | None
    held_out: Verdict | None


@dataclass(frozen=True, slots=True)
class ExperimentDetails:
    """Everything about one experiment; ``programs``: SHA-256 -> source of each scored candidate."""

    experiment: ExperimentRow
    iterations: list[IterationRow]
    calls: list[CallRow]
    notes: list[NoteRow]
    scores: list[ScoreRow]
    programs: Mapping[str, str]
