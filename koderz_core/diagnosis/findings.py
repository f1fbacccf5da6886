"""The results of a diagnosis: one record per checked object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

State = Literal["ready", "absent", "missing"]
SIGNS: Mapping[State, str] = {"ready": "✓ ready", "absent": "· not found", "missing": "✗ missing"}


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. ``absent``: koderz works without it; ``missing``: koderz needs it.

    ``said``: the result in words; ``cure``: what the user can do, "" if nothing is needed. No text contains a key.
    """

    area: str
    subject: str
    state: State
    said: str
    cure: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings, by area."""

    findings: tuple[Finding, ...]

    @property
    def missing(self) -> tuple[Finding, ...]:
        """The findings that koderz needs and lacks."""
        return tuple(finding for finding in self.findings if finding.state == "missing")

    def of(self, areas: Iterable[str]) -> tuple[Finding, ...]:
        """The findings in these areas."""
        wanted = set(areas)
        return tuple(finding for finding in self.findings if finding.area in wanted)
