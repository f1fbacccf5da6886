"""What a supervised benchmark has to be held against: its stronger models and its coder, each asked directly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from koderz_core.conditions import HELD_OUT, conditions
from koderz_core.config import Settings
from koderz_core.models.catalogue import resolve
from koderz_core.plan.command_line import SUPERVISED
from koderz_core.plan.order import Order, Wanted, configuration
from koderz_core.records import Configuration, Plan, Scalar
from koderz_core.records.trials import Measured, Sought
from koderz_core.report.formats import money, plain
from koderz_core.strategies.labels import labels
from koderz_core.times import day

DIRECT = "direct"
STRONGER = frozenset({"frontier", "small_frontier"})
_SHARED = ("chain_of_thought", "max_tokens")
_IRRELEVANT = frozenset({"spec prompt", "review prompt"})


@dataclass(frozen=True, slots=True)
class Offer:
    """A plan with the baselines ``added`` to it, and those ``reused``: measured before and not asked again.

    ``told``: both in sentences.
    """

    plan: Plan
    added: tuple[Configuration, ...] = ()
    reused: tuple[Measured, ...] = ()
    told: tuple[str, ...] = ()


def lacking_baselines(order: Order, settings: Settings) -> tuple[Wanted, ...]:
    """The direct configurations that an order lacks: of the stronger models that supervise in it, and of its coders.

    They may write as much as the configuration that they are held against. A model that the order asks directly
    already, however it does, is left out. Raises as ``draft``.
    """
    asked = [configuration(wanted, settings) for wanted in order.configurations]
    known = {one.models["coder"][0] for one in asked if one.strategy == DIRECT and not one.parameters["spec"]}
    found: dict[str, Wanted] = {}
    for one in (one for one in asked if one.strategy == SUPERVISED):
        shared: dict[str, Scalar] = {name: one.parameters[name] for name in _SHARED}
        for model in _held_against(one, settings):
            if model not in known:
                found.setdefault(model, Wanted(DIRECT, {"coder": model}, shared))
    return tuple(found.values())


def sought(plan: Plan, one: Configuration, settings: Settings) -> Sought:
    """What a measurement must be to stand for a direct configuration of a plan."""
    now = {name: value for name, value in conditions((one,), settings).items() if name not in _IRRELEVANT}
    now[HELD_OUT] = plan.conditions.get(HELD_OUT)
    return Sought(one, plan.dataset.sha256, now, plan.problems, plan.repeats)


def is_stronger(model: str, settings: Settings) -> bool:
    """Whether a model is of a tier that supervises others."""
    return resolve(model, settings).tier in STRONGER


def supervisors(configurations: Sequence[Configuration]) -> Iterator[str]:
    """The models of the roles beside the coder, in order; those that are never asked are named too."""
    return chain.from_iterable(
        members for one in configurations for role, members in one.models.items() if role != "coder"
    )


def _held_against(one: Configuration, settings: Settings) -> list[str]:
    return [*(model for model in supervisors((one,)) if is_stronger(model, settings)), one.models["coder"][0]]


def baseline_for(found: Iterable[Measured], sought: Sought) -> Measured | None:
    """The first of these that is what is sought: same model, dataset, prompts and sampling, and a result of all."""
    return next((measurement for measurement in found if _same(measurement, sought)), None)


def _same(one: Measured, sought: Sought) -> bool:
    wanted = sought.configuration
    agreed = (
        (one.model,) == wanted.models["coder"]
        and one.dataset_sha256 == sought.dataset_sha256
        and dict(one.parameters) == dict(wanted.parameters)
        and all(one.conditions.get(name) == value for name, value in sought.conditions.items())
    )
    times = Counter(one.problems)
    return agreed and all(times[problem] >= sought.repeats for problem in sought.problems)


def with_more(order: Order, more: Iterable[Wanted]) -> Order:
    """The order with more configurations, behind its own."""
    return replace(order, configurations=[*order.configurations, *more])


def describe_added(plan: Plan, added: Sequence[Configuration], price: str) -> str:
    """The baselines that a plan measures too, in a sentence with their price."""
    named = labels(plan.configurations)
    listed = ", ".join(plain(named[asked.id]) for asked in added)
    return f"Baselines, to know what supervision adds: {listed}, for {price}."


def describe_reused(plan: Plan, found: Measured) -> str:
    """A baseline that was measured before, in a sentence with what came of it on the problems of a plan."""
    n, solved, usd = found.of(frozenset(plan.problems))
    return (
        f"Not asked again: {plain(found.label)} solved {solved} of {n} on these problems for {money(usd)} each, "
        f"measured in {found.benchmark} on {day(found.at)}."
    )
