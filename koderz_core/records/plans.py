"""Plans: configurations, budgets, experiments, and the selection of models for roles."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import cache, lru_cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from koderz_core.errors import PlanError
from koderz_core.records.problems import DatasetOrigin
from koderz_core.records.registrations import Registration
from koderz_core.records.shards import Shard

Outcome = Literal["solved", "unsolved", "cancelled", "error"]
StopReason = Literal["gate", "iterations", "budget", "context", "gave_up"]
ScoreKind = Literal["held_out", "oracle", "reported"]
Control = Literal["pause", "resume", "stop"]
Scalar = str | int | float | bool | None
Id = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9_-]{1,100}\Z")]
"""The id of a benchmark or an experiment.

A journal of another person is hostile, and terminals show ids, so a line with other characters cannot be decoded.
"""
MOST_EXPERIMENTS = 1_000_000
"""The most experiments of one plan: they are enumerated in about half a minute."""
QUALITY, LATENCY, COST, CONTEXT, FIXED = "quality", "latency", "cost", "context", "fixed"
POLICIES = (QUALITY, LATENCY, COST, CONTEXT, FIXED)
"""Policies to select a model: most solved, fastest, cheapest, largest context, or the order in which they are named."""


CACHE = "response_cache"
"""The condition of a plan whose calls may be answered from the response cache.

Then the seed of an experiment does not depend on its benchmark, because the same call in two benchmarks must have the
same seed. It still depends on the configuration, the problem and the repeat, so the calls of one benchmark stay
independent.
"""
COST_LIMIT = "max_cost_per_experiment"
"""The budget of an experiment in US dollars, where it is compared like a condition; absent if there is none."""
IMPORTED = "imported"
"""The strategy of imported configurations, which koderz cannot run."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """The unit of comparison: a strategy with its parameters, models per role, gate and feedback policy."""

    strategy: str
    models: Mapping[str, tuple[str, ...]]  # role -> ids of its models
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    gate: str = "tests"
    feedback: str = "full"

    @property
    def id(self) -> str:
        return f"conf_{fingerprint(self)[:12]}"


@dataclass(frozen=True, slots=True)
class Budget:
    """Spending limits in US dollars; None: there is no limit.

    ``per_experiment_usd`` ends an experiment with its best program so far, so it is part of what is compared. ``usd``,
    for the whole benchmark, only sets when to stop. ``allow_unpriced``: models without a known price may be called too,
    as if they cost nothing.
    """

    usd: float | None = None
    per_experiment_usd: float | None = None
    allow_unpriced: bool = False

    @property
    def limits(self) -> bool:
        """Whether there is any limit."""
        return self.usd is not None or self.per_experiment_usd is not None


def check_limits(budget: Budget, *, cached: bool = False) -> None:
    """Raise PlanError for a limit that is not an amount of money, or one per experiment with ``cached`` answers."""
    for usd in (budget.usd, budget.per_experiment_usd):
        if usd is not None and not 0 <= usd < math.inf:
            raise PlanError(f"A budget must be an amount of US dollars, 0 or more, not {usd!r}.")
    if cached and budget.per_experiment_usd is not None:
        raise PlanError(
            "--max-cost-per-experiment cannot be combined with the response cache: answers from the cache cost $0, so "
            "the results under the limit would depend on the content of the cache. Omit --max-cost-per-experiment, or "
            "omit --cache and unset KODERZ_CACHE."
        )


@dataclass(frozen=True, slots=True)
class Allowance:
    """The limits of a running benchmark: US dollars in all, None without a limit; experiments at the same time."""

    usd: float | None
    concurrency: int


@dataclass(frozen=True, slots=True)
class Ranked:
    """A model that was considered. ``score``: by the policy, None if unknown. ``reason``: why it has this rank."""

    model: str
    score: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Selection:
    """The ``chosen`` model for a ``role`` of a ``strategy``; ``ranked``: all that were considered, the best first.

    The models after the chosen one are its fallbacks. Those before it were not available, for the given reason.
    ``results_of``: the strategy whose results were compared, empty if there were none.
    """

    strategy: str
    role: str
    policy: str
    chosen: str
    ranked: tuple[Ranked, ...]
    results_of: str = ""


@dataclass(frozen=True, slots=True)
class Measurement:
    """The results of a model in a role on one problem of a dataset: how many ``experiments``, how many ``solved``.

    ``seconds`` and ``cost_usd``: the totals of its calls in that role, None if unknown for one of them.
    """

    model: str
    dataset_sha256: str
    problem: str
    experiments: int
    solved: int
    seconds: float | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Plan:
    """A set of experiments: every configuration on every problem, ``repeats`` times.

    ``name`` empty: the plan is identified by its content in any order, so the same command finds its benchmark again.
    ``conditions``: the settings that can change an outcome, such as the time limit of tests. Of the budget, only the
    limit per experiment belongs to the content. ``outside``: chosen problems without a possible gate, each with the
    reason; no configuration runs on them. ``selections``: how models that the order did not name were chosen.
    ``registration``: what was decided before the first call. Unset, it is not written, so the journals of benchmarks
    without one stay as they were. ``shard``: the part of the experiments that this plan runs, unset for all of them.
    Then the budget is that of the part; everything else, and the ids of experiments, are those of the whole benchmark.
    """

    dataset: DatasetOrigin
    problems: tuple[str, ...]
    configurations: tuple[Configuration, ...]
    seed: int = 0
    repeats: int = 1
    name: str = ""
    conditions: Mapping[str, Scalar] = field(default_factory=dict)
    budget: Budget = Budget()
    outside: Mapping[str, str] = field(default_factory=dict)
    selections: tuple[Selection, ...] = ()
    registration: Registration | UnsetType = UNSET
    shard: Shard | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Raise TooManyError, so that no plan, even in a foreign journal, is too large to be enumerated."""
        check_size(len(self.problems), len(self.configurations), self.repeats)

    @property
    def id(self) -> str:
        identity = (self.name, self.dataset.sha256, self.seed) if self.name else self.content
        whole = f"bench_{fingerprint(identity)[:12]}"
        return self.shard.id_in(whole) if self.shard else whole

    @property
    def whole(self) -> Plan:
        """The plan of the whole benchmark, of which this plan may be a part."""
        return replace(self, shard=UNSET, budget=replace(self.budget, usd=self.shard.usd)) if self.shard else self

    def part(self, number: int, count: int) -> Plan:
        """One of ``count`` parts of this plan, with its part of the budget. Raises PlanError."""
        if self.sequential is not None:
            raise PlanError(
                "A benchmark with sequential stopping cannot be divided into shards, because its stopping rule needs "
                "the results of all experiments. Omit --shard, or register the fixed stopping rule."
            )
        shard = Shard(number, count, self.budget.usd)
        return replace(self, shard=shard, budget=replace(self.budget, usd=shard.share_usd))

    @property
    def content(self) -> str:
        """Fingerprint of everything that is planned, in any order."""
        configurations = sorted(configuration.id for configuration in self.configurations)
        budget = Budget(per_experiment_usd=self.budget.per_experiment_usd)
        registration = self.registration
        if registration:
            a, b = (configurations.index(self.configurations[at].id) for at in (registration.a, registration.b))
            registration = replace(registration, a=a, b=b)
        rest = replace(
            self,
            problems=tuple(sorted(self.problems)),
            configurations=(),
            budget=budget,
            outside={},
            selections=(),
            registration=registration,
            shard=UNSET,
        )
        return fingerprint((rest, configurations))

    def models(self) -> tuple[str, ...]:
        """Ids of all models that some configuration uses, sorted."""
        return tuple(sorted({name for item in self.configurations for role in item.models.values() for name in role}))

    def experiments(self) -> tuple[Experiment, ...]:
        """All experiments, problem by problem, so that configurations can be compared early.

        A sequential benchmark completes each problem with all its repeats, the primary pair first.
        """
        benchmark, configurations = self.whole.id, [configuration.id for configuration in self.configurations]
        if self.sequential is None:
            places = ((repeat, problem) for repeat in range(self.repeats) for problem in self.problems)
        else:
            places = ((repeat, problem) for problem in self.problems for repeat in range(self.repeats))
            primary = [configurations[at] for at in (self.sequential.a, self.sequential.b)]
            configurations.sort(key=lambda configuration: configuration not in primary)
        every = (
            self._experiment(benchmark, configuration, problem, repeat)
            for repeat, problem in places
            for configuration in configurations
        )
        return tuple(every if not self.shard else (each for each in every if self.shard.holds(each.id)))

    @property
    def cached(self) -> bool:
        """Whether its calls may be answered from the response cache."""
        return bool(self.conditions.get(CACHE))

    @property
    def sequential(self) -> Registration | None:
        """The registration, if the benchmark stops as soon as its primary comparison is decided."""
        return self.registration if self.registration and self.registration.stopping == "sequential" else None

    def _experiment(self, benchmark: str, configuration: str, problem: str, repeat: int) -> Experiment:
        place = (configuration, problem, self.dataset.sha256, repeat)
        digest = fingerprint((benchmark, *place))
        seed = int(fingerprint((self.seed, place if self.cached else digest))[:8], 16)
        return Experiment(f"exp_{digest[:12]}", configuration, problem, repeat, seed)


@dataclass(frozen=True, slots=True)
class Imported:
    """The file that a benchmark was imported from: its name without folders, its SHA-256 and its format.

    ``graded``: koderz graded the programs. Otherwise the file states which ones passed. ``results``: a hash of what was
    read, which depends on the options too; empty in older journals.
    """

    file: str
    sha256: str
    format: str
    graded: bool
    results: str = ""


class TooManyError(PlanError, ValueError):
    """A plan is too large. Also a ValueError, so that msgspec reports it as a fault of the line that it decodes."""


def check_size(problems: int, configurations: int, repeats: int) -> None:
    """Raise TooManyError for a plan of more experiments than ``MOST_EXPERIMENTS``."""
    number = problems * configurations * repeats
    if number > MOST_EXPERIMENTS:
        raise TooManyError(
            f"The plan has {number:,} experiments (problems × configurations × repeats: {problems:,} × "
            f"{configurations:,} × {repeats:,}). One benchmark can have at most {MOST_EXPERIMENTS:,} "
            "experiments. Use fewer repeats, or divide the problems or the configurations among several benchmarks."
        )


def default_concurrency(plan: Plan) -> int:
    """1 with an embedded model, whose calls queue, so that other experiments would lose time by waiting; else 4."""
    return 1 if any(name.startswith("embedded/") for name in plan.models()) else 4


@dataclass(frozen=True, slots=True)
class Experiment:
    """One configuration on one problem, one repeat; all its randomness comes from ``seed``."""

    id: Id
    configuration: str  # id
    problem: str  # id
    repeat: int
    seed: int


def scripted(models: Iterable[str]) -> bool:
    """Whether one of these models follows a script, so that its answers say nothing about real models."""
    return any(model.startswith("scripted/") for model in models)


SCRIPTED = "SCRIPTED: the answers come from a script, not from a model."
SOME_SCRIPTED = "SCRIPTED: some answers come from a script, not from a model."
"""Shown above results where ``scripted`` holds; the second one where several configurations are compared."""


def fingerprint(value: object) -> str:
    """SHA-256 (hex) of a record's or plain value's canonical JSON: equal content, equal fingerprint.

    Fields with their default value are left out, so a field that a later version adds does not change fingerprints.
    """
    return hashlib.sha256(msgspec.json.encode(_canonical(value), order="sorted")).hexdigest()


def _canonical(value: object) -> object:
    if isinstance(value, str | int | float | None):  # most values
        return value
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((name, getattr(value, name), default) for name, default in _defaults(type(value)))
        return {name: _canonical(held) for name, held, default in pairs if held != default}
    if isinstance(value, Mapping):
        return {str(key): _canonical(held) for key, held in value.items()}
    return [_canonical(item) for item in value] if isinstance(value, list | tuple) else value


@cache
def _defaults(kind: Any) -> tuple[tuple[str, object], ...]:
    """The names of a record's fields, and their defaults. ``kind``: any class of records, which have no common one."""
    return tuple(
        (part.name, part.default if part.default_factory is MISSING else part.default_factory())
        for part in fields(kind)
    )


@lru_cache(maxsize=4096)  # a comparison sorts the same few hundred names a hundred times
def natural(name: str) -> tuple[tuple[int, str], ...]:
    """A key that sorts ``HumanEval/9`` before ``HumanEval/10``."""
    parts = re.split(r"([0-9]+)", name)  # every second one is a number
    return tuple(_size(part) if place % 2 else (-1, part) for place, part in enumerate(parts))


def _size(digits: str) -> tuple[int, str]:
    """A key that compares like the number; Python refuses to parse thousands of digits."""
    significant = digits.lstrip("0")
    return len(significant), significant
