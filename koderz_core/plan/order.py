"""Orders: benchmarks as a person describes them, and their configurations with names and parameters resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from koderz_core.config import Settings
from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.grading.gates import ALL_TESTS, check_feedback, gate_of
from koderz_core.models.catalogue import check_allowed, resolve
from koderz_core.plan.registration import RegistrationOrder
from koderz_core.plan.requirements import check_needs, scheduled
from koderz_core.records import Budget, Configuration, Scalar
from koderz_core.records.plans import Selection
from koderz_core.strategies import base_of, create, facts_of, recorded
from koderz_core.strategies.facts import ROLES
from koderz_core.strategies.parameters import EFFORT, overrides_by_role
from koderz_core.strategies.reminders import ADVICE_TEMPERATURE

MOST_SEEDS = 1 << 63
FULL = "full"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A configuration as a person describes it. ``models``: the names of the models of each role.

    A role without models uses the first coder. ``gate``: which tests the loop may run; ``feedback``: how much of a
    verdict the strategy sees.
    """

    strategy: str
    models: Mapping[str, str | Sequence[str]]
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    gate: str = ALL_TESTS
    feedback: str = FULL


@dataclass(frozen=True, slots=True)
class Order:
    """A benchmark as a person describes it; ``problems`` as in ``datasets.selection.select``.

    ``selections``: how koderz selected the models that the order does not name. ``registration``: None for a benchmark
    that is not registered. ``allow_search``: accept configurations that search the web, which marks their rates.
    """

    configurations: Sequence[Wanted]
    problems: str = "all"
    seed: int = 0
    repeats: int = 1
    name: str = ""
    budget: Budget = field(default_factory=Budget)
    selections: tuple[Selection, ...] = ()
    registration: RegistrationOrder | None = None
    allow_search: bool = False


def as_list(names: str | Sequence[str]) -> list[str]:
    """Return the names of a role's models as a list; a single name may be a string."""
    return [names] if isinstance(names, str) else list(names)


def configuration(wanted: Wanted, settings: Settings) -> Configuration:
    """Return the configuration to run and record. Raises UnknownNameError, PlanError."""
    parameters = recorded(wanted.strategy, wanted.parameters)
    roles = create(base_of(wanted.strategy), parameters).roles()
    for role in (*wanted.models, *roles):
        if role not in ROLES:
            raise UnknownNameError("role", role, ROLES)
    coder = wanted.models.get("coder")
    if not coder:
        raise PlanError("Name the model that writes the code: coder=MODEL. `koderz models list` shows all models.")
    named = {  # also checks names of roles that are not asked
        role: tuple(resolve(name, settings).id for name in as_list(names)) for role, names in wanted.models.items()
    }
    models = {role: named.get(role) or named["coder"][:1] for role in roles}
    _check_members(wanted.strategy, {role: members for role, members in named.items() if role in roles})
    _check_efforts(wanted.strategy, parameters, models)
    _check_reused_spec(parameters)
    resolved = Configuration(base_of(wanted.strategy), models, parameters, *_policies(wanted))
    check_allowed((model for members in models.values() for model in members), settings)
    check_needs(resolved, settings)
    return resolved


def _check_members(strategy: str, models: Mapping[str, tuple[str, ...]]) -> None:
    """Raise PlanError for models that would be ignored, and for a single coder where several are needed."""
    facts = facts_of(strategy)
    if facts.needs_several_coders and len(models["coder"]) < 2:
        raise PlanError(
            f"{strategy} asks one coder after the other, so it needs several coders. Name the coders from the "
            "cheapest to the strongest, for example --coder qwen2.5-coder-0.5b,qwen2.5-coder-1.5b."
        )
    for role, (_, *others) in models.items():
        if others and role not in facts.several:
            raise PlanError(
                f"{strategy} uses only one model as {role}, so {', '.join(others)} would be ignored. Name one model; "
                "to compare several models, write a configuration for each model."
            )


def _check_efforts(strategy: str, parameters: Mapping[str, Scalar], models: Mapping[str, tuple[str, ...]]) -> None:
    """Raise PlanError for efforts that do not match the models of their role, or for two efforts of one call."""
    steps = scheduled(strategy, parameters)
    if f"coder.{EFFORT}" in parameters and any(isinstance(step, str) for step in steps):
        raise PlanError(
            f"steps={parameters['steps']} already sets the reasoning effort of every attempt. Omit coder.{EFFORT}."
        )
    for role, overrides in overrides_by_role(parameters).items():
        efforts, members = str(overrides.get(EFFORT, "")).split(","), models[role]
        if len(efforts) not in (1, len(members)):
            raise PlanError(
                f"{role}.{EFFORT} has {len(efforts)} values, but the role {role} has {len(members)} model(s). Write "
                "one effort for all models of the role, or one effort for each model."
            )


def _check_reused_spec(parameters: Mapping[str, Scalar]) -> None:
    """Raise PlanError for a sampling of the spec that reused specs do not have.

    Only new orders are checked: recorded plans with such a sampling can still be resumed.
    """
    usual = {"spec.temperature": ADVICE_TEMPERATURE}
    for name in (f"spec.{EFFORT}", "spec.temperature", "spec.top_p") if parameters.get("reuse_spec") else ():
        if name in parameters and parameters[name] != usual.get(name):
            raise PlanError(
                f"A spec cannot be reused if {name} changes how the model writes the spec. koderz reuses only specs "
                f"that were written at temperature {ADVICE_TEMPERATURE:g} without such changes. Omit reuse_spec or "
                f"{name}. To continue a recorded benchmark that has both parameters, run: koderz resume BENCHMARK"
            )


def _policies(wanted: Wanted) -> tuple[str, str]:
    """The gate and the feedback. Raises PlanError for a strategy that would ignore them."""
    gate, feedback = gate_of(wanted.gate).name, check_feedback(wanted.feedback)
    if not facts_of(wanted.strategy).tests_programs and (gate, feedback) != (ALL_TESTS, FULL):
        raise PlanError(
            f"{wanted.strategy} never runs gate tests, so it would ignore the chosen gate and feedback. Omit "
            "gate and feedback."
        )
    return gate, feedback
