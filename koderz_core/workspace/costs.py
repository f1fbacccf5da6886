"""What plans may cost and will cost: their prices, their budgets and their forecasts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from koderz_core.analysis.forecast import forecast
from koderz_core.config import Settings
from koderz_core.models.worst_case import unpriced
from koderz_core.records import Plan
from koderz_core.records.forecasts import Forecast
from koderz_core.runner.budget import check_limits, check_priced
from koderz_core.runner.running import default_concurrency
from koderz_core.store.results import Results

ENDED = frozenset({"solved", "unsolved", "error"})  # what is not done again unless somebody asks for it


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

    def forecast(self, plan: Plan, concurrency: int | None = None) -> Forecast:
        """What the experiments of a plan that have no result yet will cost and take. Raises StoreError."""
        ended = {row.id for row in self._results.experiments(plan.id) if row.outcome in ENDED}
        number = Counter(one.configuration for one in plan.experiments() if one.id not in ended)
        left = [(configuration, number[configuration.id]) for configuration in plan.configurations]
        past = self._results.past({configuration.strategy for configuration in plan.configurations})
        told = forecast(left, past, concurrency or default_concurrency(plan))
        return replace(told, unpriced=unpriced(plan.models(), self._settings))
