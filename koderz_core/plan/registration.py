"""Registration of a benchmark: its primary comparison, margin and stopping rule, named by a person and resolved."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random

from koderz_core.analysis.configurations import DIRECT, letter
from koderz_core.analysis.noninferiority import MARGIN
from koderz_core.config import Settings
from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.models.catalogue import resolve
from koderz_core.records import Configuration, Plan, Tier
from koderz_core.records.registrations import Registration, StoppingRule
from koderz_core.strategies.labels import labels

_BETWEEN = re.compile(r",(?![^()]*\))")
"""A comma outside parentheses: in a label, commas separate the parameters in parentheses."""
_RANK: Mapping[Tier, int] = {"local": 0, "small_frontier": 1, "frontier": 2}


@dataclass(frozen=True, slots=True)
class RegistrationOrder:
    """A registration as a person describes it.

    ``primary``: the configuration that the claim is about and its baseline, each by its letter, label or id; None: the
    usual pair. The rest as in ``Registration``.
    """

    primary: tuple[str, str] | None = None
    margin: float = MARGIN
    stopping: StoppingRule = "fixed"
    exclusions: str = ""


def registered(plan: Plan, order: RegistrationOrder | None, settings: Settings) -> Plan:
    """Return the plan with its registration, if it has one. Raises PlanError, UnknownNameError.

    The problems of a sequential benchmark are in an order that the seed of the plan draws: its first problems are a
    random sample of all.
    """
    if order is None:
        return plan
    if not 0 < order.margin < 1:
        raise PlanError(f"The margin must be above 0 and below 100 percentage points, not {100 * order.margin:g}.")
    a, b = _usual(plan, settings) if order.primary is None else (_place(name, plan) for name in order.primary)
    if a == b:
        raise PlanError("The primary comparison needs two different configurations, for example --primary A,B.")
    registration = Registration(a, b, order.margin, order.stopping, order.exclusions.strip())
    problems = plan.problems
    if order.stopping == "sequential":
        problems = tuple(Random(plan.seed).sample(sorted(problems), len(problems)))  # noqa: S311 (not a secret)
    return replace(plan, problems=problems, registration=registration)


def order_of_registration(plan: Plan) -> RegistrationOrder | None:
    """Return the order that leads to the registration of a plan; None without one."""
    found = plan.registration
    if not found:
        return None
    return RegistrationOrder((letter(found.a), letter(found.b)), found.margin, found.stopping, found.exclusions)


def pair_named(text: str) -> tuple[str, str]:
    """Return the two names in a text such as ``A,B``, the second being the baseline. Raises PlanError."""
    first, second = pair_typed(text)
    if not (first and second) or _BETWEEN.search(second):
        raise PlanError(
            f"{text!r} does not name two configurations. Write the configuration and its baseline with a comma between "
            "them, for example A,B."
        )
    return first, second


def pair_typed(text: str) -> tuple[str, str]:
    """Return the parts of a text such as ``A,B`` before and after its first comma outside parentheses.

    For a text that a person is still typing: a part may be empty or name no configuration.
    """
    first, *rest = _BETWEEN.split(text, maxsplit=1)
    return first.strip(), "".join(rest).strip()


def _usual(plan: Plan, settings: Settings) -> tuple[int, int]:
    """The two configurations of a plan. The baseline is the one with strategy direct and the strongest model."""
    if len(plan.configurations) != 2:
        raise PlanError(
            "Name the two configurations of the primary comparison with --primary. The second one is the baseline. "
            f"Configurations of this plan: {', '.join(_choices(plan))}."
        )

    def strength(place: int) -> tuple[bool, int, int]:
        configuration = plan.configurations[place]
        return configuration.strategy == DIRECT, _rank(configuration, settings), place

    base = max(range(2), key=strength)
    return 1 - base, base


def _rank(configuration: Configuration, settings: Settings) -> int:
    models = [model for members in configuration.models.values() for model in members]
    return max((_RANK[resolve(model, settings).tier] for model in models), default=0)


def _place(name: str, plan: Plan) -> int:
    """The place of a configuration with this letter, else with this label, id or start of an id."""
    named, ids = labels(plan.configurations), [configuration.id for configuration in plan.configurations]
    ways: tuple[Callable[[int], bool], ...] = (
        lambda place: letter(place) == name.upper(),
        lambda place: named[ids[place]] == name,
        lambda place: ids[place].startswith((name, f"conf_{name}")),
    )
    for way in ways:
        if len(found := [place for place in range(len(ids)) if way(place)]) == 1:
            return found[0]
    raise UnknownNameError("configuration", name, _choices(plan))


def _choices(plan: Plan) -> list[str]:
    named = labels(plan.configurations)
    return [f"{letter(place)} = {named[made.id]}" for place, made in enumerate(plan.configurations)]
