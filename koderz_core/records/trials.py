"""Experiments as statistics use them: the outcome and cost of each trial, and measurements that a benchmark may reuse.

``Try`` and ``Trial`` are structs: half a million of them are made in a tenth of the time that data classes take.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec

from koderz_core.records.completions import Tier
from koderz_core.records.plans import Configuration, Outcome, Scalar, ScoreKind, StopReason
from koderz_core.records.verdicts import ErrorClass
from koderz_core.sums import known_sum

_APART = re.compile("^[0-9a-f]{64} ")


def id_apart(dataset_sha256: str, problem: str) -> str:
    """The id of a problem among problems of several datasets, which may have equal ids."""
    return f"{dataset_sha256} {problem}"


def id_in_dataset(problem: str) -> str:
    """The id of a problem as its dataset has it, from this id or from ``id_apart``."""
    return _APART.sub("", problem)


class Try(msgspec.Struct, frozen=True, gc=False):
    """One iteration of a trial. ``usd``, ``seconds``, ``tokens`` and ``joules`` are cumulative up to its end.

    None: unknown. ``joules``: only of models on this machine.

    ``code``: SHA-256 of its program, None if the reply held none. ``held_out_passed`` None: not scored on such tests.
    ``checkpoints``: the number of earlier reviews by a stronger model with advice.
    """

    iteration: int
    code: str | None
    gate_passed: bool
    tests_passed: int
    tests_total: int
    error: ErrorClass | None
    held_out_passed: bool | None
    usd: float | None
    seconds: float | None
    checkpoints: int = 0
    tokens: int | None = None
    joules: float | None = None


class Trial(msgspec.Struct, frozen=True, gc=False):
    """One experiment: a configuration (named by ``benchmark`` and ``configuration``) on a problem, one repeat.

    ``outcome`` None: it has not ended. ``iterations``: programs that its loop tested. ``usd`` and tokens are those of
    its finished calls, None if unknown; the ``frontier`` ones are those of calls to models of the tiers frontier and
    small frontier. ``gate_passed``: whether the returned program passed the tests that the loop saw, None without any.
    ``code``: SHA-256 of the returned program. ``small_frontier_usd``: the part of ``frontier_usd`` for small frontier
    models. ``joules``: the energy of its calls, known only for models on this machine. With an answer from the response
    cache, all but the tokens are unknown.
    """

    benchmark: str
    configuration: str
    experiment: str
    problem: str
    repeat: int
    outcome: Outcome | None
    reason: StopReason | None
    score_kind: ScoreKind | None
    gate_passed: bool | None
    code: str | None
    iterations: int
    usd: float | None
    frontier_usd: float | None
    tokens: int | None
    frontier_tokens: int | None
    seconds: float | None
    tries: tuple[Try, ...] = ()
    small_frontier_usd: float | None = 0.0
    joules: float | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The configuration that it is a trial of."""
        return self.benchmark, self.configuration

    @property
    def attempts(self) -> int:
        """Its place on the axis of attempts: its iterations, or 1 for a program that was submitted untested."""
        return self.iterations or int(self.scored)

    @property
    def scored(self) -> bool:
        """Whether it has a result of its configuration; a cancelled trial or an error of koderz has none."""
        return self.outcome in ("solved", "unsolved")

    @property
    def solved(self) -> bool:
        return self.outcome == "solved"


@dataclass(frozen=True, slots=True)
class Measured:
    """A direct configuration of one model in one benchmark: its experiments with a result, as parallel tuples.

    ``conditions``: those of the benchmark, including the versions of its prompts. ``usd``: None if unpriced. ``at``:
    the end of the last experiment, in seconds since 1970.
    """

    benchmark: str
    configuration: str
    label: str
    model: str
    tier: Tier | None
    dataset: str
    dataset_sha256: str
    parameters: Mapping[str, Scalar]
    conditions: Mapping[str, Scalar]
    price_version: str
    at: float
    problems: tuple[str, ...]
    solved: tuple[bool, ...]
    usd: tuple[float | None, ...]

    @property
    def key(self) -> tuple[str, str]:
        """The configuration of its trials, as in ``Trial``."""
        return self.benchmark, self.configuration

    def on(self, problem: str) -> Measured:
        """Only its experiments on this problem."""
        places = [at for at, name in enumerate(self.problems) if name == problem]
        return replace(
            self,
            problems=(problem,) * len(places),
            solved=tuple(self.solved[at] for at in places),
            usd=tuple(self.usd[at] for at in places),
        )

    def of(self, problems: frozenset[str]) -> tuple[int, int, float | None]:
        """The number of its experiments on these problems, how many were solved, and their mean cost in dollars."""
        chosen = [at for at, problem in enumerate(self.problems) if problem in problems]
        usd = known_sum(self.usd[at] for at in chosen)
        mean = usd / len(chosen) if chosen and usd is not None else None
        return len(chosen), sum(self.solved[at] for at in chosen), mean


@dataclass(frozen=True, slots=True)
class Ground:
    """The basis of a benchmark: its problems, its conditions including the versions of its prompts, and its prices."""

    benchmark: str
    problems: tuple[str, ...]
    conditions: Mapping[str, Scalar]
    price_version: str = ""


@dataclass(frozen=True, slots=True)
class Sought:
    """A direct configuration on problems of a dataset, each ``repeats`` times, as it would be measured now.

    ``conditions``: those that can change an answer of the model or its score; None: not set.
    """

    configuration: Configuration
    dataset_sha256: str
    conditions: Mapping[str, Scalar]
    problems: tuple[str, ...]
    repeats: int = 1
