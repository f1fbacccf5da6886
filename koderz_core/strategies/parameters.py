"""What each parameter of a strategy changes, and what each role does, in one line: shown wherever one is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from koderz_core.errors import PlanError
from koderz_core.prompts.spec import PROMPTS
from koderz_core.records import Scalar
from koderz_core.records.selections import POLICIES
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
