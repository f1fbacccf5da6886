"""Prices, budgets and forecasts of plans, and changes of the limits of a running benchmark.

A limit can be changed by any process, and a resumed benchmark keeps it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from koderz_core.analysis.timing import forecast
from koderz_core.config import Settings
from koderz_core.errors import PlanError, StoreError
from koderz_core.models.worst_case import WorstCases, unpriced
from koderz_core.plan.evidence import Evidence
from koderz_core.prompts import coding
from koderz_core.records import Budget, Configuration, Dataset, Plan, PublicProblem, Request, Sampling
from koderz_core.records.forecasts import Forecast
from koderz_core.records.plans import check_limits, default_concurrency
from koderz_core.report.formats import money
from koderz_core.sums import known_sum

RESULTS = frozenset({"solved", "unsolved"})  # what is never done again


class Costs:
    """Answers from the settings and from what has ended so far."""

    def __init__(self, settings: Settings, evidence: Evidence) -> None:
        self._settings = settings
        self._evidence = evidence

    def check(self, plan: Plan) -> None:
        """Raise PlanError for a budget that is no amount of money, or that models without a price would escape."""
        check_limits(plan.budget)
        if plan.budget.limits:
            check_priced(plan.budget, unpriced(plan.models(), self._settings))

    def foretold(self, plan: Plan, concurrency: int | None = None, *, retry_errors: bool = False) -> Forecast | None:
        """As ``forecast``; None if the store cannot be asked: a benchmark needs only its journal."""
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
        """What the experiments of a plan that have no result yet will cost and take. Raises StoreError.

        ``of``: only those of these of its configurations. ``retry_errors``: those that ended as error too.
        """
        chosen = plan.configurations if of is None else of
        ended = RESULTS if retry_errors else {*RESULTS, "error"}
        rows = self._evidence.experiments(plan.id)
        done = {row.id for row in rows if row.outcome in ended}
        number = Counter(experiment.configuration for experiment in plan.experiments() if experiment.id not in done)
        left = [(configuration, number[configuration.id]) for configuration in chosen]
        past = self._evidence.past({configuration.strategy for configuration in chosen})
        told = forecast(left, past, concurrency or default_concurrency(plan))
        spent = sum(row.cost_usd or 0.0 for row in rows)
        return replace(told, unpriced=unpriced(plan.models(), self._settings), spent_usd=spent)

    def at_most(self, asked: Sequence[Configuration], problems: Iterable[PublicProblem]) -> float | None:
        """Dollars that these direct configurations cannot exceed on these problems; None if a price is not known."""
        cases = WorstCases(self._settings)
        chosen = list(problems)
        return known_sum(
            cases.of(configuration.models["coder"][0], _only_request(configuration, problem))
            for configuration in asked
            for problem in chosen
        )

    def price(self, plan: Plan, asked: Sequence[Configuration], dataset: Dataset) -> str:
        """What these direct configurations of a plan will cost, in words: as past ones; else what no answer exceeds.

        ``dataset``: the one that the plan is of.
        """
        with suppress(StoreError):
            expected = self.forecast(plan, of=asked)
            if not expected.experiments:
                return "nothing more, as all of it is measured"
            if expected.cost_usd is not None:
                return f"about {money(expected.cost_usd.p50)}, in 9 of 10 cases at most {money(expected.cost_usd.p90)}"
        wanted = set(plan.problems)
        problems = [problem.public for problem in dataset.problems if problem.id in wanted]
        usd = self.at_most(asked, problems)
        return "a price that is not known" if usd is None else f"at most {money(usd * plan.repeats)}"


def _only_request(one: Configuration, problem: PublicProblem) -> Request:
    """What a direct configuration asks, without a spec."""
    brief = coding.Brief(problem, chain_of_thought=bool(one.parameters["chain_of_thought"]))
    longest = one.parameters["max_tokens"]
    return Request(coding.first_attempt(brief), Sampling(max_tokens=longest if isinstance(longest, int) else None), 0)


def check_priced(budget: Budget, unpriced: Sequence[str]) -> None:
    """Raise PlanError for a budget that models without a known price would escape, if that is not allowed."""
    if unpriced and budget.limits and not budget.allow_unpriced:
        raise PlanError(
            f"No price is known of {', '.join(unpriced)}, so no budget can hold what is asked of it. Leave it out, "
            f"leave the budget out, or take that as costing nothing: --allow-unpriced."
        )
