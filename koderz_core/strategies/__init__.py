"""The strategies, one frozen dataclass each, in ``STRATEGIES``; and presets, which are named parameter sets of them.

A program that edits the files of a repository by itself, in many turns, would be a strategy too: in ``solve`` it works
on ``ctx.problem.files``, asks models only through ``ctx.ask``, and hands each state of the files to ``ctx.test`` as the
unified diff of ``patches.make_patch``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, asdict, dataclass, field, fields, replace
from typing import Any

from koderz_core.errors import PlanError, UnknownNameError, UsageError
from koderz_core.records import Configuration, Scalar
from koderz_core.records.plans import IMPORTED
from koderz_core.strategies.beam import Beam
from koderz_core.strategies.best_of import BestOf
from koderz_core.strategies.cascade import Cascade
from koderz_core.strategies.debate import Debate
from koderz_core.strategies.direct import Direct
from koderz_core.strategies.ensemble import Ensemble
from koderz_core.strategies.facts import DataclassStrategy, Facts, facts_of_class
from koderz_core.strategies.ladder import ONCE, Ladder
from koderz_core.strategies.outside import create_outside, installed, outside_strategy, shortened
from koderz_core.strategies.parameters import (
    bounds_of,
    checked_override,
    choices_of,
    describe,
    is_override,
    require_number,
)
from koderz_core.strategies.reminders import Reminded
from koderz_core.strategies.router import Router
from koderz_core.strategies.selected import Selected
from koderz_core.strategies.supervised import Supervised
from koderz_core.strategies.swarm import Swarm
from koderz_core.strategies.tree import Tree


@dataclass(frozen=True, slots=True)
class StrategyPreset:
    """A strategy with fixed parameters and its own name; ``doc``: what it does, in one line.

    ``facts``: the facts in which it differs from the strategy.
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
    "router": Router,
}

PRESETS: Mapping[str, StrategyPreset] = {
    "repair": StrategyPreset(
        "supervised",
        {"spec": False, "checkpoints": False},
        "Show the coder the failures of its program until a program passes. This is the strategy `supervised` without "
        "a spec or reviews.",
    ),
    "retry": StrategyPreset(
        "ladder",
        {"temperature": 0.8, "steps": ""},
        "Sample fresh programs without feedback until a program passes: a control for the effect of feedback.",
    ),
    "warming": StrategyPreset(
        "ladder",
        {"steps": "0,0.3*2,0.5*2"},
        "Sample fresh programs without feedback until a program passes. The temperature starts at 0 and rises.",
    ),
    "escalation": StrategyPreset(
        "ladder",
        {"steps": ONCE},
        "Ask one coder after the other for one program each, without feedback, until a program passes.",
        {"takes_all_coders": True, "needs_several_coders": True},
    ),
}
"""``repair`` and ``retry`` are controls of ``supervised`` with the same number of iterations: without stronger models,
and without feedback. ``warming`` and ``escalation`` are baselines of "AI Agents That Matter" (arXiv 2407.01502).
"""

MODES: Mapping[str, tuple[str, ...]] = {
    "zero-shot": ("direct",),
    "iterative": ("supervised",),
    "comparative": ("direct", "supervised"),
}
"""The modes of the original koderz, with their strategies in this koderz."""

ADDED: Mapping[str, Scalar] = asdict(Reminded())
"""Parameters that were added later, with their neutral values.

A neutral value is not recorded if it is the default, so earlier ids stay the same. The same applies to an empty text.
"""


def create(name: str, parameters: Mapping[str, Scalar]) -> DataclassStrategy:
    """The strategy or preset called ``name`` with these parameters and the defaults of the others.

    Overrides of a role's sampling are checked here and applied by the runner.
    Raises UnknownNameError for an unknown strategy or parameter, PlanError for an invalid value and for a strategy of
    another author that fails.
    """
    strategy = class_of(name)
    known = {field.name: field for field in fields(strategy)}
    own = {parameter: value for parameter, value in parameters.items() if not is_override(parameter)}
    for parameter, value in own.items():
        if parameter not in known:
            raise UnknownNameError(f"parameter of {name}", parameter, known)
        _check(name, value, known[parameter])
    given = {**(PRESETS[name].parameters if name in PRESETS else {}), **own}
    normal = {parameter: _normal(value, known[parameter].default) for parameter, value in given.items()}
    # _check has compared each value with the type of its default.
    created = strategy(**normal) if base_of(name) in STRATEGIES else create_outside(strategy, name, normal)
    _overrides(created, parameters)
    return created


def class_of(name: str) -> type[DataclassStrategy]:
    """The class of a strategy or preset.

    Raises UnknownNameError, and PlanError for imported results and for an installed strategy that fails.
    """
    if name == IMPORTED:
        raise PlanError(
            "An imported configuration cannot be run again: koderz does not know how its results were produced."
        )
    strategy = base_of(name)
    outside = None if strategy in STRATEGIES else outside_strategy(strategy)
    if strategy not in STRATEGIES and outside is None:
        hint = "`koderz strategies` lists all strategies."
        raise UnknownNameError("strategy", name, (*offered(), *installed()), hint)
    return outside or STRATEGIES[strategy]


def complete(name: str, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """All parameters of a strategy, with defaults filled in. Raises as ``create``."""
    whole = asdict(create(name, parameters))
    return {parameter: whole[parameter] for parameter in sorted(whole, key=ADDED.__contains__)}  # rarely used ones last


def recorded(name: str, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """``complete`` as a configuration records it: without neutral added parameters and empty texts, with overrides.

    Both are recorded if the strategy's own default is another value, which would otherwise replace them. The result
    contains parameters of ``base_of`` the strategy, not of a preset. Raises as ``create``.
    """
    usual = {field.name: field.default for field in fields(class_of(name))}
    whole = complete(name, parameters).items()
    used = {key: value for key, value in whole if value != usual[key] or value not in ("", ADDED.get(key))}
    return used | _overrides(create(name, parameters), parameters)


def base_of(name: str) -> str:
    """The strategy of a preset, else the name itself."""
    return PRESETS[name].strategy if name in PRESETS else name


def called(strategy: str, parameters: Mapping[str, Scalar], *, one_coder: bool = False) -> str:
    """The name of a strategy with these parameters: that of the matching preset, else its own.

    ``one_coder``: no preset that needs several coders matches.
    """
    defaults = {field.name: field.default for field in fields(STRATEGIES[strategy])} if strategy in STRATEGIES else {}
    whole = {**defaults, **parameters}
    for name, preset in PRESETS.items():
        fits = not (one_coder and preset.facts.get("needs_several_coders"))
        if fits and preset.strategy == strategy and preset.parameters.items() <= whole.items():
            return name
    return shortened(strategy)


def name_of(configuration: Configuration) -> str:
    """The name of a configuration's strategy, as ``called``."""
    one_coder = len(configuration.models.get("coder", ())) == 1
    return called(configuration.strategy, configuration.parameters, one_coder=one_coder)


def offered() -> tuple[str, ...]:
    """All names to choose from, without duplicates: a strategy whose defaults equal a preset has only that name."""
    return (*(name for name in STRATEGIES if called(name, complete(name, {})) == name), *PRESETS)


def doc_of(name: str) -> str:
    """What a strategy or preset does, in one line. Raises UnknownNameError."""
    return PRESETS[name].doc if name in PRESETS else describe(class_of(name)).doc


def facts_of(name: str) -> Facts:
    """The facts of a strategy or preset; the defaults for an unknown one, as another version may record it."""
    if name == IMPORTED:
        return Facts(tests_programs=False, shows_attempts=False)
    try:
        facts = facts_of_class(class_of(name))
    except UsageError:
        return Facts()
    return replace(facts, **PRESETS[name].facts) if name in PRESETS else facts


def _overrides(strategy: DataclassStrategy, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    roles = strategy.roles()
    return {name: checked_override(roles, name, value) for name, value in parameters.items() if is_override(name)}


def _normal(value: Scalar, default: object) -> Scalar:
    """Make 1 and 1.0, and -0.0 and 0.0, the same configuration."""
    return float(value) + 0.0 if isinstance(default, float) and isinstance(value, int | float) else value


def _check(strategy: str, value: Scalar, field: Field[object]) -> None:
    parameter, default = field.name, field.default
    kind = type(default)
    if kind in (int, float):
        require_number(f"{strategy}: {parameter}", value, kind, bounds_of(parameter, default))
    elif not isinstance(value, kind):
        raise PlanError(f"{strategy}: {parameter} must be {kind.__name__}, not {value!r}.")
    choices = choices_of(field)
    if choices and value not in choices:
        raise PlanError(f"{strategy}: {parameter} must be one of {', '.join(map(str, choices))}, not {value!r}.")
