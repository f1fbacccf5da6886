"""From what a person asks for to a plan: names resolved, roles filled, parameters checked and completed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from koderz_core.config import Settings
from koderz_core.datasets.selection import select
from koderz_core.errors import PlanError
from koderz_core.grading.testsets import GATES
from koderz_core.models.catalogue import resolve
from koderz_core.records import Configuration, Dataset, Plan, Scalar
from koderz_core.strategies import complete, create


@dataclass(frozen=True, slots=True)
class Order:
    """What is wanted, in the words of the person. ``models``: role -> name; roles without one take the coder's.

    ``parameters`` apply to every strategy that has a parameter of that name.
    """

    strategies: Sequence[str]
    models: Mapping[str, str]
    problems: str = "all"
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    seed: int = 0
    repeats: int = 1
    name: str = ""


def draft(order: Order, dataset: Dataset, settings: Settings) -> Plan:
    """The plan that fulfils an order. Raises UsageError (unknown names, contradictions) before anything is paid."""
    if order.repeats < 1:
        raise PlanError(f"Repeats must be at least 1, not {order.repeats}.")
    if len(set(order.strategies)) < len(order.strategies) or not order.strategies:
        raise PlanError("Name at least one strategy, and each only once.")
    return Plan(
        dataset=dataset.origin,
        problems=tuple(problem.id for problem in select(dataset, order.problems, order.seed)),
        configurations=tuple(_configuration(name, order, settings) for name in order.strategies),
        seed=order.seed,
        repeats=order.repeats,
        name=order.name,
    )


def _configuration(name: str, order: Order, settings: Settings) -> Configuration:
    known = complete(name, {})
    parameters = complete(name, {key: value for key, value in order.parameters.items() if key in known})
    if "coder" not in order.models:
        raise PlanError("Name the model that writes the code: --coder MODEL. `koderz models list` shows what can run.")
    roles = create(name, parameters).roles()
    models = {role: (resolve(order.models.get(role, order.models["coder"]), settings).id,) for role in roles}
    return Configuration(name, models, parameters, GATES[0])
