"""Ways of solving a problem: one frozen dataclass each, listed in ``STRATEGIES``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields

from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.protocols import Strategy
from koderz_core.records import Scalar
from koderz_core.strategies.direct import Direct
from koderz_core.strategies.supervised import Supervised

STRATEGIES: Mapping[str, type[Direct] | type[Supervised]] = {"direct": Direct, "supervised": Supervised}


def create(name: str, parameters: Mapping[str, Scalar]) -> Strategy:
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
    return STRATEGIES[name](**parameters)  # type: ignore[arg-type]  # _check held each value against its default


def complete(name: str, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """All parameters of a strategy, the defaults filled in: what a configuration records. Raises as ``create``."""
    create(name, parameters)
    return asdict(STRATEGIES[name](**parameters))  # type: ignore[arg-type]  # held against its default just above


def _check(strategy: str, parameter: str, value: Scalar, default: object) -> None:
    wanted = type(default)
    fits = isinstance(value, wanted) and isinstance(value, bool) == isinstance(default, bool)
    if not (fits or (wanted is float and isinstance(value, int))):
        raise PlanError(f"{strategy}: {parameter} must be {wanted.__name__}, not {value!r}.")
    low = 1 if wanted is int else 0
    if not isinstance(value, bool | str | None) and not low <= value < 1e9:
        raise PlanError(f"{strategy}: {parameter} must be at least {low}, not {value!r}.")
