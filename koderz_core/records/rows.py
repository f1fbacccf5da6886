"""Records that queries of the index return: benchmarks, experiments, calls, steps, spans of time, provenance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from koderz_core.records.completions import Finish, MessageRef, Sampling, Tier
from koderz_core.records.notes import NoteRow
from koderz_core.records.plans import Outcome, ScoreKind, StopReason, scripted
from koderz_core.records.problems import DatasetOrigin
from koderz_core.records.registrations import Decision
from koderz_core.records.verdicts import ErrorClass, TestFailure, Verdict

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types

State = Literal["planned", "running", "paused", "interrupted", "finished"]
BenchmarkState = Literal["queued", "running", "paused", "stopping", "stopped", "interrupted", "finished"]
StepKind = Literal["spec", "iteration", "checkpoint", "turn", "consensus", "answer"]
Phase = Literal["waiting", "calls", "tests", "scoring", "journal"]
"""Between the attempts of a call; for answers; for the gate; for the score; the rest, such as prompts and journal."""


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """A benchmark and its progress.

    ``state``: while a process writes its journal ``running``, ``paused``, ``stopping`` or, before the first experiment,
    ``queued``; afterwards the way it was closed, or ``interrupted`` if its process died. Each experiment is in at most
    one of ``solved``, ``unsolved``, ``cancelled``, ``errors`` and ``running``. ``calls`` are the finished ones;
    ``cost_usd`` is their cost, None if ``unpriced`` of them have no price. ``isolation`` and ``self_test`` are those of
    its journal's header.
    """

    id: str
    name: str
    dataset: str
    problems: int
    configurations: int
    models: tuple[str, ...]  # ids of all models of its configurations, sorted
    scripted: bool  # whether some answers come from a script
    opened_at: float
    closed_reason: str | None
    state: BenchmarkState
    holder: int | None  # the id of the process that writes its journal
    planned: int  # all experiments
    finished: int  # those that ended and did not start again
    running: int  # those that a process works on
    solved: int
    unsolved: int
    cancelled: int
    errors: int
    iterations: int
    calls: int
    cost_usd: float | None
    unpriced: int
    seconds: float | None  # sum over its experiments that ended; None if the time of one is unknown
    isolation: str
    self_test: str = ""
    dataset_sha256: str = ""
    licence: str = ""
    budget_usd: float | None = None  # of the whole benchmark, as last set; None: no limit
    concurrency: int | None = None  # as last set; None: not recorded
    scripted_results: int = 0  # experiments with a result whose configuration has a scripted model
    scripted_failures: int = 0  # such experiments that ended without a result
    imported: str | None = None  # the file of another tool that its results come from
    decision: Decision | None = None  # how a sequential benchmark ended early
    decided_by: int | None = None  # how many problems of its drawn order decided that
    cached: int = 0  # answers from the response cache, which cost nothing

    @property
    def origin(self) -> DatasetOrigin:
        return DatasetOrigin(self.dataset, self.dataset_sha256, self.licence)

    @property
    def under_way(self) -> bool:
        """Whether a process runs it, in any state."""
        return self.holder is not None

    @property
    def left(self) -> int:
        """The number of experiments without a result; those that ended without one start again."""
        return self.planned - self.solved - self.unsolved


@dataclass(frozen=True, slots=True)
class ExperimentRow:
    """One experiment; the tests are those of the returned program; tokens and cost as in ``SummaryRow``.

    ``iterations``: programs that its loop tested; a program that was submitted untested does not count.
    ``interrupted``: it started and no process works on it. ``paused``: it waits because of a pause.
    """

    id: str
    benchmark: str
    configuration: str
    label: str
    strategy: str
    models: Mapping[str, tuple[str, ...]]  # role -> ids
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
    isolation: str = ""  # of its benchmark, like the next
    self_test: str = ""
    shared: bool | None = None  # as in ``Verdict``, of the returned program; None: not scored
    dataset: str = ""
    dataset_sha256: str = ""
    licence: str = ""
    saw_base_tests: bool = False  # as in ``Marks``: of its configuration
    searched: bool = False  # as above
    cached: int = 0  # answers from the response cache, which cost nothing

    @property
    def origin(self) -> DatasetOrigin:
        return DatasetOrigin(self.dataset, self.dataset_sha256, self.licence)

    @property
    def scripted(self) -> bool:
        """Whether some of its answers come from a script."""
        return scripted(model for members in self.models.values() for model in members)

    @property
    def shown(self) -> Outcome | State:
        """The outcome, or the state if it has none or has started again."""
        return self.outcome if self.outcome and self.state == "finished" else self.state


@dataclass(frozen=True, slots=True)
class IterationRow:
    """One iteration: a candidate program on the gate tests."""

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
    shared: bool = False
    test_seconds: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class CallRow:
    """One attempt of a call. ``text``: SHA-256 of the answer; ``message``: the error of a failed one.

    ``interrupted``: a stop or a crash ended it. The cost of an interrupted or failed attempt is known only for models
    on this machine. ``status``, ``wait_seconds`` and ``arrived`` are as in ``CallFailed``, None unless it failed.
    """

    experiment: str
    ordinal: int
    attempt: int
    at: float
    role: str
    member: int
    model: str
    tier: Tier | None
    state: Literal["started", "finished", "failed", "interrupted"]
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
    service_tier: str | None  # this and the next two as in ``Usage``, the others as in ``Cost``
    machine_seconds: float | None
    gpu_joules: float | None
    cpu_joules: float | None
    kwh: float | None
    energy_usd: float | None
    rental_usd: float | None
    status: int | None = None
    wait_seconds: float | None = None
    arrived: bool | None = None
    cached_from: str | None = None  # the experiment of the call whose answer was used again
    reasoning_tokens: int | None = None  # a part of the output tokens
    cached_usd: float | None = None  # the cost of that call


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A candidate that was scored after the strategy had ended; ``code`` is its SHA-256."""

    experiment: str
    code: str
    at: float
    returned: bool
    gate: Verdict | None
    held_out: Verdict | None


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an experiment: its calls and their result.

    ``number`` counts the steps of a kind, from 1. ``iteration`` or ``note`` is its result; both are None while it is
    under way, if it was interrupted, and for an ``answer``, which was submitted untested. ``program`` and ``previous``
    (the latest before it) are SHA-256, None if no reply held one. ``seconds`` is the sum of its calls and its test;
    ``cost_usd`` that of its calls, including known costs of unanswered ones, None if an answered one has no price.
    """

    kind: StepKind
    number: int
    calls: tuple[CallRow, ...]
    iteration: IterationRow | None
    note: NoteRow | None
    program: str | None
    previous: str | None
    seconds: float | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class ExperimentDetails:
    """All rows of one experiment; ``programs``: SHA-256 -> source of each scored candidate.

    Calls are in the order of their ordinals and attempts.
    """

    experiment: ExperimentRow
    iterations: list[IterationRow]
    calls: list[CallRow]
    notes: list[NoteRow]
    scores: list[ScoreRow]
    programs: Mapping[str, str]
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """A span of time; ``phase`` None: the whole experiment. ``at``: its beginning, in seconds since 1970."""

    experiment: str
    label: str
    phase: Phase | None
    at: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a benchmark's numbers, needed to trust them or to measure them again.

    ``opened_at``: seconds since 1970. ``isolation`` and ``self_test`` are those of its journal's header. ``name`` and
    the texts about the dataset are hostile. ``ended``: experiments with a result, of those ``planned``. ``scripted``:
    whether some answers come from a script. The numbers come from the first ``journal_bytes`` of its journal, whose
    SHA-256 (hex) is ``journal_sha256``; None if the file could not be found or read. ``imported``: the file of another
    tool that the results come from, None if koderz measured them.
    """

    benchmark: str
    name: str
    dataset: str
    dataset_sha256: str
    licence: str
    problems: int
    repeats: int
    koderz_version: str
    price_version: str
    isolation: str
    self_test: str
    opened_at: float
    configurations: int
    planned: int
    ended: int
    scripted: bool
    journal_bytes: int | None
    journal_sha256: str | None = None
    imported: str | None = None

    @property
    def origin(self) -> DatasetOrigin:
        return DatasetOrigin(self.dataset, self.dataset_sha256, self.licence)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The first lines of a table, and the number of all lines."""

    frame: DataFrame
    lines: int
