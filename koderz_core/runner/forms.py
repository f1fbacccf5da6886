"""What a person can choose in each strategy: its roles and parameters, read off the strategy itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from koderz_core.records import Scalar
from koderz_core.strategies import ROLES, STRATEGIES, complete, create

Kind = Literal["bool", "int", "float", "str"]
_KINDS: dict[type, Kind] = {bool: "bool", int: "int", float: "float", str: "str"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One thing that a strategy lets a person set; its values are of ``kind``, as ``default`` is."""

    name: str
    default: Scalar
    kind: Kind


@dataclass(frozen=True, slots=True)
class StrategyForm:
    """A strategy as a form shows it. ``roles``: all that it may ask; ``asked`` tells which under some parameters."""

    name: str
    doc: str  # one line
    roles: tuple[str, ...]
    parameters: tuple[Parameter, ...]

    def asked(self, parameters: Mapping[str, Scalar]) -> tuple[str, ...]:
        """The roles that it asks with these parameters. Raises PlanError for a value out of place."""
        return create(self.name, parameters).roles()


def strategy_forms() -> tuple[StrategyForm, ...]:
    """Every strategy there is, in the order they are offered."""
    return tuple(strategy_form(name) for name in STRATEGIES)


def strategy_form(name: str) -> StrategyForm:
    """What can be chosen in one strategy. Raises UnknownNameError."""
    defaults = complete(name, {})
    parameters = tuple(Parameter(one, value, _KINDS[type(value)]) for one, value in defaults.items())
    doc = (STRATEGIES[name].__doc__ or "").partition("\n")[0].replace("``", "").strip()
    return StrategyForm(name, doc, _roles(name, defaults), parameters)


def _roles(name: str, defaults: dict[str, Scalar]) -> tuple[str, ...]:
    """A switch may add a role or take one away, so each is tried in both positions."""
    tried: list[dict[str, Scalar]] = [{one: not value} for one, value in defaults.items() if isinstance(value, bool)]
    asked = {role for parameters in ({}, *tried) for role in create(name, parameters).roles()}
    return tuple(role for role in ROLES if role in asked)
