"""What a person can choose in each strategy: its roles and parameters, read off the strategy itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, fields
from typing import Any, Literal

from koderz_core.errors import PlanError
from koderz_core.records import Scalar
from koderz_core.runner.ablations import ABLATIONS, is_ablated
from koderz_core.strategies import (
    PRESETS,
    ROLES,
    STRATEGIES,
    UNTESTED,
    class_of,
    complete,
    create,
    doc_of,
    offered,
    takes_several,
)
from koderz_core.strategies.describing import about, choices_of, describe
from koderz_core.strategies.outside import installed
from koderz_core.strategies.parameters import MOST, OF_ROLES, bounds_of

Kind = Literal["bool", "int", "float", "str"]
_KINDS: dict[type, Kind] = {bool: "bool", int: "int", float: "float", str: "str"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One thing that a strategy lets a person set; its values are of ``kind``, as ``default`` is.

    ``doc``: what it changes, in one line; ``choices``: all the values there are, none if that is open. A number is at
    least ``least`` and at most ``most``.
    """

    name: str
    default: Scalar
    kind: Kind
    doc: str
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = MOST


@dataclass(frozen=True, slots=True)
class Role:
    """A part in a strategy. ``doc``: what it does, in one line; ``several``: all models that it has are asked."""

    name: str
    doc: str
    several: bool = False


@dataclass(frozen=True, slots=True)
class StrategyForm:
    """A strategy as a form shows it. ``roles``: all that it may ask; ``asked`` tells which under some parameters.

    ``calls`` and ``source``: what an experiment costs in calls, and where the strategy comes from, in a sentence each.
    ``tested``: it runs gate tests, so that gate and feedback mean something to it. ``ablations``: the names of its own.
    """

    name: str
    doc: str  # one line
    roles: tuple[Role, ...]
    parameters: tuple[Parameter, ...]
    tested: bool = True
    ablations: tuple[str, ...] = ()
    calls: str = ""
    source: str = ""

    def asked(self, parameters: Mapping[str, Scalar]) -> tuple[str, ...]:
        """The roles that it asks with these parameters. Raises PlanError for a value out of place."""
        return create(self.name, parameters).roles()


def strategy_forms() -> tuple[StrategyForm, ...]:
    """Every strategy there is, in the order they are offered; then those of installed packages, but for broken ones."""
    theirs = [name for name, fault in faults_of_installed().items() if not fault]
    return tuple(strategy_form(name) for name in (*offered(), *theirs))


def faults_of_installed() -> dict[str, str]:
    """The strategies that installed packages offer, by name, with what keeps one from being used, else nothing."""
    return {name: next(_faults(name), "") for name in installed()}


def strategy_form(name: str) -> StrategyForm:
    """What can be chosen in one strategy or preset of one. Raises UnknownNameError."""
    defaults, described = complete(name, {}), describe(class_of(name))
    known = {field.name: field for field in fields(class_of(name))}
    parameters = tuple(_parameter(known[one], default) for one, default in defaults.items())
    ablations = tuple(ABLATIONS) if is_ablated(name) else ()
    roles = tuple(Role(one, OF_ROLES.get(one, ""), takes_several(name, one)) for one in _roles(name, defaults))
    tested = name not in UNTESTED
    return StrategyForm(name, doc_of(name), roles, parameters, tested, ablations, described.calls, described.source)


def _faults(name: str) -> Iterator[str]:
    if name in STRATEGIES or name in PRESETS:
        yield f"koderz has a strategy {name} of its own, so that of an installed package is passed over."
        return
    try:
        class_of(name)
    except PlanError as error:
        yield str(error)


def _parameter(field: Field[Any], default: Scalar) -> Parameter:
    kind = _KINDS[type(default)]
    least, most = bounds_of(field.name, field.default)
    return Parameter(field.name, default, kind, about(field), choices_of(field), least, most)


def _roles(name: str, defaults: dict[str, Scalar]) -> tuple[str, ...]:
    """A switch may add a role or take one away, so each is tried in both positions."""
    tried: list[dict[str, Scalar]] = [{one: not value} for one, value in defaults.items() if isinstance(value, bool)]
    asked = {role for parameters in ({}, *tried) for role in create(name, parameters).roles()}
    return tuple(role for role in ROLES if role in asked)
