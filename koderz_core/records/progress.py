"""Records of a benchmark: progress for live views, totals by configuration and tier, estimates and actual results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from koderz_core.records import Allowance
from koderz_core.records.completions import Tier
from koderz_core.records.marks import Marks, RateKind
from koderz_core.records.plans import Scalar
from koderz_core.records.problems import DatasetOrigin
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.records.verdicts import ErrorClass

MemoryLevel = Literal["enough", "low", "critical"]
"""How much memory is free: no experiment starts while it is low, and running ones pause while it is critical."""


@dataclass(frozen=True, slots=True)
class Past:
    """A past experiment that was solved or unsolved; ``cost_usd`` None if one of its calls has no price."""

    configuration: str
    strategy: str
    models: Mapping[str, tuple[str, ...]]
    calls: int
    cost_usd: float | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Range:
    """The median and the 90th percentile of an estimate."""

    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """The estimate for the ``experiments`` without a result; None: unknown. ``past``: the experiments it is based on.

    ``unknown``: ids of configurations for which too few similar experiments have ended. ``unpriced``: ids of models
    without a known price. ``spent_usd``: the known cost of the earlier calls of the same plan; a call without a known
    price counts as free, as in the budget.
    """

    experiments: int
    calls: Range | None
    cost_usd: Range | None
    seconds: Range | None
    past: int
    unknown: tuple[str, ...]
    unpriced: tuple[str, ...]
    spent_usd: float = 0.0

    def may_exceed(self, usd: float | None) -> bool:
        """Whether the 90th percentile of the total cost, including what is already spent, exceeds ``usd``."""
        return usd is not None and self.cost_usd is not None and self.spent_usd + self.cost_usd.p90 > usd

    @property
    def tells(self) -> bool:
        """Whether there is an estimate for all experiments that are left."""
        return self.experiments > 0 and not self.unknown


@dataclass(frozen=True, slots=True)
class Receipt:
    """The actual result since the estimate was made; ``cost_usd`` None if one of the calls has no price.

    ``forecast`` None: there was no estimate. ``seconds`` None: the benchmark was interrupted or paused in between.
    """

    forecast: Forecast | None
    cost_usd: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class PastPair:
    """How the results of two configurations of a benchmark differed on the same ``problems``.

    ``discordant``: the number of these problems on which one trial of each has different outcomes; with repeats the
    expected number. ``from_chance``: the part of the variance of that difference that is between trials of one problem,
    None if one configuration was not repeated or they never differed.
    """

    strategies: tuple[str, str]
    models: tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]
    problems: int
    discordant: float
    from_chance: float | None


@dataclass(frozen=True, slots=True)
class NewestIteration:
    """An iteration of a running benchmark and its experiment; ``message`` is shortened."""

    experiment: str
    problem: str
    label: str
    iteration: int
    at: float
    passed: bool
    tests_passed: int
    tests_total: int
    error: ErrorClass | None
    message: str


@dataclass(frozen=True, slots=True)
class ModelTrouble:
    """The failed attempts to call a model since its last answer. All times are seconds since 1970.

    ``cause``: an HTTP status, else the first sentence of the error. ``failures``: the number of failed attempts, from
    ``begun_at`` to ``failed_at``. ``waiting``: the number of calls with a retry. ``next_at``: when the first retry is
    due, None if it is under way or there is none. ``retries_used`` of its ``retries`` (None in older journals).
    ``closed_until``: when the circuit breaker lets calls through to the provider again, None if it does so now.
    ``answered_at``: when the model answered again.
    """

    model: str
    cause: str
    failures: int
    begun_at: float
    failed_at: float
    waiting: int = 0
    next_at: float | None = None
    retries_used: int = 0
    retries: int | None = None
    closed_until: float | None = None
    answered_at: float | None = None


@dataclass(frozen=True, slots=True)
class MemoryShortage:
    """The memory of a benchmark's machine is, or was, too little. Times are seconds since 1970, sizes are bytes.

    ``since``: when it became so. ``ended_at``: when there was enough again, None if there is not.
    """

    level: Literal["low", "critical"]
    free_bytes: int
    wanted_bytes: int
    since: float
    ended_at: float | None = None


@dataclass(frozen=True, slots=True)
class AllowanceChange:
    """A change of the limits of a running benchmark, requested by the process ``by``. ``at``: seconds since 1970."""

    at: float
    by: int
    before: Allowance
    after: Allowance


@dataclass(frozen=True, slots=True)
class BenchmarkProgress:
    """A benchmark at one moment: all its experiments in natural order, its newest iterations, the newest first.

    ``seconds_left``: an estimate, None without a result to base it on, or if no process runs the benchmark.
    ``receipt``: the result next to the estimate, None before the end. ``troubles``: models whose calls fail, or failed
    recently. ``at``: when it was read; ``news_at``: the last entry of its journal, None if unknown; both in seconds
    since 1970. ``changes``: of its limits, the newest first. ``forecast``: the newest estimate, None if there was none.
    """

    benchmark: BenchmarkRow
    experiments: tuple[ExperimentRow, ...]
    newest: tuple[NewestIteration, ...]
    seconds_left: float | None
    receipt: Receipt | None = None
    troubles: tuple[ModelTrouble | MemoryShortage, ...] = ()
    at: float = 0.0
    news_at: float | None = None
    changes: tuple[AllowanceChange, ...] = ()
    forecast: Forecast | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The data of a page that watches a benchmark, all read at one moment.

    ``benchmarks``: all of them, the newest first. ``progress``: of the watched one, whose row is among them; None if
    there is no such benchmark.
    """

    benchmarks: tuple[BenchmarkRow, ...]
    progress: BenchmarkProgress | None


@dataclass(frozen=True, slots=True)
class News:
    """A ``state`` that changes when a journal grows, and when it was read: ``at``, in seconds since 1970."""

    state: str
    at: float


def meant(rows: Sequence[BenchmarkRow], benchmark: str) -> BenchmarkRow | None:
    """The benchmark of that id; for ``""`` the first that runs, else the newest, which is the first row."""
    if benchmark:
        return next((row for row in rows if row.id == benchmark), None)
    return next((row for row in rows if row.under_way), rows[0] if rows else None)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Ids of the experiments before and after one in its benchmark, None at the ends."""

    previous: str | None
    next: str | None


@dataclass(frozen=True, slots=True)
class TierCost:
    """The cost of the finished calls to models of one tier; ``cost_usd`` None if ``unpriced`` of them have no price.

    The other fields are sums of those of ``Cost``, None if a call has none. ``tokens``: input and output together.
    """

    tier: Tier | None
    calls: int
    unpriced: int
    cost_usd: float | None
    kwh: float | None = None
    energy_usd: float | None = None
    rental_usd: float | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class RoleCost:
    """The finished calls of one role to one model, in the experiments with a result of one configuration.

    ``cost_usd``: None if ``unpriced`` of the calls have no price. ``usd_per_problem``: the mean over the repeats of a
    problem, then over the problems with a result, None with an answer from the response cache. ``tokens``: input and
    output together, None if a call has none.
    """

    benchmark: str
    configuration: str
    role: str
    model: str
    tier: Tier | None
    calls: int
    unpriced: int
    tokens: int | None
    cost_usd: float | None
    usd_per_problem: float | None


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One configuration in one benchmark.

    ``planned`` counts all its experiments. Each is in at most one of ``solved``, ``unsolved``, ``cancelled``,
    ``errors`` and ``running``; the others wait. ``scored_problems`` to ``reported_problems`` are
    those of ``marks``, and ``score_kind`` is its kind. ``mean_iterations`` is that of the solved and unsolved ones.
    Tokens and ``cost_usd`` are those of finished calls, None if one did not report its tokens or has no price
    (``unpriced`` counts these). ``seconds``: the sum over experiments that ended, None if the time of one is unknown.
    ``isolation``: the sandbox tier; ``shared`` counts the experiments whose tests ran in the program's own process.
    ``replies`` counts the replies whose programs a loop tested, ``well_formed`` those with a complete program in one
    piece. ``solved_first``: solved after at most one tested program. ``share``: the share of results that are solved,
    averaged over the problems with a result; ``share_first``: the same of results that are in ``solved_first``.
    Both are None without a result. ``only``: the problems of this row, if these are not all.
    ``model_tiers``: the tier of each model of its benchmark. ``cached``: the answers from the response cache, which
    cost nothing.
    """

    benchmark: str
    configuration: str
    label: str
    strategy: str
    models: Mapping[str, tuple[str, ...]]
    parameters: Mapping[str, Scalar]
    gate: str
    dataset: str
    problem_set: str  # equal for the same problems of the same dataset
    problems: int
    planned: int
    solved: int
    unsolved: int
    cancelled: int
    errors: int
    running: int  # those that a process works on
    score_kind: RateKind | None
    mean_iterations: float | None
    input_tokens: int | None
    output_tokens: int | None
    seconds: float | None
    cost_usd: float | None
    ended_cost_usd: float | None  # of the experiments that ended
    unpriced: int
    tiers: tuple[TierCost, ...]
    isolation: str = ""
    shared: int = 0
    dataset_sha256: str = ""
    licence: str = ""
    feedback: str = "full"
    only: tuple[str, ...] | None = None
    scored_problems: int = 0
    oracle_problems: int = 0
    reported_problems: int = 0
    saw_base_tests: bool = False
    searched: bool = False  # as in ``Marks``
    context_ends: int = 0  # unsolved because a prompt did not fit the context of its model
    budget_ends: int = 0  # unsolved because the budget per experiment was used up
    model_tiers: Mapping[str, Tier] = field(default_factory=dict)
    replies: int = 0
    well_formed: int = 0
    solved_first: int = 0
    share: float | None = None
    share_first: float | None = None
    cached: int = 0
    reasoning_tokens: int | None = None  # a part of the output tokens

    @property
    def key(self) -> tuple[str, str]:
        """Identifies it among all configurations, as in ``Trial``."""
        return self.benchmark, self.configuration

    @property
    def marks(self) -> Marks:
        scored, oracle, reported = self.scored_problems, self.oracle_problems, self.reported_problems
        return Marks(scored, oracle, self.saw_base_tests, reported, self.searched)

    @property
    def origin(self) -> DatasetOrigin:
        return DatasetOrigin(self.dataset, self.dataset_sha256, self.licence)
