"""What each parameter of a strategy changes, in one line, and what it takes: shown wherever one is chosen."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, replace
from inspect import cleandoc
from typing import Any, TypeVar

from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.records import Sampling, Scalar

MOST = 10**9
"""The largest value of a number that has no smaller bound: beyond it nothing runs, and totals overflow."""
WARMEST = 2
"""The highest temperature that some provider takes."""

ABOUT: Mapping[str, str] = {
    "max_iterations": "The most programs that are tried in one experiment.",
    "spec": "A spec of the problem is written first, and the coder is given it.",
    "chain_of_thought": "The coder may reason in words before its program.",
    "temperature": "How random the coder's answers are, 0 the least; retries may have a temperature of their own.",
    "retry_temperature": "How random attempts after the first are; at 0 a small model repeats itself.",
    "max_tokens": "The most tokens of one answer of the coder; what is longer is cut off.",
    "review_tokens": "The most tokens of a spec or a review; what is longer is cut off.",
    "tests": "The most tests or calls that the tester writes; none of them counts for the score.",
    "samples": "How many programs each coder is asked for.",
}
"""Parameters that several strategies have, by name: each means the same in all of them."""

Value = TypeVar("Value", bool, int, float, str)


def parameter(default: Value, about: str, choices: tuple[str, ...] = ()) -> Value:
    """A parameter that one strategy has: what it changes, in one line; ``choices``: all words that it takes, if any."""
    return field(default=default, metadata={"about": about, "choices": choices})


def bounds_of(name: str, default: Any) -> tuple[int, int]:  # Any: a dataclass' field has any default
    """The smallest and the largest value of a numeric parameter. What is 0 by default is switched off by 0."""
    if name.endswith("temperature"):
        return 0, WARMEST
    return int(isinstance(default, int) and default > 0), MOST


def require_number(name: str, value: Scalar, kind: type, bounds: tuple[int, int]) -> None:
    """Raise PlanError for what is no number of this kind, int or float, or out of the bounds, which are allowed."""
    low, high = bounds
    fits = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
    if not (fits and low <= value <= high):  # type: ignore[operator]  # it is a number if it fits
        a_number = "a whole number" if kind is int else "a number"
        raise PlanError(f"{name} must be {a_number} from {low:,} to {high:,}, not {value!r}.")


_CALLS = re.compile(r"\bCalls:\s+(?P<calls>.+?[.!])(?:\s+(?P<source>[A-Z\"].*))?$")


@dataclass(frozen=True, slots=True)
class Description:
    """What a strategy does, in one line; what it costs in calls and where it comes from, empty if it does not say."""

    doc: str
    calls: str
    source: str


def describe(strategy: type) -> Description:
    """What a strategy says of itself. The text is its author's: shown as text, never obeyed."""
    own = _written(strategy)
    module = sys.modules.get(strategy.__module__)
    texts = (own, cleandoc(module.__doc__ or "") if module else "")
    paragraphs = (" ".join(part.split()).replace("``", "") for text in texts for part in text.split("\n\n"))
    told = next((found for paragraph in paragraphs if (found := _CALLS.search(paragraph))), None)
    calls, source = (told["calls"], told["source"] or "") if told else ("", "")
    doc = own.partition("\n")[0].partition("Calls:")[0]
    return Description(doc.replace("``", "").strip(), calls, source)


def about(parameter: Field[Any]) -> str:
    """What a parameter changes, in one line: what its field says, else what it means in all strategies."""
    return str(parameter.metadata.get("about", ABOUT.get(parameter.name, "")))


def choices_of(parameter: Field[Any]) -> tuple[str, ...]:
    """All the words that a parameter takes, the default first; none if that is open."""
    return tuple(parameter.metadata.get("choices", ()))


def _written(strategy: type) -> str:
    """Without what a dataclass writes where its author wrote nothing."""
    text = cleandoc(strategy.__doc__ or "")
    return "" if text.startswith(f"{strategy.__name__}(") else text


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
