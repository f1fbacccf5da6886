"""What plans may cost and will cost: their prices, their budgets and their forecasts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from koderz_core.analysis.forecast import forecast
from koderz_core.config import Settings
from koderz_core.errors import StoreError
from koderz_core.models.worst_case import unpriced
from koderz_core.records import Plan
from koderz_core.records.forecasts import Forecast
from koderz_core.runner.budget import check_limits, check_priced
from koderz_core.runner.running import default_concurrency
from koderz_core.store.results import Results

RESULTS = frozenset({"solved", "unsolved"})  # what is never done again


class Costs:
    """Answers from the settings and from what has ended so far."""

    def __init__(self, settings: Settings, results: Results) -> None:
        self._settings = settings
        self._results = results

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

    def forecast(self, plan: Plan, concurrency: int | None = None, *, retry_errors: bool = False) -> Forecast:
        """What the experiments of a plan that have no result yet will cost and take. Raises StoreError.

        ``retry_errors``: those that ended as error too.
        """
        ended = RESULTS if retry_errors else {*RESULTS, "error"}
        rows = self._results.experiments(plan.id)
        done = {row.id for row in rows if row.outcome in ended}
        number = Counter(one.configuration for one in plan.experiments() if one.id not in done)
        left = [(configuration, number[configuration.id]) for configuration in plan.configurations]
        past = self._results.past({configuration.strategy for configuration in plan.configurations})
        told = forecast(left, past, concurrency or default_concurrency(plan))
        spent = sum(row.cost_usd or 0.0 for row in rows)
        return replace(told, unpriced=unpriced(plan.models(), self._settings), spent_usd=spent)
