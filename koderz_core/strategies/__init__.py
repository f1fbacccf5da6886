"""Ways of solving a problem: one frozen dataclass each, listed in ``STRATEGIES``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields

from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.records import Scalar
from koderz_core.strategies.direct import Direct
from koderz_core.strategies.supervised import Supervised

STRATEGIES: Mapping[str, type[Direct] | type[Supervised]] = {"direct": Direct, "supervised": Supervised}

ROLES = ("spec", "coder", "reviewer")
"""Every role that some strategy asks."""


def create(name: str, parameters: Mapping[str, Scalar]) -> Direct | Supervised:
    """The strategy called ``name`` with these parameters, the others at their defaults.

    Raises UnknownNameError for a strategy or a parameter that there is none of, PlanError for a value out of place.
    """
    if name not in STRATEGIES:
        raise UnknownNameError("strategy", name, STRATEGIES)
    known = {field.name: field for field in fields(STRATEGIES[name])}
    for parameter, value in parameters.items():
        if parameter not in known:
            raise UnknownNameError(f"parameter of {name}", parameter, known)
        _check(name, parameter, value, known[parameter].default)
    fitting = {parameter: _fitting(value, known[parameter].default) for parameter, value in parameters.items()}
    return STRATEGIES[name](**fitting)  # type: ignore[arg-type]  # _check held each value against its default


def complete(name: str, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """All parameters of a strategy, the defaults filled in: what a configuration records. Raises as ``create``."""
    return asdict(create(name, parameters))


def _fitting(value: Scalar, default: object) -> Scalar:
    """1 and 1.0 must make the same configuration, and so must -0.0 and 0.0."""
    return float(value) + 0.0 if isinstance(default, float) and isinstance(value, int | float) else value


def _check(strategy: str, parameter: str, value: Scalar, default: object) -> None:
    wanted = type(default)
    fits = isinstance(value, wanted) and isinstance(value, bool) == isinstance(default, bool)
    if not (fits or (wanted is float and isinstance(value, int) and not isinstance(value, bool))):
        raise PlanError(f"{strategy}: {parameter} must be {wanted.__name__}, not {value!r}.")
    low = 1 if wanted is int else 0
    if not isinstance(value, bool | str | None) and not low <= value < 1e9:
        raise PlanError(f"{strategy}: {parameter} must be at least {low}, not {value!r}.")
