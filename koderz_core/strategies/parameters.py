"""What each parameter of a strategy changes, and what each role does, in one line: shown wherever one is chosen."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, replace
from inspect import cleandoc
from typing import Any

from koderz_core.errors import PlanError, UnknownNameError
from koderz_core.prompts.coding import PROMPTS
from koderz_core.records import Sampling, Scalar
from koderz_core.records.plans import POLICIES
from koderz_core.strategies.checkpoints import ADAPTIVE, INTERVAL

MOST = 10**9
"""The largest value of a number that has no smaller bound: beyond it nothing runs, and totals overflow."""
WARMEST = 2
"""The highest temperature that some provider takes."""

CHOICES: Mapping[str, tuple[str, ...]] = {
    "spec_prompt": PROMPTS,
    "checkpoint_when": (INTERVAL, ADAPTIVE),
    "policy": POLICIES,
}
"""Parameters that take one of a few words, the default first."""

ABOUT: Mapping[str, str] = {
    "max_iterations": "The most programs that are tried in one experiment.",
    "checkpoint_interval": "A review is due after every so many iterations.",
    "spec": "A spec of the problem is written first, and the coder is given it.",
    "checkpoints": "A reviewer looks at the attempts so far, and the coder is given its guidance.",
    "chain_of_thought": "The coder may reason in words before its program.",
    "temperature": "How random the coder's answers are, 0 the least; retries may have a temperature of their own.",
    "retry_temperature": "How random attempts after the first are; at 0 a small model repeats itself.",
    "max_tokens": "The most tokens of one answer of the coder; what is longer is cut off.",
    "spec_prompt": "How much of a spec: minimal says what is to be done, detailed also edge cases and a plan.",
    "reuse_spec": "A spec that the same model wrote of the same problem before is taken, if there is one.",
    "previous_error": "The coder is told what the tests said of its last program.",
    "history_tokens": "Room in a prompt for attempts before the last, in tokens.",
    "escape_after": "After so many repeated programs in a row the next prompt shows none, but for a new review.",
    "checkpoint_when": "interval: a review after every so many iterations; adaptive: sooner where attempts get stuck.",
    "review_tokens": "The most tokens of a spec or a review; what is longer is cut off.",
    "disclosure": "The first review is also asked for a strategy, the second for test criteria.",
    "lessons": "The coder is told what helped with failures on other problems; see koderz cortex lessons.",
    "examples": "The coder is shown two other problems with programs that solved them in earlier benchmarks.",
    "steps": "The temperature of each attempt, such as 0,0.3*2,0.5*2, instead of always the same.",
    "threshold": "The share of the tester's own tests that a program must pass to be accepted.",
    "tests": "The most tests or calls that the tester writes; none of them counts for the score.",
    "samples": "How many programs each coder is asked for.",
    "judge": "A judge picks where a vote by what the programs do ends in a tie.",
    "agents": "The personas that debate, by name, with commas between them.",
    "rounds": "After the first, every speaker sees what all others said in the round before.",
    "turn_tokens": "The most tokens of one turn in the debate; what is longer is cut off.",
    "shown_tokens": "Room in a prompt for the others' positions, in tokens.",
    "personas": "Personas of your own: a .yaml file or YAML text. They are added to those that come with koderz.",
    "weights": "What the parts of CodeBLEU count: runs of words, those with keywords, syntax, data flow.",
    "policy": "What a coder is chosen by: solved, seconds, cost, room for tokens, or the order they are named in.",
    "width": "How many programs go on from one level to the next: the best by gate tests, none of them twice.",
    "branches": "In how many ways each program that goes on is mended.",
    "depth": "How many levels there are, that of the first programs among them.",
    "normalise": "Programs are compared in one layout, without comments and docstrings.",
}
"""By name: a parameter means the same in every strategy that has it."""

OF_ROLES: Mapping[str, str] = {
    "spec": "Writes a spec of the problem before anything is programmed.",
    "coder": "Writes the programs.",
    "reviewer": "Reviews the attempts so far and advises the coder.",
    "tester": "Writes tests or calls of its own; none of them counts for the score.",
    "judge": "Decides: among equally good programs, or from what was said.",
    "speaker": "Speaks in a debate, as each of its personas.",
    "critic": "Says what is wrong with a program.",
    "refiner": "Corrects a program by what the critic said of it.",
}
"""By name: a role does the same in every strategy that asks it."""


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
    told = next((found for one in paragraphs if (found := _CALLS.search(one))), None)
    calls, source = (told["calls"], told["source"] or "") if told else ("", "")
    doc = own.partition("\n")[0].partition("Calls:")[0]
    return Description(doc.replace("``", "").strip(), calls, source)


def about(parameter: Field[Any]) -> str:
    """What a parameter changes, in one line: what its field says, else what it means in every strategy."""
    return str(parameter.metadata.get("about", ABOUT.get(parameter.name, "")))


def choices_of(parameter: Field[Any]) -> tuple[str, ...]:
    """All the words that a parameter takes, the default first; none if that is open."""
    return tuple(parameter.metadata.get("choices", CHOICES.get(parameter.name, ())))


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
