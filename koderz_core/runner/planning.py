"""From what a person asks for to a plan: names resolved, roles filled, parameters checked and completed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from koderz_core.config import Settings
from koderz_core.datasets.selection import select
from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.grading.testsets import GATES, check_tests
from koderz_core.models.catalogue import resolve
from koderz_core.records import Budget, Configuration, Dataset, Plan, Scalar
from koderz_core.runner.budget import check_limits
from koderz_core.runner.conditions import conditions
from koderz_core.runner.needs import check_needs
from koderz_core.runner.resumption import as_recorded
from koderz_core.strategies import ROLES, complete, create

MOST_SEEDS = 1 << 63


@dataclass(frozen=True, slots=True)
class Wanted:
    """A configuration in the words of a person. ``models``: role -> names; a role without any takes the coder's."""

    strategy: str
    models: Mapping[str, str | Sequence[str]]
    parameters: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Order:
    """A benchmark in the words of a person; ``problems`` as ``datasets.selection.select`` understands it."""

    configurations: Sequence[Wanted]
    problems: str = "all"
    seed: int = 0
    repeats: int = 1
    name: str = ""
    budget: Budget = field(default_factory=Budget)


def draft(order: Order, dataset: Dataset, settings: Settings) -> Plan:
    """The plan that fulfils an order. Raises UsageError (unknown names, contradictions) before anything is paid."""
    if order.repeats < 1:
        raise PlanError(f"Repeats must be at least 1, not {order.repeats}.")
    if not (isinstance(order.seed, int) and 0 <= order.seed < MOST_SEEDS):
        raise PlanError(f"The seed must be a whole number from 0 to 2^63 - 1, not {order.seed!r}.")
    check_limits(order.budget)
    configurations = tuple(_configuration(wanted, settings) for wanted in order.configurations)
    if not configurations:
        raise PlanError("Name at least one strategy.")
    if len({one.id for one in configurations}) < len(configurations):
        raise PlanError("Two configurations are the same: name each strategy with the same models only once.")
    problems = select(dataset, order.problems, order.seed)
    for problem in problems:
        check_tests(problem)
    plan = Plan(
        dataset=dataset.origin,
        problems=tuple(problem.id for problem in problems),
        configurations=configurations,
        seed=order.seed,
        repeats=order.repeats,
        name=order.name,
        conditions=conditions(configurations, settings),
        budget=order.budget,
    )
    try:
        plan = msgspec.convert(msgspec.to_builtins(plan), Plan)  # what no journal could give back is refused here
    except msgspec.ValidationError as error:
        raise PlanError(f"The order cannot be planned: {error}.") from error
    return as_recorded(plan, settings)


def _configuration(wanted: Wanted, settings: Settings) -> Configuration:
    parameters = complete(wanted.strategy, wanted.parameters)
    roles = create(wanted.strategy, parameters).roles()
    for role in wanted.models:
        if role not in ROLES:
            raise UnknownNameError("role", role, ROLES)
    coder = wanted.models.get("coder")
    if not coder:
        raise PlanError("Name the model that writes the code: coder=MODEL. `koderz models list` shows what can run.")
    named = {role: _ids(names, settings) for role, names in wanted.models.items()}  # a wrong name is wrong, used or not
    models = {role: named.get(role) or named["coder"] for role in roles}
    configuration = Configuration(wanted.strategy, models, parameters, GATES[0])
    check_needs(configuration, settings)
    return configuration


def _ids(names: str | Sequence[str], settings: Settings) -> tuple[str, ...]:
    return tuple(resolve(name, settings).id for name in ([names] if isinstance(names, str) else names))
