"""What came of configurations and of whole benchmarks, added up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from koderz_core.records.completions import Tier
from koderz_core.records.marks import Marks, RateKind
from koderz_core.records.plans import Scalar
from koderz_core.records.problems import DatasetOrigin


@dataclass(frozen=True, slots=True)
class TierCost:
    """What the finished calls to models of one tier cost; ``cost_usd`` None if ``unpriced`` of them have no price.

    The others are as in ``Cost``, added up, None if one of the calls has none; so are ``tokens``, in and out.
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
class SummaryRow:
    """One configuration in one benchmark.

    ``planned`` counts all its experiments. Each is in at most one of ``solved``, ``unsolved``, ``cancelled``,
    ``errors`` and ``running``; the others wait. ``scored_problems``, ``oracle_problems`` and ``saw_base_tests`` are
    those of ``marks``, and ``score_kind`` is its kind. ``mean_iterations`` is over the solved and unsolved. Tokens and
    ``cost_usd`` are of finished calls, None if one of them did not report its tokens or has no price (``unpriced``
    counts those). ``seconds`` adds up those that ended. ``isolation``: the sandbox tier; ``shared`` counts the
    experiments whose tests ran in the program's own process. ``only``: the problems that it is about, where it was
    given more.
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
    running: int  # those that somebody is at
    score_kind: RateKind | None
    mean_iterations: float | None
    input_tokens: int | None
    output_tokens: int | None
    seconds: float
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
    saw_base_tests: bool = False
    context_ends: int = 0  # of the unsolved: a prompt did not fit the context of its model
    budget_ends: int = 0  # of the unsolved: the budget per experiment was used up

    @property
    def marks(self) -> Marks:
        return Marks(self.scored_problems, self.oracle_problems, self.saw_base_tests)

    @property
    def origin(self) -> DatasetOrigin:
        return DatasetOrigin(self.dataset, self.dataset_sha256, self.licence)


def scripted(models: Iterable[str]) -> bool:
    """Whether one of these models follows a script, so that its answers show nothing about models."""
    return any(model.startswith("scripted/") for model in models)
