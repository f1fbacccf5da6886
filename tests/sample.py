"""Long lists of cases run as a sample by default and whole with ``pytest --whole``; what is left out is counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

Item = TypeVar("Item")
SHARE = 4


@dataclass
class Sample:
    """How much is tried in this process. ``left_out``: the number of cases by the name of their list."""

    whole: bool = False
    left_out: dict[str, int] = field(default_factory=dict)

    def add(self, left_out: dict[str, int]) -> None:
        """What another process left out of the same lists."""
        for name, number in left_out.items():
            self.left_out[name] = max(number, self.left_out.get(name, 0))

    def summary(self) -> str:
        """One line for the end of the run; empty if nothing was left out."""
        if not self.left_out:
            return ""
        parts = ", ".join(f"{number} {name}" for name, number in sorted(self.left_out.items()))
        return f"{sum(self.left_out.values())} cases were left out, pytest --whole runs them: {parts}"


SAMPLE = Sample()


def thinned(items: Sequence[Item], name: str, always: Iterable[Item] = ()) -> list[Item]:
    """Every fourth, so that a list that goes from easy to hard is tried over its whole length, and those in ``always``.

    ``name`` says in the plural what the items are.
    """
    if SAMPLE.whole:
        return list(items)
    needed = list(always)
    kept = [item for place, item in enumerate(items) if place % SHARE == 0 or item in needed]
    SAMPLE.add({name: len(items) - len(kept)})
    return kept
