"""Which figures agree and which do not, by kind, and how far two figures may differ."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

NEARLY = 1e-9  # of the figure: rounding
RAREST = 1e-6  # how often chance makes a difference that still counts as one of chance


@dataclass
class Kind:
    """How many figures of a kind agree, of how many, and how far apart they are at most.

    ``largest``: the largest difference, as a part of the figure. ``rarest``: of figures from resamples, how often
    chance alone makes such a difference.
    """

    agree: int = 0
    of: int = 0
    largest: float = 0.0
    rarest: float | None = None

    @property
    def said(self) -> str:
        apart = f"largest difference {self.largest:.1g}"
        rarest = self.rarest
        return apart if rarest is None else f"least likely difference: 1 in {1 / max(rarest, 1e-12):.0f}"


class Tally:
    """Which figures agree and which do not."""

    def __init__(self) -> None:
        self.kinds: defaultdict[str, Kind] = defaultdict(Kind)
        self.wrong: list[str] = []

    def same(self, kind: str, where: str, theirs: Any, ours: Any) -> None:  # Any: as JSON has it
        """Two numbers, names or sets that must be equal."""
        apart = 0.0 if theirs == ours else math.inf
        if isinstance(theirs, float) and isinstance(ours, float | int) and not math.isinf(theirs):
            apart = abs(theirs - ours) / (max(abs(theirs), abs(ours)) or 1.0)
            apart = 0.0 if math.isnan(theirs) and math.isnan(ours) else apart
        self.kinds[kind].largest = max(self.kinds[kind].largest, apart)
        self._note(kind, where, apart <= NEARLY, f"koderz {theirs}, recomputed {ours}")

    def bounds(self, kind: str, where: str, theirs: Sequence[float | None], ours: Sequence[float | None]) -> None:
        """Both ends of an interval."""
        for of_theirs, of_ours in zip(theirs, ours, strict=True):
            self.same(kind, where, of_theirs, of_ours)

    def chance(self, kind: str, where: str, theirs: float | None, chance: Callable[[float], float]) -> None:
        """A figure of resamples; ``chance``: how often other resamples differ as much. None: koderz has none."""
        found = 0.0 if theirs is None else chance(theirs)
        before = self.kinds[kind].rarest
        self.kinds[kind].rarest = found if before is None else min(before, found)
        self._note(
            kind, where, found >= RAREST, f"koderz {theirs}, as far off less than once in {1 / RAREST:.0f} times"
        )

    def report(self) -> int:
        """Print a line per kind, then the differences; 1 if there are any."""
        for kind, count in self.kinds.items():
            print(f"{kind:46} {count.agree:5} of {count.of:5} agree, {count.said}")
        for line in self.wrong:
            print(f"NOT THE SAME  {line}")
        return int(bool(self.wrong) or not self.kinds)

    def _note(self, kind: str, where: str, agrees: bool, said: str) -> None:
        self.kinds[kind].agree += agrees
        self.kinds[kind].of += 1
        if not agrees:
            self.wrong.append(f"{kind}, {where}: {said}")
