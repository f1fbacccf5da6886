"""Prices, budgets and forecasts of plans, and changes of the limits of a running benchmark.

A limit can be changed by any process, and a resumed benchmark keeps it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from koderz_core.analysis.timing import forecast
from koderz_core.config import Settings
from koderz_core.errors import StoreError
from koderz_core.models.worst_case import WorstCases, unpriced
from koderz_core.prompts import coding
from koderz_core.records import Configuration, Plan, PublicProblem, Request, Sampling
from koderz_core.records.forecasts import Forecast
from koderz_core.runner.budget import check_limits, check_priced
from koderz_core.runner.header import last_concurrency, recorded_plan, under_newest_budget
from koderz_core.runner.running import Running, default_concurrency
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
        rows = self._results.experiments(plan.id)
        done = {row.id for row in rows if row.outcome in ended}
        number = Counter(one.configuration for one in plan.experiments() if one.id not in done)
        left = [(configuration, number[configuration.id]) for configuration in chosen]
        past = self._results.past({configuration.strategy for configuration in chosen})
        told = forecast(left, past, concurrency or default_concurrency(plan))
        spent = sum(row.cost_usd or 0.0 for row in rows)
        return replace(told, unpriced=unpriced(plan.models(), self._settings), spent_usd=spent)

    def at_most(self, asked: Sequence[Configuration], problems: Iterable[PublicProblem]) -> float | None:
        """Dollars that these direct configurations cannot exceed on these problems; None if a price is not known."""
        cases = WorstCases(self._settings)
        chosen = list(problems)
        costs = [cases.of(one.models["coder"][0], _only_request(one, problem)) for one in asked for problem in chosen]
        known = [usd for usd in costs if usd is not None]
        return sum(known) if len(known) == len(costs) else None


def _only_request(one: Configuration, problem: PublicProblem) -> Request:
    """What a direct configuration asks, without a spec."""
    brief = coding.Brief(problem, chain_of_thought=bool(one.parameters["chain_of_thought"]))
    longest = one.parameters["max_tokens"]
    return Request(coding.first_attempt(brief), Sampling(max_tokens=longest if isinstance(longest, int) else None), 0)


class Allowing:
    """Of the benchmarks whose journals are in one folder."""

    def __init__(self, journals: Path, running: Running, check: Callable[[Plan], None]) -> None:
        """``check`` raises PlanError for a plan whose budget cannot be held."""
        self._journals = journals
        self._running = running
        self._check = check

    def change(self, benchmark: str, max_cost_usd: float | None = None, concurrency: int | None = None) -> int:
        """Let a benchmark that is being run cost that much in all, and have so many experiments at once.

        None leaves that as it is. Gives and raises as ``Running.control``, and PlanError for a budget that cannot be
        held. What has stopped for its budget already goes on only with a resumption.
        """
        if max_cost_usd is not None:
            plan = recorded_plan(self._journals / f"{benchmark}.jsonl")
            self._check(replace(plan, budget=replace(plan.budget, usd=max_cost_usd)))
        return self._running.change(benchmark, max_cost_usd, concurrency)

    def concurrency(self, benchmark: str) -> int | None:
        """How many experiments it was last allowed to run at once, None if that is not known. Raises JournalError."""
        return last_concurrency(self._journals / f"{benchmark}.jsonl")

    def kept(self, plan: Plan) -> Plan:
        """The plan under the budget that its benchmark was given while it ran, unless it asks for a new one."""
        return under_newest_budget(plan, self._journals / f"{plan.id}.jsonl")
