"""Parameters of strategies: their effects and values, and overrides of the sampling of a role."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, replace
from inspect import cleandoc
from math import ceil, isfinite
from typing import Any, Literal, TypeVar

from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.records import Sampling, Scalar
from koderz_core.records.completions import EFFORTS

MOST = 10**9
"""The largest value of a number without a smaller bound; larger ones would overflow totals."""
WARMEST = 2
"""The highest temperature that any provider accepts."""

Group = Literal["Loop", "Prompt", "Review", "Memory"]
"""The parts of a strategy that a parameter can belong to, in the order of a form."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The effect of a parameter in one line (``about``), its ``label`` on a form, and its ``group``.

    ``needs``: the parameter without which it has no effect: a switch that must be on, a count that must exceed 1, or an
    amount that must exceed 0.
    """

    about: str
    label: str = ""
    group: Group = "Loop"
    needs: str = ""


SHARED: Mapping[str, Meaning] = {
    "max_iterations": Meaning("Maximum number of programs per experiment.", "Maximum iterations"),
    "spec": Meaning("Write a spec of the problem first and give it to the coder.", "Write a spec first", "Prompt"),
    "chain_of_thought": Meaning("Let the coder reason in words before it writes its program.", group="Prompt"),
    "temperature": Meaning(
        "Sampling temperature; 0 means greedy decoding. Some strategies have a retry_temperature for later attempts.",
        group="Prompt",
    ),
    "retry_temperature": Meaning(
        "Sampling temperature after the first attempt. At temperature 0, small models often repeat the same program.",
        group="Prompt",
        needs="max_iterations",
    ),
    "max_tokens": Meaning(
        "Maximum number of tokens in one answer of the coder. Longer answers are cut off.",
        "Maximum answer tokens",
        "Prompt",
    ),
    "review_tokens": Meaning(
        "Maximum number of tokens in a spec or a review. Longer texts are cut off.", "Maximum review tokens", "Review"
    ),
    "tests": Meaning(
        "Maximum number of tests or example calls that the tester writes. They are never used to score a program.",
        "Maximum tests by the tester",
        "Review",
    ),
    "samples": Meaning("Number of programs that each coder writes."),
}
"""Parameters of several strategies, by name: each means the same in all of them."""

Value = TypeVar("Value", bool, int, float, str)


def parameter(
    default: Value,
    about: str,
    choices: tuple[Value, ...] = (),
    *,
    label: str = "",
    group: Group = "Loop",
    needs: str = "",
) -> Value:
    """Define a parameter of one strategy. ``choices``: all allowed values; the other arguments as in ``Meaning``."""
    return field(default=default, metadata={"meaning": Meaning(about, label, group, needs), "choices": choices})


def bounds_of(name: str, default: Any) -> tuple[int, int]:  # Any: a dataclass' field has any default
    """Return the smallest and the largest value of a numeric parameter. If the default is 0, then 0 switches it off.

    A default beyond these values belongs to another author's parameter, whose meaning koderz does not know.
    """
    number = default if isinstance(default, int | float) else 0
    most = max(MOST, ceil(abs(number))) if isfinite(number) else MOST
    if number < 0:
        return -most, most
    if name.endswith("temperature") and number <= WARMEST:
        return 0, WARMEST
    return int(isinstance(default, int) and default > 0), most


def require_number(name: str, value: Scalar, kind: type, bounds: tuple[int, int]) -> None:
    """Raise PlanError unless the value is a number of this kind, int or float, within the bounds (inclusive)."""
    low, high = bounds
    fits = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
    if not (fits and low <= value <= high):  # type: ignore[operator]  # it is a number if it fits
        a_number = "a whole number" if kind is int else "a number"
        raise PlanError(f"{name} must be {a_number} from {low:,} to {high:,}, not {value!r}.")


_CALLS = re.compile(r"\bCalls:\s+(?P<calls>.+?[.!])(?:\s+(?P<source>[A-Z\"].*))?$")


@dataclass(frozen=True, slots=True)
class Description:
    """A strategy in one line; its number of calls and its source, empty if its docstring lacks them."""

    doc: str
    calls: str
    source: str


def describe(strategy: type) -> Description:
    """The description in a strategy's docstring. Its author's text is only shown, never interpreted."""
    own = _docstring(strategy)
    module = sys.modules.get(strategy.__module__)
    texts = (own, cleandoc(module.__doc__ or "") if module else "")
    paragraphs = (" ".join(part.split()).replace("``", "") for text in texts for part in text.split("\n\n"))
    match = next((match for paragraph in paragraphs if (match := _CALLS.search(paragraph))), None)
    calls, source = (match["calls"], match["source"] or "") if match else ("", "")
    doc = own.partition("\n")[0].partition("Calls:")[0]
    return Description(doc.replace("``", "").strip(), calls, source)


def meaning_of(parameter: Field[Any]) -> Meaning:
    """The meaning of a parameter: by its field, else its meaning in all strategies. Its label is never empty."""
    meaning: Meaning = parameter.metadata.get("meaning") or SHARED.get(parameter.name, Meaning(""))
    return meaning if meaning.label else replace(meaning, label=parameter.name.replace("_", " ").capitalize())


def choices_of(parameter: Field[Any]) -> tuple[Scalar, ...]:
    """Return all allowed values of a parameter; empty if other values are allowed."""
    return tuple(parameter.metadata.get("choices", ()))


def _docstring(strategy: type) -> str:
    """The author's docstring, empty if there is only the one that a dataclass generates."""
    text = cleandoc(strategy.__doc__ or "")
    return "" if text.startswith(f"{strategy.__name__}(") else text


EFFORT = "effort"
KINDS: Mapping[str, type] = {"temperature": float, "top_p": float, "max_tokens": int, EFFORT: str}
_RANGES: Mapping[str, tuple[int, int]] = {"temperature": (0, WARMEST), "top_p": (0, 1), "max_tokens": (1, MOST)}


def is_override(name: str) -> bool:
    """Whether a parameter overrides the sampling of one role, as ``critic.temperature`` does."""
    return "." in name


def overrides_for(roles: Sequence[str], parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The parameters that are overrides of one of these roles."""
    return {name: value for name, value in parameters.items() if is_override(name) and name.partition(".")[0] in roles}


def checked_override(roles: Sequence[str], name: str, value: Scalar) -> Scalar:
    """The value as it is recorded. Raises UnknownNameError for an unknown role or sampling parameter, PlanError."""
    role, _, what = name.partition(".")
    if role not in roles:
        raise UnknownNameError("role of this configuration", role, roles)
    if what not in KINDS:
        raise UnknownNameError("sampling parameter of a role", what, KINDS)
    if what == EFFORT:
        return checked_efforts(name, value)
    require_number(name, value, KINDS[what], _RANGES[what])
    return float(value) + 0.0 if KINDS[what] is float and isinstance(value, int | float) else value


def checked_efforts(name: str, value: Scalar) -> str:
    """One effort, or one for each model of a role, in its canonical text. Raises PlanError."""
    efforts = [effort.strip() for effort in str(value).split(",")]
    for effort in efforts:
        if not is_effort(effort):
            raise PlanError(
                f"{name} must be a reasoning effort ({', '.join(EFFORTS)}, or a whole number of tokens), not "
                f"{effort!r}. For a role with several models, write one effort for each model, separated by commas."
            )
    return efforts[0] if len({*efforts}) == 1 else ",".join(efforts)


def is_effort(text: str) -> bool:
    """Whether a text is a reasoning effort: one of the known words, or a number of tokens."""
    return text in EFFORTS or bool(re.fullmatch(r"[1-9]\d{0,8}", text, re.ASCII))


def effort_of(efforts: Scalar, member: int) -> str:
    """The effort of one model of a role."""
    listed = str(efforts).split(",")
    return listed[member] if len(listed) > 1 else listed[0]


def overrides_by_role(parameters: Mapping[str, Scalar]) -> dict[str, dict[str, Scalar]]:
    """The overrides among the parameters: role -> sampling parameter -> value."""
    overrides: dict[str, dict[str, Scalar]] = {}
    for name, value in parameters.items():
        if is_override(name):
            role, _, what = name.partition(".")
            overrides.setdefault(role, {})[what] = value
    return overrides


def with_overrides(sampling: Sampling, overrides: Mapping[str, Scalar], member: int = 0) -> Sampling:
    """The sampling of a strategy, with the overrides of a role in place of its values, for one model of the role."""
    if EFFORT in overrides:
        overrides = {**overrides, EFFORT: effort_of(overrides[EFFORT], member)}
    return replace(sampling, **overrides) if overrides else sampling  # type: ignore[arg-type]  # ``checked_override`` has checked them
