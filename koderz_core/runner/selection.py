"""Models that somebody leaves to be chosen: ``select:quality``, or of these only, ``select:cost:gpt-4o+o3``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.records.plans import POLICIES, Selection
from koderz_core.runner.planning import Order, Wanted

MARK = "select:"


@dataclass(frozen=True, slots=True)
class Choice:
    """What is to be chosen by a policy of some ``names``; without any, of all that there is to choose from."""

    strategy: str
    role: str
    policy: str
    names: tuple[str, ...]


def chooses(order: Order) -> bool:
    """Whether a model of an order is still to be chosen."""
    return any(_is_choice(names) for wanted in order.configurations for names in wanted.models.values())


def chosen(order: Order, choose: Callable[[Choice], Selection]) -> Order:
    """The order with every model chosen, and how. Raises UnknownNameError, PlanError, and as ``choose``."""
    configurations, made = list[Wanted](), list(order.selections)
    for wanted in order.configurations:
        models = dict(wanted.models)
        for role, names in wanted.models.items():
            if _is_choice(names):
                made.append(choose(_choice(wanted.strategy, role, names)))
                models[role] = made[-1].chosen
        configurations.append(replace(wanted, models=models))
    return replace(order, configurations=configurations, selections=tuple(made))


def told(selection: Selection) -> str:
    """A selection in a sentence."""
    places = [one.model for one in selection.ranked]
    place = places.index(selection.chosen)
    over = "; ".join(f"{one.model}: {one.reason}" for one in selection.ranked[:place])
    elsewhere = f" by {selection.results_of}" if selection.results_of not in ("", selection.strategy) else ""
    rest = f" Else: {', '.join(places[place + 1 :])}." if places[place + 1 :] else ""
    return (
        f"By {selection.policy} the {selection.role} of {selection.strategy} is {selection.chosen} "
        f"({selection.ranked[place].reason}{elsewhere}){f', instead of {over}' if over else ''}.{rest}"
    )


def _is_choice(names: str | Sequence[str]) -> bool:
    return any(name.strip().startswith(MARK) for name in ([names] if isinstance(names, str) else names))


def _choice(strategy: str, role: str, names: str | Sequence[str]) -> Choice:
    listed = [names] if isinstance(names, str) else [*names]
    if len(listed) > 1:
        raise PlanError(
            f"{', '.join(listed)}: one model is chosen for the {role}. Write {MARK}POLICY:FIRST+SECOND to say of "
            "which, or name the models yourself."
        )
    policy, _, rest = listed[0].strip().removeprefix(MARK).partition(":")
    if policy not in POLICIES:
        raise UnknownNameError("policy of a selection", policy, POLICIES)
    return Choice(strategy, role, policy, tuple(name.strip() for name in rest.split("+") if name.strip()))
