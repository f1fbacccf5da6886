"""Gate policies by name: what a loop may run and stop on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from koderz_core.errors import PlanError, UnknownNameError

ALL_TESTS, EXAMPLES, SPLIT = "tests", "examples", "split"
GATES = (ALL_TESTS, EXAMPLES, "split:0.5")
"""All of them; the fraction of the last may be another."""

VERSIONS = {EXAMPLES: "2", SPLIT: "2"}
"""Of how a gate is made of a problem; another one makes another benchmark."""


@dataclass(frozen=True, slots=True)
class Gate:
    """``fraction`` of the base tests, where a gate is a part of them."""

    kind: Literal["tests", "examples", "split"]
    fraction: float = 1.0

    @property
    def name(self) -> str:
        """As ``gate_of`` reads it; the same gate has one name."""
        return f"{self.kind}:{self.fraction:g}" if self.kind == "split" else self.kind


def gate_of(text: str) -> Gate:
    """The gate of that name. Raises UnknownNameError, and PlanError for a fraction that is none."""
    kind, colon, fraction = text.strip().partition(":")
    if kind == "split" and colon:
        return Gate("split", _fraction(text, fraction))
    if text.strip() in ("tests", "examples"):
        return Gate("tests" if kind == "tests" else "examples")
    raise UnknownNameError("gate", text, GATES)


def _fraction(text: str, fraction: str) -> float:
    try:
        read = round(float(fraction), 6)
    except ValueError:
        read = 0.0
    if not 0 < read < 1:
        raise PlanError(f"{text!r} is no gate: the fraction of base tests lies between 0 and 1, as in split:0.5.")
    return read
