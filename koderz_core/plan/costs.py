"""Costs of plans: budgets, prices, estimates, and what a person must confirm before a plan starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from koderz_core.analysis.timing import forecast
from koderz_core.config import Settings
from koderz_core.errors import PlanError, StoreError
from koderz_core.models.catalogue import resolve
from koderz_core.models.connection import redact
from koderz_core.models.providers import PROVIDERS
from koderz_core.models.worst_case import WorstCases, unpriced
from koderz_core.plan.evidence import Evidence
from koderz_core.prompts import coding
from koderz_core.records import Budget, Configuration, Dataset, Plan, PublicProblem, Request, Sampling
from koderz_core.records.plans import check_limits, default_concurrency
from koderz_core.records.progress import Forecast
from koderz_core.report.formats import duration, money, plain
from koderz_core.sums import known_sum

RESULTS = frozenset({"solved", "unsolved"})  # outcomes that are never run again
HOUR = 3600.0


class Costs:
    """Computes prices and estimates from the settings and from finished experiments."""

    def __init__(self, settings: Settings, evidence: Evidence) -> None:
        self._settings = settings
        self._evidence = evidence

    def check(self, plan: Plan) -> None:
        """Raise PlanError for an invalid budget, and as ``check_priced``."""
        check_limits(plan.budget)
        if plan.budget.limits:
            check_priced(plan.budget, unpriced(plan.models(), self._settings))

    def forecast_or_none(
        self, plan: Plan, concurrency: int | None = None, *, retry_errors: bool = False
    ) -> Forecast | None:
        """Return the same as ``forecast``; None if the store cannot be read, because a run does not need the store."""
        try:
            return self.forecast(plan, concurrency, retry_errors=retry_errors)
        except StoreError:
            return None

    def forecast(
        self,
        plan: Plan,
        concurrency: int | None = None,
        of: Sequence[Configuration] | None = None,
        *,
        retry_errors: bool = False,
    ) -> Forecast:
        """Estimate cost and duration of the experiments of a plan that have no result yet. Raises StoreError.

        ``of``: only the experiments of these configurations. ``retry_errors``: include experiments that ended with an
        error.
        """
        chosen = plan.configurations if of is None else of
        ended = RESULTS if retry_errors else {*RESULTS, "error"}
        rows = self._evidence.experiments(plan.id)
        done = {row.id for row in rows if row.shown in ended}
        number = Counter(experiment.configuration for experiment in plan.experiments() if experiment.id not in done)
        left = [(configuration, number[configuration.id]) for configuration in chosen]
        past = self._evidence.past({configuration.strategy for configuration in chosen})
        estimate = forecast(left, past, concurrency or default_concurrency(plan))
        spent = known_sum(row.cost_usd for row in rows)
        known = self._evidence.known_spending(plan.id) if spent is None else spent
        return replace(estimate, unpriced=unpriced(plan.models(), self._settings), spent_usd=known)

    def price(self, plan: Plan, direct: Sequence[Configuration], dataset: Dataset) -> str:
        """Describe the cost of these direct configurations of a plan: an estimate, else the highest possible cost.

        ``dataset``: the dataset of the plan.
        """
        with suppress(StoreError):
            expected = self.forecast(plan, of=direct)
            if not expected.experiments:
                return "$0, because all results already exist"
            if expected.cost_usd is not None:
                return f"about {money(expected.cost_usd.p50)}, 90th percentile {money(expected.cost_usd.p90)}"
        names, cases = set(plan.problems), WorstCases(self._settings)
        problems = [problem.public for problem in dataset.problems if problem.id in names]
        usd = known_sum(
            cases.of(configuration.models["coder"][0], _only_request(configuration, problem))
            for configuration in direct
            for problem in problems
        )
        return "an unknown amount" if usd is None else f"at most {money(usd * plan.repeats)}"


def _only_request(direct: Configuration, problem: PublicProblem) -> Request:
    """The request of a direct configuration, without a spec."""
    brief = coding.Brief(problem, chain_of_thought=bool(direct.parameters["chain_of_thought"]))
    longest = direct.parameters["max_tokens"]
    return Request(coding.first_attempt(brief), Sampling(max_tokens=longest if isinstance(longest, int) else None), 0)


def check_priced(budget: Budget, unpriced: Sequence[str]) -> None:
    """Raise PlanError if models without a known price would exceed the budget unnoticed, unless it allows them."""
    if unpriced and budget.limits and not budget.allow_unpriced:
        raise PlanError(
            f"No price is known for {', '.join(unpriced)}, so a budget cannot limit the cost. Choose models with a "
            "known price, omit the budget, or use --allow-unpriced to count calls without a known price as free."
        )


@dataclass(frozen=True, slots=True)
class Concern:
    """What a person must confirm before a plan starts, in sentences: the reasons, the budget, the place of the run."""

    reasons: tuple[str, ...]
    cap: str
    where: str


def concern_of(plan: Plan, forecast: Forecast, settings: Settings) -> Concern | None:
    """Return what a person must confirm before a plan starts; None if the plan is short and cheap, or finished."""
    reasons = tuple(_reasons(plan, forecast, settings)) if forecast.experiments else ()
    return Concern(reasons, _cap(plan), _where(plan, settings)) if reasons else None


def _reasons(plan: Plan, forecast: Forecast, settings: Settings) -> Iterator[str]:
    limit, hours = settings.confirm_usd, settings.confirm_hours
    paid = [name for name in plan.models() if resolve(name, settings).tier != "local"]
    escaping = [name for name in paid if name in forecast.unpriced]
    most = _most(plan, forecast)
    if escaping:
        names = ", ".join(map(plain, escaping))
        yield f"koderz can neither report nor limit the cost of {names}, because no price is known."
    elif most is None and paid:
        yield "The cost cannot be estimated yet, because no comparable experiment has finished."
    elif most is not None and most > limit:
        yield f"The benchmark may cost up to {money(most)}. koderz asks for confirmation above {money(limit)}."
    if forecast.seconds and forecast.seconds.p90 > hours * HOUR:
        took, asked = duration(forecast.seconds.p90), duration(hours * HOUR)
        yield f"The 90th percentile of the estimated time is {took}. koderz asks for confirmation above {asked}."


def _where(plan: Plan, settings: Settings) -> str:
    """Where the plan runs, and which providers it asks over a network."""
    providers = sorted({name.partition("/")[0] for name in plan.models()})
    urls = {provider: PROVIDERS[provider].urls(settings) for provider in providers}
    asked = [f"{provider} at {' and '.join(map(redact, at))}" for provider, at in urls.items() if at]
    local = "The models of the benchmark also run on this machine."
    called = f"The benchmark calls models of {', '.join(asked)}." if asked else local
    place = f"The benchmark runs on this machine, in the process of the dashboard. {called}"
    return f"{place} Closing this tab does not stop the benchmark."


def _most(plan: Plan, forecast: Forecast) -> float | None:
    """The 90th percentile of the cost in dollars, or the rest of the budget, if that is less; None: unknown."""
    estimate = forecast.cost_usd.p90 if forecast.cost_usd else None
    left = None if plan.budget.usd is None else max(0.0, plan.budget.usd - forecast.spent_usd)
    return min((usd for usd in (estimate, left) if usd is not None), default=None)


def _cap(plan: Plan) -> str:
    if plan.budget.usd is None:
        return "No budget limits the total cost of the benchmark."
    return (
        "The benchmark stops before a call that could raise its total cost, including the cost so far, above "
        f"{money(plan.budget.usd)}."
    )
