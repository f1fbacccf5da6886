"""When something of an experiment went on: what reports of time are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Phase = Literal["waiting", "calls", "tests", "scoring", "journal"]
"""Between the attempts of a call; for answers; for the gate; for the score; all that is left: journal, prompts."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time: ``phase`` None is the experiment itself, whole. ``at``: seconds since 1970, its beginning."""

    experiment: str
    label: str
    phase: Phase | None
    at: float
    seconds: float
