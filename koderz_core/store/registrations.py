"""The plans of registered benchmarks: as registered, and as changed by later headers and budgets."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import msgspec

from koderz_core.records import Plan
from koderz_core.records.registrations import RecordedPlan
from koderz_core.store.index import Index, mappings


def recorded_plans(index: Index, benchmarks: Collection[str]) -> list[RecordedPlan]:
    """Every plan of the registered ones of these benchmarks (by id), in the order of their journals.

    A budget that was set while the benchmark ran makes another plan.
    """
    return [plan for benchmark in benchmarks for plan in _of(index, benchmark)]


def _of(index: Index, benchmark: str) -> Iterator[RecordedPlan]:
    plan: Plan | None = None
    for at, text, usd in index.con.execute(_PLANS, {"benchmark": benchmark}).fetchall():
        if text is not None:
            plan = msgspec.json.decode(text, type=Plan)
        elif plan is not None:
            plan = replace(plan, budget=replace(plan.budget, usd=usd))
        if plan is not None:
            yield RecordedPlan(benchmark, at, plan)


def decisions(index: Index, benchmarks: Collection[str]) -> dict[str, int]:
    """Of those of these benchmarks (by id) that are decided, how many problems of the drawn order decided them."""
    rows = mappings(index.con, _DECISIONS, {"benchmarks": list(benchmarks)})
    return {str(row["id"]): int(str(row["decided_by"])) for row in rows}


_DECISIONS = "select id, decided_by from benchmarks where list_contains($benchmarks, id) and decision is not null"


def extended(index: Index, benchmarks: Collection[str]) -> list[str]:
    """Those of these benchmarks (by id) whose experiments were not all planned by the first header."""
    rows = mappings(index.con, _EXTENDED, {"benchmarks": list(benchmarks)})
    return [str(row["benchmark"]) for row in rows]


_EXTENDED = """
select benchmark from recorded_plans where list_contains($benchmarks, benchmark)
group by benchmark having count(distinct experiments) > 1 order by benchmark
"""
_PLANS = """
select "at", plan, usd from (
    select "at", position, plan::varchar as plan, null as usd from recorded_plans
    where benchmark = $benchmark and plan is not null
    union all
    select "at", position, null, usd from allowances
    where benchmark = $benchmark and changed and usd is distinct from usd_before
) order by position
"""
