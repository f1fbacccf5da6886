"""Gate policies by name: the tests that a loop may run and stop on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from koderz_core.errors import PlanError, UnknownNameError

ALL_TESTS, EXAMPLES, SPLIT = "tests", "examples", "split"
GATES = (ALL_TESTS, EXAMPLES, "split:0.5")
"""All policies; the last one accepts other fractions."""

VERSIONS = {EXAMPLES: "2", SPLIT: "2"}
"""Versions of the rules that make a gate. A benchmark's id depends on them."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate policy; ``fraction`` is the share of base tests in a ``split`` gate."""

    kind: Literal["tests", "examples", "split"]
    fraction: float = 1.0

    @property
    def name(self) -> str:
        """The only name of this gate, as ``gate_of`` reads it."""
        return f"{self.kind}:{self.fraction:g}" if self.kind == "split" else self.kind


def gate_of(text: str) -> Gate:
    """The gate of that name. Raises UnknownNameError, and PlanError for a wrong fraction."""
    kind, colon, number = text.strip().partition(":")
    if kind == "split" and colon:
        try:
            fraction = round(float(number), 6)
        except ValueError:
            fraction = 0.0
        if not 0 < fraction < 1:
            raise PlanError(f"{text!r} is not a gate: write a fraction between 0 and 1, such as split:0.5.")
        return Gate("split", fraction)
    if text.strip() in ("tests", "examples"):
        return Gate("tests" if kind == "tests" else "examples")
    raise UnknownNameError("gate", text, GATES)
