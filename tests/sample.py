"""Long lists of cases run as a sample by default and whole with ``pytest --whole``; what is left out is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import pytest

Item = TypeVar("Item")
SHARE = 6


@dataclass
class Sample:
    """How much is tried in this process. ``left_out``: the number of cases by the name of their list."""

    whole: bool = False
    left_out: dict[str, int] = field(default_factory=dict)

    def add(self, left_out: Mapping[str, int]) -> None:
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


def only_whole(name: str) -> pytest.MarkDecorator:
    """Marks a long test that only ``--whole`` runs: shorter ones try most of it. ``name`` as in ``thinned``."""
    return pytest.mark.only_whole(name)


def left_for_whole(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests that this run leaves out, which are removed from ``items``."""
    if SAMPLE.whole:
        return []
    marked = [(item, marker) for item in items if (marker := item.get_closest_marker("only_whole"))]
    SAMPLE.add(Counter(marker.args[0] for _, marker in marked))
    items[:] = [item for item in items if not item.get_closest_marker("only_whole")]
    return [item for item, _ in marked]


def thinned(items: Sequence[Item], name: str, always: Iterable[Item] = (), share: int = SHARE) -> list[Item]:
    """One of ``share``, so that a list that goes from easy to hard is tried over its whole length, and ``always``.

    ``name`` says in the plural what the items are.
    """
    if SAMPLE.whole:
        return list(items)
    needed = list(always)
    kept = [item for place, item in enumerate(items) if place % share == 0 or item in needed]
    SAMPLE.add({name: len(items) - len(kept)})
    return kept
