"""Choices of a configuration that need no learning, made on other folds than they are judged on.

``shares``: the share of repeats that each configuration (row) solved of each problem (column). Folds are of problems
(Stone, Journal of the Royal Statistical Society B 36 (1974) 111-147), and the results are means over several divisions
into folds, so that no result depends on one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from koderz_core.analysis.bootstrap import Array

FOLDS, DIVISIONS = 10, 20
_NEARLY = 1e-9
_Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Folds:
    """Divisions of problems into folds. ``orders``: of problems, one per division; ``edges``: of the folds in each."""

    orders: _Places
    edges: _Places

    def each(self) -> Iterator[_Places]:
        """The problems of every fold of every division."""
        for order in self.orders:
            for start, end in pairwise(self.edges.tolist()):
                yield order[start:end]


def folds_of(problems: int, seed: int = 0) -> Folds:
    """Folds of nearly equal sizes. The same seed gives the same folds."""
    random = np.random.default_rng(seed)
    orders = np.array([random.permutation(problems) for _ in range(DIVISIONS)], dtype=np.intp)
    edges = np.linspace(0, problems, min(FOLDS, problems) + 1).round().astype(np.intp)
    return Folds(orders, edges)


@dataclass(frozen=True, slots=True)
class Judged:
    """By problem, the success of what the other folds chose. ``stable``: all folds made the same choice."""

    solved: Array
    stable: bool


def single(shares: Array, folds: Folds) -> Judged:
    """The configuration that solves most of the other folds; equals count equally."""
    total, solved, chosen = shares.sum(axis=1), np.zeros(shares.shape[1]), set()
    for fold in folds.each():
        others = total - shares[:, fold].sum(axis=1)
        best = np.flatnonzero(others >= others.max() - _NEARLY)
        solved[fold] += shares[best][:, fold].mean(axis=0)
        chosen.add(tuple(best.tolist()))
    return Judged(solved / len(folds.orders), len(chosen) == 1)


def union_of_pairs(shares: Array, folds: Folds) -> Judged:
    """The oracle of the two configurations that solve most of the other folds together."""
    solved, chosen = np.zeros(shares.shape[1]), set()
    missed = 1 - shares
    whole = np.einsum("ap,bp->ab", missed, missed)
    for fold in folds.each():
        part = missed[:, fold]
        others = whole - np.einsum("ap,bp->ab", part, part)
        np.fill_diagonal(others, np.inf)
        a, b = np.nonzero(others <= others.min() + _NEARLY)
        solved[fold] += (1 - part[a] * part[b]).mean(axis=0)
        chosen.add((tuple(a.tolist()), tuple(b.tolist())))
    return Judged(solved / len(folds.orders), len(chosen) == 1)


def by_length(shares: Array, lengths: Array, folds: Folds) -> Judged:
    """The rule of ``length_rule`` that is the best on the other folds."""
    solved, chosen = np.zeros(shares.shape[1]), set()
    for fold in folds.each():
        others = np.ones(shares.shape[1], dtype=bool)
        others[fold] = False
        short, long, characters = length_rule(shares[:, others], lengths[others])
        solved[fold] += shares[np.where(lengths[fold] > characters, long, short), fold]
        chosen.add((short, long, characters))
    return Judged(solved / len(folds.orders), len(chosen) == 1)


def length_rule(shares: Array, lengths: Array) -> tuple[int, int, int]:
    """The configurations for short and for long prompts, and the longest short prompt, that solve most together.

    Of equal rules, the first one that does not depend on the length, else the one with the shortest limit.
    """
    order = np.argsort(lengths, kind="stable")
    ordered = lengths[order]
    up_to = shares[:, order].cumsum(axis=1)
    above = up_to[:, -1:] - up_to
    total = up_to.max(axis=0) + above.max(axis=0)
    ends = np.append(ordered[1:] > ordered[:-1], True)  # a limit cannot divide prompts of the same length
    total[~ends] = -np.inf
    at = len(ordered) - 1 if total[-1] >= total.max() - _NEARLY else int((total >= total.max() - _NEARLY).argmax())
    short = int(up_to[:, at].argmax())
    return short, short if at == len(ordered) - 1 else int(above[:, at].argmax()), int(ordered[at])
