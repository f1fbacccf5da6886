"""Ways of solving a problem: one frozen dataclass each, listed in ``STRATEGIES``; some have names of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, asdict, dataclass, field, fields, replace
from typing import Any

from koderz_core.errors import PlanError, UnknownNameError, UsageError
from koderz_core.records import Scalar
from koderz_core.strategies.beam import Beam
from koderz_core.strategies.best_of import BestOf
from koderz_core.strategies.cascade import Cascade
from koderz_core.strategies.debate import Debate
from koderz_core.strategies.direct import Direct
from koderz_core.strategies.ensemble import Ensemble
from koderz_core.strategies.facts import DataclassStrategy, Facts, facts_of_class
from koderz_core.strategies.ladder import ONCE, Ladder
from koderz_core.strategies.outside import found, installed, shortened
from koderz_core.strategies.parameters import bounds_of, checked, choices_of, describe, is_override, require_number
from koderz_core.strategies.reminders import Reminded
from koderz_core.strategies.selected import Selected
from koderz_core.strategies.supervised import Supervised
from koderz_core.strategies.swarm import Swarm
from koderz_core.strategies.tree import Tree


@dataclass(frozen=True, slots=True)
class Preset:
    """A strategy under some parameters that has a name of its own; ``doc``: what it does, in one line.

    ``facts``: those in which it differs from the strategy.
    """

    strategy: str
    parameters: Mapping[str, Scalar]
    doc: str
    facts: Mapping[str, Any] = field(default_factory=dict)  # Any: facts have values of several types


STRATEGIES: Mapping[str, type[DataclassStrategy]] = {
    "direct": Direct,
    "supervised": Supervised,
    "ladder": Ladder,
    "cascade": Cascade,
    "best_of": BestOf,
    "debate": Debate,
    "ensemble": Ensemble,
    "beam": Beam,
    "swarm": Swarm,
    "tree": Tree,
    "selected": Selected,
}

PRESETS: Mapping[str, Preset] = {
    "repair": Preset(
        "supervised",
        {"spec": False, "checkpoints": False},
        "Ask, test, feed the failure back: supervised without a spec and without reviews.",
    ),
    "retry": Preset(
        "ladder",
        {"temperature": 0.8, "steps": ""},
        "Fresh programs without feedback until one passes: what as many iterations solve by themselves.",
    ),
    "warming": Preset(
        "ladder",
        {"steps": "0,0.3*2,0.5*2"},
        "Fresh programs without feedback, the first greedy and each later pair warmer, until one passes.",
    ),
    "escalation": Preset(
        "ladder",
        {"steps": ONCE},
        "One program of each coder in the order they are named, without feedback, until one passes.",
        {"takes_all_coders": True, "needs_several_coders": True},
    ),
}
"""``repair`` and ``retry`` are the controls of ``supervised``, with as many iterations: without the stronger models,
and without feedback. ``warming`` and ``escalation`` are baselines of "AI Agents That Matter" (arXiv 2407.01502).
"""

MODES: Mapping[str, tuple[str, ...]] = {
    "zero-shot": ("direct",),
    "iterative": ("supervised",),
    "comparative": ("direct", "supervised"),
}
"""The modes of the original koderz, by the strategies that they mean here."""

ADDED: Mapping[str, Scalar] = asdict(Reminded())
"""Parameters that earlier configurations did not have, with what they did: left at that, none gets another id."""


def create(name: str, parameters: Mapping[str, Scalar]) -> DataclassStrategy:
    """The strategy or preset called ``name`` with these parameters, the others at their defaults.

    Overrides of a role's sampling are checked; they are the runner's to heed.
    Raises UnknownNameError for a strategy or a parameter that there is none of, PlanError for a value out of place.
    """
    strategy = class_of(name)
    known = {field.name: field for field in fields(strategy)}
    own = {one: value for one, value in parameters.items() if not is_override(one)}
    for parameter, value in own.items():
        if parameter not in known:
            raise UnknownNameError(f"parameter of {name}", parameter, known)
        _check(name, value, known[parameter])
    given = {**(PRESETS[name].parameters if name in PRESETS else {}), **own}
    fitting = {parameter: _fitting(value, known[parameter].default) for parameter, value in given.items()}
    created = strategy(**fitting)  # _check held each value against its default
    _overrides(created, parameters)
    return created


def class_of(name: str) -> type[DataclassStrategy]:
    """The class of a strategy or preset. Raises UnknownNameError, and PlanError for an installed one that fails."""
    strategy = base_of(name)
    outside = None if strategy in STRATEGIES else found(strategy)
    if strategy not in STRATEGIES and outside is None:
        hint = "`koderz strategies` shows them all."
        raise UnknownNameError("strategy", name, (*offered(), *installed()), hint)
    return outside or STRATEGIES[strategy]


def complete(name: str, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """All parameters of a strategy, the defaults filled in. Raises as ``create``."""
    whole = asdict(create(name, parameters))
    return {one: whole[one] for one in sorted(whole, key=ADDED.__contains__)}  # what is seldom wanted comes last


def recorded(name: str, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """``complete`` without what a configuration only has where it is used, and with overrides. Raises as ``create``."""
    whole = complete(name, parameters).items()
    used = {one: value for one, value in whole if one not in ADDED or value != ADDED[one]}
    return used | _overrides(create(name, parameters), parameters)


def base_of(name: str) -> str:
    """The strategy that a name means: that of a preset, else the name itself."""
    return PRESETS[name].strategy if name in PRESETS else name


def called(strategy: str, parameters: Mapping[str, Scalar]) -> str:
    """What a strategy with these parameters is called: as the preset that it is, else by its own name."""
    whole = {**_defaults(strategy), **parameters}
    for name, preset in PRESETS.items():
        if preset.strategy == strategy and preset.parameters.items() <= whole.items():
            return name
    return shortened(strategy)


def _defaults(strategy: str) -> dict[str, object]:
    """The parameters of a strategy by default; those of one that a later version may have are not known."""
    return {one.name: one.default for one in fields(STRATEGIES[strategy])} if strategy in STRATEGIES else {}


def offered() -> tuple[str, ...]:
    """All names to choose from, each for something else: what is a preset by default goes by that name only."""
    return (*(name for name in STRATEGIES if called(name, complete(name, {})) == name), *PRESETS)


def doc_of(name: str) -> str:
    """What a strategy or preset does, in one line. Raises UnknownNameError."""
    return PRESETS[name].doc if name in PRESETS else describe(class_of(name)).doc


def facts_of(name: str) -> Facts:
    """The facts of a strategy or preset; the defaults for one that is not here, as another version may record it."""
    try:
        facts = facts_of_class(class_of(name))
    except UsageError:
        return Facts()
    return replace(facts, **PRESETS[name].facts) if name in PRESETS else facts


def _overrides(strategy: DataclassStrategy, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    return {one: checked(strategy.roles(), one, value) for one, value in parameters.items() if is_override(one)}


def _fitting(value: Scalar, default: object) -> Scalar:
    """1 and 1.0 must make the same configuration, and so must -0.0 and 0.0."""
    return float(value) + 0.0 if isinstance(default, float) and isinstance(value, int | float) else value


def _check(strategy: str, value: Scalar, field: Field[object]) -> None:
    parameter, default = field.name, field.default
    wanted = type(default)
    if wanted in (int, float):
        require_number(f"{strategy}: {parameter}", value, wanted, bounds_of(parameter, default))
    elif not isinstance(value, wanted):
        raise PlanError(f"{strategy}: {parameter} must be {wanted.__name__}, not {value!r}.")
    choices = choices_of(field)
    if choices and value not in choices:
        raise PlanError(f"{strategy}: {parameter} must be one of {', '.join(choices)}, not {value!r}.")
