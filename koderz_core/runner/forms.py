"""What a person can choose in each strategy: its roles and parameters, read off the strategy itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from koderz_core.records import Scalar
from koderz_core.runner.ablations import ABLATIONS, is_ablated
from koderz_core.strategies import ROLES, UNTESTED, complete, create, doc_of, offered
from koderz_core.strategies.parameters import ABOUT
from koderz_core.strategies.supervised import CHOICES

Kind = Literal["bool", "int", "float", "str"]
_KINDS: dict[type, Kind] = {bool: "bool", int: "int", float: "float", str: "str"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One thing that a strategy lets a person set; its values are of ``kind``, as ``default`` is.

    ``doc``: what it changes, in one line; ``choices``: all the values there are, none if that is open.
    """

    name: str
    default: Scalar
    kind: Kind
    doc: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StrategyForm:
    """A strategy as a form shows it. ``roles``: all that it may ask; ``asked`` tells which under some parameters.

    ``tested``: it runs gate tests, so that gate and feedback mean something to it. ``ablations``: the names of its own.
    """

    name: str
    doc: str  # one line
    roles: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    tested: bool = True
    ablations: tuple[str, ...] = ()

    def asked(self, parameters: Mapping[str, Scalar]) -> tuple[str, ...]:
        """The roles that it asks with these parameters. Raises PlanError for a value out of place."""
        return create(self.name, parameters).roles()


def strategy_forms() -> tuple[StrategyForm, ...]:
    """Every strategy there is, in the order they are offered."""
    return tuple(strategy_form(name) for name in offered())


def strategy_form(name: str) -> StrategyForm:
    """What can be chosen in one strategy or preset of one. Raises UnknownNameError."""
    defaults = complete(name, {})
    parameters = tuple(
        Parameter(one, value, _KINDS[type(value)], ABOUT[one], CHOICES.get(one, ())) for one, value in defaults.items()
    )
    ablations = tuple(ABLATIONS) if is_ablated(name) else ()
    return StrategyForm(name, doc_of(name), _roles(name, defaults), parameters, name not in UNTESTED, ablations)


def _roles(name: str, defaults: dict[str, Scalar]) -> tuple[str, ...]:
    """A switch may add a role or take one away, so each is tried in both positions."""
    tried: list[dict[str, Scalar]] = [{one: not value} for one, value in defaults.items() if isinstance(value, bool)]
    asked = {role for parameters in ({}, *tried) for role in create(name, parameters).roles()}
    return tuple(role for role in ROLES if role in asked)
