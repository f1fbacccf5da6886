"""What draws tell about the distribution of success chances, whatever its form: bounds by the profile likelihood.

The number of right draws on a problem is a mixture of binomial distributions: each problem has its own chance. Every
distribution of chances is allowed (Lindsay, "The Geometry of Mixture Likelihoods", Annals of Statistics 11 (1983)
86-94), so the bounds do not depend on an assumed form. Chances are on a grid that is fine near 0 and near 1.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from koderz_core.analysis.bootstrap import Array

DROP = 1.92
"""How much lower than the largest the logarithm of the likelihood of a distribution may be.

Half of the 95 % quantile of the chi-squared distribution with one degree of freedom: Venzon and Moolgavkar, Applied
Statistics 37 (1988) 87-94.
"""
CHANCES: Array = np.concatenate([[0.0], 1 / (1 + np.exp(-np.linspace(-9, 9, 151))), [1.0]])
_PRICES = np.geomspace(1, 1e4, 10)  # of the mean, in units of its range
_CYCLES = 60
_LONGEST = 64.0  # step of an accelerated cycle
_ACCURACY = 0.002  # of the range, by which bounds are moved outwards: more prices and cycles change them less
_SMALLEST = 1e-300


def profile_bounds(cells: Mapping[tuple[int, int], int], numbers: Array) -> tuple[Array, Array]:
    """The lowest and highest mean of each row of ``numbers``, which are at ``CHANCES``, over all likely distributions.

    ``cells``: how many problems have each pair of right draws and of all draws. A distribution is likely if the
    logarithm of its likelihood is at most ``DROP`` below the largest. The extreme mean for a likelihood maximizes the
    logarithm plus a price times the mean, which is a concave problem; many prices are solved at once, and then prices
    around those at which the likelihood drops by ``DROP``.
    """
    least, width = numbers.min(axis=1), np.ptp(numbers, axis=1)
    scaled = (numbers - least[:, None]) / width[:, None]
    both = np.concatenate([1 - scaled, scaled])  # the lowest mean of a number is the highest of the rest
    whole, largest = _maximized(cells, np.zeros((1, len(CHANCES))))
    prices = np.tile(_PRICES, (len(both), 1))
    for _ in range(2):
        rewards = prices[:, :, None] * both[:, None, :]
        parts, logs = _maximized(cells, rewards.reshape(-1, len(CHANCES)))
        drops = np.maximum.accumulate(largest - logs.reshape(prices.shape), axis=1).clip(0)
        means = (both[:, None, :] * parts.reshape(rewards.shape)).sum(axis=2)
        above = (drops < DROP).sum(axis=1).clip(1, len(_PRICES) - 1)
        ends = np.take_along_axis(prices, np.stack([above - 1, above], axis=1), axis=1)
        prices = np.geomspace(ends[:, 0], ends[:, 1], len(_PRICES), axis=1)
    starts = both @ whole[0]
    highest = np.array(
        [np.interp(DROP, [0.0, *drop], [start, *mean]) for drop, start, mean in zip(drops, starts, means, strict=True)]
    )
    rest, high = np.clip(highest + _ACCURACY, 0, 1).reshape(2, -1)
    return least + width * (1 - rest), least + width * high


def _maximized(cells: Mapping[tuple[int, int], int], rewards: Array) -> tuple[Array, Array]:
    """For each row of rewards the distribution that maximizes log-likelihood plus mean reward, and its log-likelihood.

    By the EM algorithm, in which a reward adds to the expected number of problems with a chance; it converges to the
    maximum, because rewards are not negative. Accelerated by SQUAREM (Varadhan and Roland, Scandinavian Journal of
    Statistics 35 (2008) 335-353).
    """
    problems = np.array(list(cells.values()), dtype=np.float64)
    chance = _chances_of(cells)

    def improved(parts: Array) -> Array:
        expected = parts * (np.einsum("bc,cs->bs", problems / _of(parts, chance), chance) + rewards)
        better: Array = expected / expected.sum(axis=1, keepdims=True)
        return better

    def worth(parts: Array) -> Array:
        total: Array = np.log(_of(parts, chance)) @ problems + (rewards * parts).sum(axis=1)
        return total

    parts = np.full(rewards.shape, 1 / len(CHANCES))
    for _ in range(_CYCLES):
        first = improved(parts)
        second = improved(first)
        step, turn = first - parts, second - 2 * first + parts
        length = np.sqrt((step**2).sum(axis=1) / np.maximum((turn**2).sum(axis=1), _SMALLEST)).clip(1, _LONGEST)
        far = np.maximum(parts + 2 * length[:, None] * step + length[:, None] ** 2 * turn, _SMALLEST)
        far /= far.sum(axis=1, keepdims=True)
        parts = improved(np.where((worth(far) >= worth(second))[:, None], far, second))
    return parts, np.log(_of(parts, chance)) @ problems


def _of(parts: Array, chance: Array) -> Array:
    """The chance of each cell (column) under each distribution. Not a matrix product: see ``bootstrap.sums``."""
    of: Array = np.maximum(np.einsum("bs,cs->bc", parts, chance), _SMALLEST)
    return of


def _chances_of(cells: Mapping[tuple[int, int], int]) -> Array:
    """The chance of each cell (row) at ``CHANCES``, divided by its largest, which may be too small for a number."""
    right, draws = (np.array(of, dtype=np.float64)[:, None] for of in zip(*cells, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(right > 0, right * np.log(CHANCES), 0.0)
        logs += np.where(draws > right, (draws - right) * np.log1p(-CHANCES), 0.0)
    chance: Array = np.exp(logs - logs.max(axis=1, keepdims=True))
    return chance
