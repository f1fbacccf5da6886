"""What a supervised benchmark has to be held against: its stronger models and its coder, each asked directly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from koderz_core.config import Settings
from koderz_core.models.catalogue import resolve
from koderz_core.records import Configuration, Plan, Scalar
from koderz_core.records.trials import Sought
from koderz_core.runner.conditions import HELD_OUT, conditions
from koderz_core.runner.planning import Order, Wanted, configuration
from koderz_core.runner.wording import SUPERVISED

DIRECT = "direct"
STRONGER = frozenset({"frontier", "small_frontier"})
_SHARED = ("chain_of_thought", "max_tokens")
_IRRELEVANT = frozenset({"spec prompt", "review prompt"})


def baselines(order: Order, settings: Settings) -> tuple[Wanted, ...]:
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
