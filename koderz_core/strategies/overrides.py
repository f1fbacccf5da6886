"""Sampling that a person asks of single roles, over what the strategy would ask: ``critic.temperature=0.3``.

An override stands among the parameters of a configuration, by role and name with a dot between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from koderz_core.errors import UnknownNameError
from koderz_core.records import Sampling, Scalar
from koderz_core.strategies.parameters import MOST, WARMEST, require_number

KINDS: Mapping[str, type] = {"temperature": float, "top_p": float, "max_tokens": int}
_RANGES: Mapping[str, tuple[int, int]] = {"temperature": (0, WARMEST), "top_p": (0, 1), "max_tokens": (1, MOST)}


def is_override(name: str) -> bool:
    """Whether a parameter of this name is about one role, not about the strategy."""
    return "." in name


def role_of(name: str) -> str:
    """The role that an override is about."""
    return name.partition(".")[0]


def asked_of(roles: Sequence[str], parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Those of the parameters that are overrides of one of these roles."""
    return {name: value for name, value in parameters.items() if is_override(name) and role_of(name) in roles}


def checked(roles: Sequence[str], name: str, value: Scalar) -> Scalar:
    """The value as it is recorded. Raises UnknownNameError for another role or thing, PlanError for another value."""
    role, _, what = name.partition(".")
    if role not in roles:
        raise UnknownNameError("role that is asked here", role, roles)
    if what not in KINDS:
        raise UnknownNameError("sampling of a role", what, KINDS)
    require_number(name, value, KINDS[what], _RANGES[what])
    return float(value) + 0.0 if KINDS[what] is float and isinstance(value, int | float) else value


def of_roles(parameters: Mapping[str, Scalar]) -> dict[str, dict[str, Scalar]]:
    """By role: what is asked of it."""
    found: dict[str, dict[str, Scalar]] = {}
    for name, value in parameters.items():
        if is_override(name):
            role, _, what = name.partition(".")
            found.setdefault(role, {})[what] = value
    return found


def applied(sampling: Sampling, asked: Mapping[str, Scalar]) -> Sampling:
    """How a role is asked to sample, with what is asked of it over what the strategy asks."""
    return replace(sampling, **asked) if asked else sampling  # type: ignore[arg-type]  # ``checked`` has seen to it
