"""Folds: what is chosen or fitted on some problems is judged on the others. The only division into folds in koderz.

Cross-validation as in Stone, Journal of the Royal Statistical Society B 36 (1974) 111-147.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Fold:
    """Places of problems: ``held`` judge what was chosen or fitted on the ``others``.

    Both are sorted. Without a group, or with a single one, there is nothing to divide: a fold then has no ``others``.
    """

    others: Places
    held: Places


def folds_of(groups: Sequence[int], folds: int, seed: int = 0, divisions: int = 1) -> Iterator[Fold]:
    """Divide the problems by chance, the same way for the same seed; no result of a group is in two folds.

    ``groups``: by problem, equal for problems that count as one. Folds have nearly equal numbers of groups, and there
    are never more folds than groups. ``divisions``: repeat with other divisions, so that no result depends on one.
    """
    names, group = np.unique(np.asarray(groups, dtype=np.intp), return_inverse=True)
    edges = np.linspace(0, len(names), min(folds, len(names)) + 1).round()
    random = np.random.default_rng(seed)
    for _ in range(divisions):
        place = np.empty(len(names), dtype=np.intp)
        place[random.permutation(len(names))] = np.arange(len(names))
        fold = np.searchsorted(edges[1:], place, side="right")[group]
        for number in range(len(edges) - 1):
            yield Fold(np.flatnonzero(fold != number), np.flatnonzero(fold == number))
