"""The baselines of a supervised benchmark: its stronger models and its coder with the strategy `direct`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import get_args

from koderz_core.conditions import HELD_OUT, TIME_LIMIT, conditions, of_kinds
from koderz_core.config import Settings
from koderz_core.models.catalogue import resolve
from koderz_core.plan.command_line import SUPERVISED
from koderz_core.plan.order import Order, Wanted, configuration
from koderz_core.records import Configuration, Kind, Plan, Scalar
from koderz_core.records.plans import CACHE, COST_LIMIT
from koderz_core.records.trials import Measured, Sought
from koderz_core.report.formats import money, plain
from koderz_core.strategies.labels import labels
from koderz_core.times import day

DIRECT = "direct"
STRONGER = frozenset({"frontier", "small_frontier"})
_SHARED = ("chain_of_thought", "max_tokens")
_IRRELEVANT = frozenset({"spec prompt", "review prompt", CACHE})


@dataclass(frozen=True, slots=True)
class Proposal:
    """A plan with the baselines ``added`` to it. ``reused``: earlier measurements that replace further baselines.

    ``sentences``: a description of both. ``skippable``: whether some of ``added`` were not asked for.
    """

    plan: Plan
    added: tuple[Configuration, ...] = ()
    reused: tuple[Measured, ...] = ()
    sentences: tuple[str, ...] = ()
    skippable: bool = False


def lacking_baselines(order: Order, settings: Settings) -> tuple[Wanted, ...]:
    """Return the direct configurations that an order lacks: of its stronger spec and reviewer models and its coders.

    Their answers have the same token limit as those of the compared configuration. Models that the order already asks
    directly, with any parameters, are omitted. Raises as ``draft``.
    """
    planned = [configuration(wanted, settings) for wanted in order.configurations]
    direct = [made for made in planned if made.strategy == DIRECT and not made.parameters["spec"]]
    known = {made.models["coder"][0] for made in direct}
    baselines: dict[str, Wanted] = {}
    for supervised in (made for made in planned if made.strategy == SUPERVISED):
        shared: dict[str, Scalar] = {name: supervised.parameters[name] for name in _SHARED}
        others = chain.from_iterable(members for role, members in supervised.models.items() if role != "coder")
        stronger = [model for model in others if is_stronger(model, settings)]
        for model in (*stronger, supervised.models["coder"][0]):
            if model not in known:
                baselines.setdefault(model, Wanted(DIRECT, {"coder": model}, shared))
    return tuple(baselines.values())


def named_baseline(order: Order, model: str, settings: Settings) -> tuple[Wanted, ...]:
    """Return the configuration that asks a model directly; empty if the order already has it. Raises as ``draft``."""
    wanted = Wanted(DIRECT, {"coder": model})
    planned = {configuration(ordered, settings).id for ordered in order.configurations}
    return () if configuration(wanted, settings).id in planned else (wanted,)


def sought(plan: Plan, direct: Configuration, settings: Settings) -> Sought:
    """Return the properties that a measurement must have to replace a direct configuration of a plan."""
    now = {name: value for name, value in conditions((direct,), settings).items() if name not in _IRRELEVANT}
    now |= {name: plan.conditions.get(name) for name in (HELD_OUT, TIME_LIMIT, *of_kinds(get_args(Kind)))}
    now[COST_LIMIT] = plan.budget.per_experiment_usd
    return Sought(direct, plan.dataset.sha256, now, plan.problems, plan.repeats)


def is_stronger(model: str, settings: Settings) -> bool:
    """Whether a model belongs to a tier that supervises models of other tiers."""
    return resolve(model, settings).tier in STRONGER


def baseline_for(measurements: Iterable[Measured], sought: Sought) -> Measured | None:
    """Return the first measurement with the required properties and with results on all problems."""
    return next((measurement for measurement in measurements if _matches(measurement, sought)), None)


def _matches(measured: Measured, sought: Sought) -> bool:
    wanted = sought.configuration
    agrees = (
        (measured.model,) == wanted.models["coder"]
        and measured.dataset_sha256 == sought.dataset_sha256
        and dict(measured.parameters) == dict(wanted.parameters)
        and all(measured.conditions.get(name) == value for name, value in sought.conditions.items())
    )
    times = Counter(measured.problems)
    return agrees and all(times[problem] >= sought.repeats for problem in sought.problems)


def with_more(order: Order, more: Iterable[Wanted]) -> Order:
    """Return the order with further configurations at the end."""
    return replace(order, configurations=[*order.configurations, *more])


def describe_added(plan: Plan, added: Sequence[Configuration], price: str) -> str:
    """Describe the baselines that a plan measures too, with their price, in a sentence."""
    names = labels(plan.configurations)
    listed = ", ".join(plain(names[baseline.id]) for baseline in added)
    return f"Baselines that koderz adds for the comparison: {listed}. Cost of the baselines: {price}."


def describe_reused(plan: Plan, baseline: Measured) -> str:
    """Describe a baseline that was measured earlier, with its result on the problems of a plan, in a sentence."""
    n, solved, usd = baseline.of(frozenset(plan.problems))
    return (
        f"The baseline {plain(baseline.label)} was already measured in {baseline.benchmark} on {day(baseline.at)}: it "
        f"solved {solved} of {n} experiments on the problems of this plan, at {money(usd)} per experiment."
    )


def describe_started(plan: Plan) -> str:
    """Describe the benchmark that an order was started as when some of its baselines were measured elsewhere."""
    return (
        f"The benchmark {plan.id} has the same plan without some of these baselines. The plan with these baselines is "
        f"another benchmark, which repeats all calls. To resume {plan.id} instead: koderz resume {plan.id}"
    )
