"""From what a person asks for to a plan: names resolved, roles filled, parameters checked and completed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from koderz_core.config import Settings
from koderz_core.datasets.selection import select
from koderz_core.datasets.sources import require_libraries
from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.grading.gates import ALL_TESTS, gate_of
from koderz_core.grading.testsets import Outside, Split, TestPolicy, check_tests, split
from koderz_core.grading.visible import check_feedback
from koderz_core.models.catalogue import check_allowed, resolve
from koderz_core.records import Budget, Configuration, Dataset, Plan, Problem, Scalar
from koderz_core.records.plans import Selection, check_size
from koderz_core.runner.budget import check_limits
from koderz_core.runner.conditions import check_needs, conditions, of_problems
from koderz_core.runner.header import as_recorded
from koderz_core.strategies import base_of, create, facts_of, recorded
from koderz_core.strategies.facts import ROLES

MOST_SEEDS = 1 << 63
FULL = "full"

Gating = Callable[[Problem, TestPolicy], Split | Outside]
"""A problem's gate, or why there is none."""


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


def draft(order: Order, dataset: Dataset, settings: Settings, gating: Gating = split) -> Plan:
    """The plan that fulfils an order. Raises UsageError (unknown names, contradictions) before anything is paid.

    Problems that one of its gates cannot be made of are left out for all configurations. Raises as ``gating``.
    """
    if order.repeats < 1:
        raise PlanError(f"Repeats must be at least 1, not {order.repeats!r}.")
    if not (isinstance(order.seed, int) and 0 <= order.seed < MOST_SEEDS):
        raise PlanError(f"The seed must be a whole number from 0 to 2^63 - 1, not {order.seed!r}.")
    check_limits(order.budget)
    configurations = tuple(configuration(wanted, settings) for wanted in order.configurations)
    if not configurations:
        raise PlanError("Name at least one strategy.")
    if len({one.id for one in configurations}) < len(configurations):
        raise PlanError("Two configurations are the same: name each strategy with the same models only once.")
    problems = select(dataset, order.problems, order.seed)
    check_size(len(problems), len(configurations), order.repeats)
    require_libraries(problems)
    for problem in problems:
        check_tests(problem)
    outside = _outside(problems, configurations, order.seed, gating)
    problems = tuple(problem for problem in problems if problem.id not in outside)
    plan = Plan(
        dataset=dataset.origin,
        problems=tuple(problem.id for problem in problems),
        configurations=configurations,
        seed=order.seed,
        repeats=order.repeats,
        name=order.name,
        conditions=conditions(configurations, settings) | of_problems(problems),
        budget=order.budget,
        outside=outside,
        selections=order.selections,
    )
    try:
        plan = msgspec.convert(msgspec.to_builtins(plan), Plan)  # what no journal could give back is refused here
    except msgspec.ValidationError as error:
        raise PlanError(f"The order cannot be planned: {error}.") from error
    return as_recorded(plan, settings)


def _outside(
    problems: Sequence[Problem], configurations: Sequence[Configuration], seed: int, gating: Gating
) -> dict[str, str]:
    """The problems that some gate cannot be made of, with the reason. Raises PlanError if that is all of them."""
    policies = [TestPolicy(gate, seed) for gate in sorted({one.gate for one in configurations} - {ALL_TESTS})]
    found: dict[str, str] = {}
    for problem in problems:
        outside = (one for policy in policies if isinstance(one := gating(problem, policy), Outside))
        if first := next(outside, None):
            found[problem.id] = first.reason
    if found and len(found) == len(problems):
        gates, (name, reason) = ", ".join(policy.gate for policy in policies), next(iter(found.items()))
        raise PlanError(f"None of these problems can be used with the gate {gates}: {name}: {reason}. Choose others.")
    return found


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
