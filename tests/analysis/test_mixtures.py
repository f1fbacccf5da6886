"""Bounds of what a distribution of success chances implies, without an assumption about its form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

from koderz_core.analysis.mixtures import CHANCES, DROP, profile_bounds

Cells = Mapping[tuple[int, int], int]


def by_linear_programs(cells: Cells, number: np.ndarray) -> float:
    """The largest mean, from outside: the likelihood is concave, so tangents at earlier solutions bound it."""
    problems = np.array(list(cells.values()), dtype=float)
    chance = np.array([binom.pmf(right, n, CHANCES) for right, n in cells])
    parts = np.full(len(CHANCES), 1 / len(CHANCES))
    for _ in range(4_000):  # plain EM
        parts = parts * ((problems / (chance @ parts)) @ chance) / problems.sum()
    largest, cuts, limits = problems @ np.log(chance @ parts), [], []
    for _ in range(45):
        cuts.append(-(problems / (chance @ parts)) @ chance)
        limits.append(problems @ np.log(chance @ parts) - problems.sum() - largest + DROP)
        found = linprog(-number, cuts, limits, np.ones((1, len(CHANCES))), [1.0])
        parts = 0.5 * parts + 0.5 * np.maximum(found.x, 0)  # a step all the way would leave cells without chance
    return float(-found.fun)


def test_bounds_are_those_of_linear_programs():
    random = np.random.default_rng(2)
    cells = Counter((int(c), 5) for c in random.binomial(5, random.beta(0.5, 1.0, 60)))
    for number in (1 - (1 - CHANCES) ** 10, 1 - (1 - CHANCES) ** 50):
        (low,), (high,) = profile_bounds(cells, number[None, :])
        assert high == pytest.approx(by_linear_programs(cells, number), abs=0.005)
        assert 1 - low == pytest.approx(by_linear_programs(cells, 1 - number), abs=0.005)


def test_problems_that_are_never_solved_and_rarely_solved_are_not_distinguished_by_few_draws():
    """Half of the problems were always solved; the others failed in 5 draws, so their chance may be small or 0."""
    (low,), (high,) = profile_bounds({(5, 5): 50, (0, 5): 50}, (1 - (1 - CHANCES) ** 50)[None, :])
    assert low == pytest.approx(0.39, abs=0.02)
    assert high > 0.62


def test_the_mean_of_the_draws_is_inside_and_a_part_that_was_not_drawn_may_exist():
    (low, none), (high, some) = profile_bounds({(1, 4): 30, (2, 4): 30}, np.array([CHANCES, CHANCES == 1], dtype=float))
    assert low < 0.375 < high
    assert none == 0
    assert some == pytest.approx(1 - np.exp(-DROP / 60), abs=0.005)
