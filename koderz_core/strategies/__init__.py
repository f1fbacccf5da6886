"""Ways of solving a problem: one frozen dataclass each, listed in ``STRATEGIES``; some have names of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.records import Scalar
from koderz_core.strategies.direct import Direct
from koderz_core.strategies.ladder import Ladder
from koderz_core.strategies.supervised import CHOICES, Supervised

Known = Direct | Supervised | Ladder


@dataclass(frozen=True, slots=True)
class Preset:
    """A strategy under some parameters that has a name of its own; ``doc``: what it does, in one line."""

    strategy: str
    parameters: Mapping[str, Scalar]
    doc: str


STRATEGIES: Mapping[str, type[Direct] | type[Supervised] | type[Ladder]] = {
    "direct": Direct,
    "supervised": Supervised,
    "ladder": Ladder,
}

PRESETS: Mapping[str, Preset] = {
    "repair": Preset(
        "supervised",
        {"spec": False, "checkpoints": False},
        "Ask, test, feed the failure back: supervised without a spec and without reviews.",
    ),
    "retry": Preset(
        "ladder",
        {"temperature": 0.8},
        "Fresh programs without feedback until one passes: what as many iterations solve by themselves.",
    ),
}
"""The controls of ``supervised``, with as many iterations: without the stronger models, and without feedback."""

MODES: Mapping[str, tuple[str, ...]] = {
    "zero-shot": ("direct",),
    "iterative": ("supervised",),
    "comparative": ("direct", "supervised"),
}
"""The modes of the original koderz, by the strategies that they mean here."""

UNTESTED = frozenset({"direct"})
"""Strategies that never run gate tests: neither a gate nor feedback means anything to them."""

SAMPLED = frozenset({"ladder"})
"""Strategies whose programs differ by temperature alone, so that a coder has to take one."""

ADDED: Mapping[str, Scalar] = {"lessons": False}
"""Parameters that earlier configurations did not have, with what they did: left at that, none gets another id."""

ROLES = ("spec", "coder", "reviewer")
"""Every role that some strategy asks."""


def create(name: str, parameters: Mapping[str, Scalar]) -> Known:
    """The strategy or preset called ``name`` with these parameters, the others at their defaults.

    Raises UnknownNameError for a strategy or a parameter that there is none of, PlanError for a value out of place.
    """
    strategy = base_of(name)
    if strategy not in STRATEGIES:
        raise UnknownNameError("strategy", name, offered())
    known = {field.name: field for field in fields(STRATEGIES[strategy])}
    for parameter, value in parameters.items():
        if parameter not in known:
            raise UnknownNameError(f"parameter of {name}", parameter, known)
        _check(name, parameter, value, known[parameter].default)
    given = {**(PRESETS[name].parameters if name in PRESETS else {}), **parameters}
    fitting = {parameter: _fitting(value, known[parameter].default) for parameter, value in given.items()}
    return STRATEGIES[strategy](**fitting)  # type: ignore[arg-type]  # _check held each value against its default


def complete(name: str, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """All parameters of a strategy, the defaults filled in. Raises as ``create``."""
    return asdict(create(name, parameters))


def recorded(name: str, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """``complete`` without what a configuration only has where it is used. Raises as ``create``."""
    return {one: value for one, value in complete(name, parameters).items() if one not in ADDED or value != ADDED[one]}


def base_of(name: str) -> str:
    """The strategy that a name means: that of a preset, else the name itself."""
    return PRESETS[name].strategy if name in PRESETS else name


def called(strategy: str, parameters: Mapping[str, Scalar]) -> str:
    """What a strategy with these parameters is called: as the preset that it is, else by its own name."""
    for name, preset in PRESETS.items():
        if preset.strategy == strategy and preset.parameters.items() <= parameters.items():
            return name
    return strategy


def offered() -> tuple[str, ...]:
    """All names to choose from, each for something else: what is a preset by default goes by that name only."""
    return (*(name for name in STRATEGIES if called(name, complete(name, {})) == name), *PRESETS)


def doc_of(name: str) -> str:
    """What a strategy or preset does, in one line. Raises UnknownNameError."""
    if name in PRESETS:
        return PRESETS[name].doc
    return (type(create(name, {})).__doc__ or "").partition("\n")[0].replace("``", "").strip()


def _fitting(value: Scalar, default: object) -> Scalar:
    """1 and 1.0 must make the same configuration, and so must -0.0 and 0.0."""
    return float(value) + 0.0 if isinstance(default, float) and isinstance(value, int | float) else value


def _check(strategy: str, parameter: str, value: Scalar, default: object) -> None:
    wanted = type(default)
    fits = isinstance(value, wanted) and isinstance(value, bool) == isinstance(default, bool)
    if not (fits or (wanted is float and isinstance(value, int) and not isinstance(value, bool))):
        raise PlanError(f"{strategy}: {parameter} must be {wanted.__name__}, not {value!r}.")
    choices = CHOICES.get(parameter, ())
    if choices and value not in choices:
        raise PlanError(f"{strategy}: {parameter} must be one of {', '.join(choices)}, not {value!r}.")
    low = 1 if wanted is int and default else 0  # what is 0 by default can be left at it
    if not isinstance(value, bool | str | None) and not low <= value < 1e9:
        raise PlanError(f"{strategy}: {parameter} must be at least {low}, not {value!r}.")
