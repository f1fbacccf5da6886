"""Records that queries of the results return: benchmarks, experiments, calls, steps, spans of time, provenance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from koderz_core.records.completions import Finish, MessageRef, Sampling, Tier
from koderz_core.records.notes import NoteRow
from koderz_core.records.plans import Outcome, ScoreKind, StopReason, scripted
from koderz_core.records.problems import DatasetOrigin
from koderz_core.records.verdicts import ErrorClass, TestFailure, Verdict

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]  # pandas ships no types

State = Literal["planned", "running", "paused", "interrupted", "finished"]
BenchmarkState = Literal["queued", "running", "paused", "stopping", "stopped", "interrupted", "finished"]
StepKind = Literal["spec", "iteration", "checkpoint", "turn", "consensus", "answer"]
Phase = Literal["waiting", "calls", "tests", "scoring", "journal"]
"""Between the attempts of a call; for answers; for the gate; for the score; all that is left: journal, prompts."""


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """A benchmark and how far it is.

    ``state``: while a process writes its journal ``running``, ``paused``, ``stopping`` or, nothing begun, ``queued``;
    then what that was closed as, or ``interrupted`` if its process died. Each experiment is in at most one of
    ``solved``, ``unsolved``, ``cancelled``, ``errors`` and ``running``. ``calls`` are the finished ones; ``cost_usd``
    is theirs, None if ``unpriced`` of them have no price. ``isolation`` and ``self_test`` as in its journal's header.
    """

    id: str
    name: str
    dataset: str
    problems: int
    configurations: int
    models: tuple[str, ...]  # ids of all that some configuration uses, sorted
    scripted: bool  # whether some answers come from a script
    opened_at: float
    closed_reason: str | None
    state: BenchmarkState
    holder: int | None  # the process that writes its journal now
    planned: int  # experiments in all
    finished: int  # those that ended and were not begun again
    running: int  # those that somebody is at
    solved: int
    unsolved: int
    cancelled: int
    errors: int
    iterations: int
    calls: int
    cost_usd: float | None
    unpriced: int
    seconds: float  # what its experiments took, added up
    isolation: str
    self_test: str = ""
    dataset_sha256: str = ""
    licence: str = ""
    budget_usd: float | None = None  # what it may cost in all, as last set; None: there is no limit
    concurrency: int | None = None  # how many experiments at once, as last set; None: never told
    scripted_results: int = 0  # experiments with a result whose configuration has a scripted model
    scripted_failures: int = 0  # such that ended without a result

    @property
    def origin(self) -> DatasetOrigin:
        return DatasetOrigin(self.dataset, self.dataset_sha256, self.licence)

    @property
    def under_way(self) -> bool:  # somebody is at it, in whatever state
        return self.holder is not None

    @property
    def left(self) -> int:
        """How many experiments have no result yet: those that ended without one are taken up again."""
        return self.planned - self.solved - self.unsolved


@dataclass(frozen=True, slots=True)
class ExperimentRow:
    """One experiment; the tests are those of the program it returned; tokens and cost as in ``SummaryRow``.

    ``iterations``: programs that its loop tested; one that was submitted untested is none.
    ``interrupted``: nobody is at it. ``paused``: held back.
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
    isolation: str = ""  # of its benchmark, as is the next
    self_test: str = ""
    shared: bool | None = None  # whether the returned program's tests ran in its own process; None: not scored
    dataset: str = ""
    dataset_sha256: str = ""
    licence: str = ""
    saw_base_tests: bool = False  # as in ``Marks``: of its configuration

    @property
    def origin(self) -> DatasetOrigin:
        return DatasetOrigin(self.dataset, self.dataset_sha256, self.licence)

    @property
    def scripted(self) -> bool:
        """Whether some of its answers come from a script."""
        return scripted(model for members in self.models.values() for model in members)

    @property
    def shown(self) -> Outcome | State:
        """What it is now: while it is taken up again, the outcome of before stands back."""
        return self.outcome if self.outcome and self.state == "finished" else self.state


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
    shared: bool = False
    test_seconds: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class CallRow:
    """One attempt to have a model answer. ``text``: SHA-256 of the answer; ``message``: why it failed.

    ``interrupted``: a stop or a crash ended it. What it or a failed one cost is known only of work on this machine.
    Of one that failed, ``status``, ``wait_seconds`` and ``arrived`` are as in ``CallFailed``; else None.
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
    kwh: float | None
    energy_usd: float | None
    rental_usd: float | None
    status: int | None = None
    wait_seconds: float | None = None
    arrived: bool | None = None


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
class Step:
    """One step on the way of an experiment: the calls that led to it, and what came of them.

    ``number`` counts the steps of a kind, from 1. ``iteration`` or ``note`` is what it ended with, both None while it
    is under way, if it broke off, and for an ``answer``, which was handed in untested. ``program`` and ``previous``
    (the latest before it) are SHA-256, None where no reply held one. ``seconds`` adds up its calls and its test;
    ``cost_usd`` those of its calls, of unanswered ones as far as they are known, None if an answered one has no price.
    """

    kind: StepKind
    number: int
    calls: tuple[CallRow, ...]
    iteration: IterationRow | None
    note: NoteRow | None
    program: str | None
    previous: str | None
    seconds: float
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class ExperimentDetails:
    """Everything about one experiment; ``programs``: SHA-256 -> source of each scored candidate."""

    experiment: ExperimentRow
    iterations: list[IterationRow]
    calls: list[CallRow]
    notes: list[NoteRow]
    scores: list[ScoreRow]
    programs: Mapping[str, str]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time: ``phase`` None is the experiment itself, whole. ``at``: seconds since 1970, its beginning."""

    experiment: str
    label: str
    phase: Phase | None
    at: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Provenance:
    """What somebody has to know to trust a benchmark's numbers, or to measure them again.

    ``opened_at``: seconds since 1970. ``isolation`` and ``self_test`` as in its journal's header. ``name`` and the
    dataset's words may be a stranger's. ``ended``: experiments with a result, of those ``planned``. ``scripted``:
    whether some answers come from a script. The numbers are made of the first ``journal_bytes`` of its
    journal, whose SHA-256 (hex) is ``journal_sha256``; None where its file could not be found or read.
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

    @property
    def origin(self) -> DatasetOrigin:
        return DatasetOrigin(self.dataset, self.dataset_sha256, self.licence)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The first lines of a table, and how many it has in all."""

    frame: DataFrame
    lines: int
