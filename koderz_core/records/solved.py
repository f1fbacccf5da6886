"""Programs that later experiments may be shown as examples."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Solved:
    """A program that solved its problem, and the experiment that wrote it. Hostile text."""

    experiment: str
    problem: str
    dataset: str
    code: str
