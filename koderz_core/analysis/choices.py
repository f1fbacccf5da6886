"""Choices of a configuration that need no learning, made on other folds than they are judged on.

``shares``: the share of repeats that each configuration (row) solved of each problem (column). The results are means
over several divisions into folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from koderz_core.analysis.bootstrap import Array
from koderz_core.analysis.folds import Fold, folds_of

FOLDS, DIVISIONS = 10, 20
_NEARLY = 1e-9


def divided(problems: int, seed: int = 0) -> tuple[Fold, ...]:
    """The folds that every choice is judged on."""
    return tuple(folds_of(range(problems), FOLDS, seed, DIVISIONS))


@dataclass(frozen=True, slots=True)
class Judged:
    """By problem, the success of what the other folds chose. ``stable``: all folds made the same choice."""

    solved: Array
    stable: bool


def single(shares: Array, folds: Sequence[Fold]) -> Judged:
    """The configuration that solves most of the other folds; equals count equally."""
    total, solved, chosen = shares.sum(axis=1), np.zeros(shares.shape[1]), set()
    for fold in folds:
        others = total - shares[:, fold.held].sum(axis=1)
        best = np.flatnonzero(others >= others.max() - _NEARLY)
        solved[fold.held] += shares[best][:, fold.held].mean(axis=0)
        chosen.add(tuple(best.tolist()))
    return Judged(solved / DIVISIONS, len(chosen) == 1)


def union_of_pairs(shares: Array, folds: Sequence[Fold]) -> Judged:
    """The oracle of the two configurations that solve most of the other folds together."""
    solved, chosen = np.zeros(shares.shape[1]), set()
    missed = 1 - shares
    whole = np.einsum("ap,bp->ab", missed, missed)
    for fold in folds:
        part = missed[:, fold.held]
        others = whole - np.einsum("ap,bp->ab", part, part)
        np.fill_diagonal(others, np.inf)
        a, b = np.nonzero(others <= others.min() + _NEARLY)
        solved[fold.held] += (1 - part[a] * part[b]).mean(axis=0)
        chosen.add((tuple(a.tolist()), tuple(b.tolist())))
    return Judged(solved / DIVISIONS, len(chosen) == 1)


def by_length(shares: Array, lengths: Array, folds: Sequence[Fold]) -> Judged:
    """The rule of ``length_rule`` that is the best on the other folds."""
    solved, chosen = np.zeros(shares.shape[1]), set()
    for fold in folds:
        short, long, characters = length_rule(shares[:, fold.others], lengths[fold.others])
        solved[fold.held] += shares[np.where(lengths[fold.held] > characters, long, short), fold.held]
        chosen.add((short, long, characters))
    return Judged(solved / DIVISIONS, len(chosen) == 1)


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
