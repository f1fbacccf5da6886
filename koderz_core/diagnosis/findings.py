"""What a diagnosis is made of: one frozen record per thing that was looked at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

State = Literal["ready", "absent", "missing"]
SIGNS: Mapping[State, str] = {"ready": "✓ ready", "absent": "· not here", "missing": "✗ missing"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. ``absent``: koderz works without it; ``missing``: it is needed.

    ``cure``: what a person does about it, "" where there is nothing to do. No text ever holds a key.
    """

    area: str
    subject: str
    state: State
    said: str
    cure: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings, area by area."""

    findings: tuple[Finding, ...]

    @property
    def missing(self) -> tuple[Finding, ...]:
        """What is needed and not there."""
        return tuple(finding for finding in self.findings if finding.state == "missing")

    def of(self, areas: Iterable[str]) -> tuple[Finding, ...]:
        """The findings in these areas."""
        wanted = set(areas)
        return tuple(finding for finding in self.findings if finding.area in wanted)
