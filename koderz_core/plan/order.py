"""From what a person asks for to a plan: names resolved, roles filled, parameters checked and completed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from koderz_core.config import Settings
from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.grading.feedback_policy import check_feedback
from koderz_core.grading.gates import ALL_TESTS, gate_of
from koderz_core.models.catalogue import check_allowed, resolve
from koderz_core.plan.requirements import check_needs
from koderz_core.records import Budget, Configuration, Scalar
from koderz_core.records.plans import Selection
from koderz_core.strategies import base_of, create, facts_of, recorded
from koderz_core.strategies.facts import ROLES

MOST_SEEDS = 1 << 63
FULL = "full"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A configuration in the words of a person. ``models``: role -> names; a role without any takes the coder's.

    ``gate`` and ``feedback``: policies of what its loop may run, and what it is told of that.
    """

    strategy: str
    models: Mapping[str, str | Sequence[str]]
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    gate: str = ALL_TESTS
    feedback: str = FULL


@dataclass(frozen=True, slots=True)
class Order:
    """A benchmark in the words of a person; ``problems`` as ``datasets.selection.select`` understands it.

    ``selections``: how those of its models were chosen that nobody named.
    """

    configurations: Sequence[Wanted]
    problems: str = "all"
    seed: int = 0
    repeats: int = 1
    name: str = ""
    budget: Budget = field(default_factory=Budget)
    selections: tuple[Selection, ...] = ()


def configuration(wanted: Wanted, settings: Settings) -> Configuration:
    """What is run and recorded of one in words. Raises UnknownNameError, PlanError."""
    parameters = recorded(wanted.strategy, wanted.parameters)
    roles = create(wanted.strategy, parameters).roles()
    for role in (*wanted.models, *roles):
        if role not in ROLES:
            raise UnknownNameError("role", role, ROLES)
    coder = wanted.models.get("coder")
    if not coder:
        raise PlanError("Name the model that writes the code: coder=MODEL. `koderz models list` shows what can run.")
    named = {role: _ids(names, settings) for role, names in wanted.models.items()}  # a wrong name is wrong, used or not
    models = {role: named.get(role) or named["coder"][:1] for role in roles}
    _check_members(wanted.strategy, {role: members for role, members in named.items() if role in roles})
    said = {name: value for name, value in parameters.items() if value != ""}  # so what knew no such text stays itself
    found = Configuration(base_of(wanted.strategy), models, said, *_policies(wanted))
    check_allowed((model for members in models.values() for model in members), settings)
    check_needs(found, settings)
    return found


def _check_members(strategy: str, models: Mapping[str, tuple[str, ...]]) -> None:
    """Raise PlanError for models that would be ignored, and for a strategy that lacks one to go on to."""
    facts = facts_of(strategy)
    if facts.needs_several_coders and len(models["coder"]) < 2:
        raise PlanError(
            f"{strategy} goes on from each coder to the next, so it needs several coders: name them from the cheapest "
            "to the strongest, in a terminal as in --coder qwen2.5-coder-0.5b,qwen2.5-coder-1.5b."
        )
    for role, (_, *others) in models.items():
        if others and role not in facts.several:
            raise PlanError(
                f"{strategy} asks one model as {role}, so {', '.join(others)} would be ignored. Name one; to compare "
                "several, write a configuration for each."
            )


def _policies(wanted: Wanted) -> tuple[str, str]:
    """Gate and feedback. Raises PlanError for a strategy that would ignore them."""
    gate, feedback = gate_of(wanted.gate).name, check_feedback(wanted.feedback)
    if not facts_of(wanted.strategy).tests_programs and (gate, feedback) != (ALL_TESTS, FULL):
        raise PlanError(
            f"{wanted.strategy} never runs gate tests, so gate and feedback would be ignored: leave them out there."
        )
    return gate, feedback


def _ids(names: str | Sequence[str], settings: Settings) -> tuple[str, ...]:
    return tuple(resolve(name, settings).id for name in ([names] if isinstance(names, str) else names))
