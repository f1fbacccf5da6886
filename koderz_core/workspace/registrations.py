"""Registered benchmarks among the results: their plans as registered and as changed, and their primary comparison."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from koderz_core.analysis.registration import Registered, registered
from koderz_core.analysis.sequential import Rule
from koderz_core.events import BenchmarkDecided
from koderz_core.plan.costs import Costs
from koderz_core.records import Outcome, Plan
from koderz_core.records.progress import SummaryRow
from koderz_core.records.registrations import RecordedPlan, primary_pair
from koderz_core.report.registration import changes
from koderz_core.store.results import Results

if TYPE_CHECKING:
    from koderz_core.analysis.comparison import Comparison
    from koderz_core.analysis.pairs import Key

__all__ = ["Registered", "about_looks", "registered_among", "stopping_rule", "untested_pairs"]

_PEEKING = (
    "If you look at p values while results arrive, and then decide whether to stop or extend the benchmark, false "
    "findings become more frequent. In a simulation of two equal configurations, this practice raised the share of "
    "significant McNemar's tests from 3.5 % to 9.6 %. If a benchmark is registered with --stopping "
    "sequential, you may look at its results as often as you like."
)


def registered_among(results: Results, costs: Costs, benchmarks: Iterable[str]) -> tuple[Registered, ...]:
    """Return the registered ones of these benchmarks (by id), in their order. Raises StoreError."""
    names = tuple(dict.fromkeys(benchmarks))
    plans: defaultdict[str, list[RecordedPlan]] = defaultdict(list)
    for recorded in results.recorded_plans(names):
        plans[recorded.benchmark].append(recorded)
    trials = results.trials(list(plans), tries=False) if plans else []
    decisions = results.decisions(tuple(plans)) if plans else {}
    return tuple(
        replace(
            registered(_changed(plans[name]), [it for it in trials if it.benchmark == name], decided=name in decisions),
            left=costs.forecast(plans[name][-1].plan) if name in decisions else None,
        )
        for name in names
        if name in plans
    )


def untested_pairs(results: Results, rows: Iterable[SummaryRow]) -> tuple[tuple[Key, Key], ...]:
    """Return the primary pairs of sequential benchmarks among the rows, the baseline of each second. Raises StoreError.

    The results of such a pair decide when its benchmark stops, so tests and intervals for a fixed number of problems
    are not valid for the pair.
    """
    keys = dict.fromkeys((row.benchmark, row.configuration) for row in rows)
    plans: dict[str, Plan] = {}
    for recorded in results.recorded_plans(tuple(dict.fromkeys(benchmark for benchmark, _ in keys))):
        plans.setdefault(recorded.benchmark, recorded.plan)  # the first plan is the registered one
    pairs = [(name, *primary_pair(plan, plan.sequential)) for name, plan in plans.items() if plan.sequential]
    return tuple(((name, a), (name, b)) for name, a, b in pairs if {(name, a), (name, b)} <= keys.keys())


def stopping_rule(plan: Plan) -> Callable[[Mapping[str, Outcome]], BenchmarkDecided | None] | None:
    """Return the rule that decides a sequential benchmark; None for a plan that runs to its end."""
    if not plan.sequential:
        return None
    rule = Rule(plan)

    def decided(outcomes: Mapping[str, Outcome]) -> BenchmarkDecided | None:
        found = rule.decision(outcomes)
        return None if found is None else BenchmarkDecided(*found)

    return decided


def about_looks(results: Results, comparison: Comparison) -> Iterator[str]:
    """Warn of p values that a reader may have looked at before. Raises StoreError.

    Those of an unfinished benchmark may be looked at again, and those before an extension may have led to it.
    """
    sequential = {found.benchmark for found in comparison.registered if found.registration.stopping == "sequential"}
    tested = [row for row in comparison.configurations if row.key[0] not in sequential] if comparison.pairs else []
    if any(row.planned > row.n + row.errors for row in tested):
        yield f"The p values of this comparison come from an unfinished benchmark. {_PEEKING}"
    elif names := results.extended(tuple(dict.fromkeys(row.key[0] for row in tested))):
        yield f"Benchmarks that were extended after they had started: {', '.join(names)}. {_PEEKING}"


def _changed(plans: list[RecordedPlan]) -> list[RecordedPlan]:
    """The first plan, and those that change it: a resumed benchmark may record the same plan again."""
    return plans[:1] + [after for before, after in pairwise(plans) if any(changes(before.plan, after.plan))]
