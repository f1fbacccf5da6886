"""What a benchmark that is being run may still take: its budget and its concurrency."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from koderz_core.records import Plan
from koderz_core.runner.background import Running
from koderz_core.runner.header import last_concurrency, recorded_plan, under_newest_budget


class Allowances:
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
