"""The planner: turns an order into a plan, with its models selected and missing baselines added."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, combinations, islice

import msgspec

from koderz_core.conditions import conditions, of_kinds, of_problems
from koderz_core.config import Settings
from koderz_core.datasets.selection import select, without_date
from koderz_core.datasets.sources import require_libraries
from koderz_core.errors import PlanError, StoreError
from koderz_core.grading.gates import ALL_TESTS
from koderz_core.grading.testsets import Outside, Split, TestPolicy, check_tests, split
from koderz_core.models.availability import Availability
from koderz_core.plan.baselines import (
    Proposal,
    baseline_for,
    describe_added,
    describe_reused,
    describe_started,
    is_stronger,
    lacking_baselines,
    named_baseline,
    sought,
    with_more,
)
from koderz_core.plan.clone import Clone, as_recorded, clone_of
from koderz_core.plan.costs import Concern, Costs, concern_of
from koderz_core.plan.evidence import Evidence
from koderz_core.plan.forms import StrategyForm, strategy_forms
from koderz_core.plan.ineffective import ineffective
from koderz_core.plan.order import MOST_SEEDS, Order, Wanted, configuration
from koderz_core.plan.presets import Preset, preset_named, presets
from koderz_core.plan.registration import registered
from koderz_core.plan.requirements import check_kinds, check_search
from koderz_core.plan.selection import ROUTER, is_open, select_models
from koderz_core.records import Configuration, Dataset, Plan, Problem
from koderz_core.records.plans import check_limits, check_size
from koderz_core.records.progress import Forecast
from koderz_core.records.trials import Measured

MOST_TRIED = 32  # plans, each of which takes some hundredths of a second
UNDATED = "Number of problems left out because they have no date: {}."

Gating = Callable[[Problem, TestPolicy], Split | Outside]
"""The divided tests of a problem, or why the gate leaves it out."""


class Planner:
    """Makes plans from the settings and the evidence. Calls no model and records nothing.

    ``dataset`` returns a dataset by name, ``gating`` the divided tests of a problem.
    """

    def __init__(
        self,
        settings: Settings,
        evidence: Evidence,
        costs: Costs,
        dataset: Callable[[str], Dataset],
        gating: Gating,
    ) -> None:
        self._settings, self._evidence, self._costs = settings, evidence, costs
        self._dataset, self._gating = dataset, gating

    def strategies(self) -> tuple[StrategyForm, ...]:
        """Return every strategy with its roles and parameters."""
        return strategy_forms()

    def presets(self, surveyed: Sequence[Availability]) -> tuple[Preset, ...]:
        """Return the presets, filled with the models that ``surveyed`` reports as ready."""
        return presets(surveyed)

    def preset(self, name: str, surveyed: Sequence[Availability]) -> Preset:
        """Return one of the ``presets`` by name. Raises UnknownNameError."""
        known = preset_named(name)
        return next(preset for preset in presets(surveyed) if preset.name == known)

    def clone(self, benchmark: str) -> Clone:
        """Return a recorded benchmark (by id) as a new order, of a shard the whole benchmark.

        Raises JournalError, and as ``clone_of``.
        """
        return clone_of(self._evidence.plan(benchmark).whole, self._settings)

    def ineffective(self, plan: Plan) -> tuple[str, ...]:
        """Describe in sentences the parts of a plan that have no effect."""
        return tuple(ineffective(plan))

    def concern(self, plan: Plan, forecast: Forecast) -> Concern | None:
        """Return the same as ``concern_of``."""
        return concern_of(plan, forecast, self._settings)

    def plan(self, order: Order, dataset: str = "humaneval") -> Plan:
        """Select the models of an order and return its plan. Raises as ``draft`` and ``select_models``."""
        return self.propose(order, dataset, baselines=False).plan

    def propose(
        self,
        order: Order,
        dataset: str = "humaneval",
        *,
        baselines: bool = True,
        named: str | None = None,
        reuse: bool = True,
    ) -> Proposal:
        """Return the plan of an order, with the ``baselines`` that the order lacks. Raises as ``plan``.

        ``named``: a model that is a baseline too, with the strategy `direct`.

        A stronger model that was already measured on all these problems, with the same prompts, sampling and budget of
        an experiment, is not measured again. The exceptions are a registered plan, whose primary comparison may name
        it, and a model that this benchmark has started to measure: the same order must always lead to the same
        benchmark. Without ``reuse``, every baseline is measured.
        """
        of = self._dataset(dataset)
        if is_open(order):
            own = [problem.id for problem in select(of, order.problems, order.seed)]
            order = select_models(order, own, self._settings, self._evidence)
        extra = named_baseline(order, named, self._settings) if named else ()
        lacking = [*extra, *(self.lacking(with_more(order, extra)) if baselines else ())]
        plan = self._draft(with_more(order, lacking), of)
        added = plan.configurations[len(plan.configurations) - len(lacking) :]
        offered = list(zip(lacking, added, strict=True))
        asked = {baseline.id for baseline in added[: len(extra)]}
        reuse = reuse and not order.registration
        earlier = {baseline.id: self._measured(plan, baseline) for baseline in added if reuse}
        measured: Mapping[str, Measured] = {name: found for name, found in earlier.items() if found}
        if measured:
            plan, measured = self._reusing(order, offered, measured, of)
            added = tuple(baseline for baseline in added if baseline.id not in measured)
        sentences = [UNDATED.format(undated)] if (undated := without_date(of, order.problems)) else []
        sentences += [describe_added(plan, added, self._costs.price(plan, added, of))] if added else []
        sentences += [*self._started_without(order, offered, plan, of)] if reuse else []
        reused = tuple(measured.values())
        sentences += [describe_reused(plan, earlier) for earlier in reused]
        return Proposal(plan, added, reused, tuple(sentences), any(baseline.id not in asked for baseline in added))

    def lacking(self, order: Order) -> tuple[Wanted, ...]:
        """Return the baselines that an order lacks. Raises as ``propose``."""
        return lacking_baselines(order, self._settings)

    def _draft(self, order: Order, dataset: Dataset) -> Plan:
        plan = draft(order, dataset, self._settings, self._gating)
        public = {problem.id: problem.public for problem in dataset.problems}
        for made in plan.configurations:
            if made.strategy == ROUTER:
                self._evidence.check_selector(made, [public[name] for name in plan.problems])
        return plan

    def _reusing(
        self,
        order: Order,
        baselines: Collection[tuple[Wanted, Configuration]],
        measured: Mapping[str, Measured],
        dataset: Dataset,
    ) -> tuple[Plan, Mapping[str, Measured]]:
        """The plan that reuses these measurements, and the reused ones.

        They are only a part if the order has started a benchmark that measures the other baselines: that is the plan.
        """
        parts = chain.from_iterable(combinations(measured, number) for number in range(1, len(measured)))
        plans = ((names, self._without(order, baselines, names, dataset)) for names in islice(parts, MOST_TRIED))
        reused = next((names for names, plan in plans if self._is_started(plan)), tuple(measured))
        return self._without(order, baselines, reused, dataset), {name: measured[name] for name in reused}

    def _started_without(
        self,
        order: Order,
        baselines: Collection[tuple[Wanted, Configuration]],
        plan: Plan,
        dataset: Dataset,
    ) -> Iterator[str]:
        """That an unnamed order was started without some stronger baselines of its ``plan``, in a sentence.

        This happens if these baselines were measured then, and their measurements have been deleted since.
        """
        planned = {made.id for made in plan.configurations}
        left_out = {made.id for _, made in baselines} - planned
        stronger = [made.id for _, made in baselines if made.id in planned and self._is_stronger(made)]
        if order.name or not stronger or self._is_started(plan):
            return
        parts = chain.from_iterable(combinations(stronger, number) for number in range(1, len(stronger) + 1))
        plans = (self._without(order, baselines, left_out.union(names), dataset) for names in islice(parts, MOST_TRIED))
        if started := next(filter(self._is_started, plans), None):
            yield describe_started(started)

    def _without(
        self,
        order: Order,
        baselines: Collection[tuple[Wanted, Configuration]],
        names: Collection[str],
        dataset: Dataset,
    ) -> Plan:
        """The plan of an order with these baselines except those with the ids ``names``."""
        return self._draft(with_more(order, [more for more, made in baselines if made.id not in names]), dataset)

    def _is_stronger(self, baseline: Configuration) -> bool:
        return is_stronger(baseline.models["coder"][0], self._settings)

    def _is_started(self, plan: Plan) -> bool:
        """Whether this benchmark has been started with all these configurations; no if the store cannot be read."""
        try:
            begun = {row.configuration for row in self._evidence.summaries(plan.id)}
        except StoreError:
            return False
        return begun.issuperset(made.id for made in plan.configurations)

    def _measured(self, plan: Plan, baseline: Configuration) -> Measured | None:
        """The earlier measurement of a baseline; None if there is none, or if the store cannot be read."""
        if not self._is_stronger(baseline):
            return None
        try:
            if any(row.configuration == baseline.id for row in self._evidence.summaries(plan.id)):
                return None
            return baseline_for(self._evidence.baselines(), sought(plan, baseline, self._settings))
        except StoreError:
            return None


def draft(order: Order, dataset: Dataset, settings: Settings, gating: Gating = split) -> Plan:
    """Return the plan of an order. Raises UsageError (unknown names, contradictions), and as ``gating``.

    If a gate cannot divide the tests of a problem, the plan omits this problem for all configurations.
    """
    if order.repeats < 1:
        raise PlanError(f"The number of repeats must be at least 1, not {order.repeats!r}.")
    if not (isinstance(order.seed, int) and 0 <= order.seed < MOST_SEEDS):
        raise PlanError(f"The seed must be a whole number from 0 to 2^63 - 1, not {order.seed!r}.")
    check_limits(order.budget, cached=settings.cache)
    configurations = _configurations(order, settings)
    problems = select(dataset, order.problems, order.seed)
    check_size(len(problems), len(configurations), order.repeats)
    check_kinds(configurations, problems)
    require_libraries(problems)
    for problem in problems:
        check_tests(problem)
    outside = _outside(problems, configurations, order.seed, gating)
    problems = tuple(problem for problem in problems if problem.id not in outside)
    kinds = of_kinds(problem.public.kind for problem in problems)
    plan = Plan(
        dataset=dataset.origin,
        problems=tuple(problem.id for problem in problems),
        configurations=configurations,
        seed=order.seed,
        repeats=order.repeats,
        name=order.name,
        conditions=conditions(configurations, settings) | of_problems(problems, settings) | kinds,
        budget=order.budget,
        outside=outside,
        selections=order.selections,
    )
    try:
        plan = msgspec.convert(msgspec.to_builtins(plan), Plan)  # refuse values that a journal cannot restore
    except msgspec.ValidationError as error:
        raise PlanError(f"The benchmark cannot be planned: {error}.") from error
    return as_recorded(registered(plan, order.registration, settings), settings)


def _configurations(order: Order, settings: Settings) -> tuple[Configuration, ...]:
    configurations = tuple(configuration(wanted, settings) for wanted in order.configurations)
    if not configurations:
        raise PlanError("Name at least one strategy.")
    if len({made.id for made in configurations}) < len(configurations):
        raise PlanError("Two configurations are identical. Remove one of them, or change its models or parameters.")
    check_search(configurations, allowed=order.allow_search)
    return configurations


def _outside(
    problems: Sequence[Problem], configurations: Sequence[Configuration], seed: int, gating: Gating
) -> dict[str, str]:
    """The problems that a gate leaves out, with the reason. Raises PlanError if these are all problems.

    All base tests are a gate of every problem, except of variants: these are checked first.
    """
    certain = {ALL_TESTS} if not any(problem.variant for problem in problems) else set()
    policies = [TestPolicy(gate, seed) for gate in sorted({made.gate for made in configurations} - certain)]
    reasons: dict[str, str] = {}
    for problem in problems:
        outside = (result for policy in policies if isinstance(result := gating(problem, policy), Outside))
        if first := next(outside, None):
            reasons[problem.id] = first.reason
    if reasons and len(reasons) == len(problems):
        gates, (name, reason) = ", ".join(policy.gate for policy in policies), next(iter(reasons.items()))
        raise PlanError(
            f"koderz cannot select gate tests for any of the chosen problems (gate={gates}). For example, {name}: "
            f"{reason}. Choose other problems."
        )
    return reasons
