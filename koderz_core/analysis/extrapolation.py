"""pass@k and pass^k for more draws per problem than were made: a beta-binomial fit with masses at 0 and 1.

Each problem has its own chance that a draw is right: 0 or 1 with a mass each, else from a beta distribution. Sources:
Kazdan et al., "Efficient Prediction of Pass@k Scaling in Large Language Models", arXiv 2510.05197 (2025), for the fit
of pass@k; Verine et al., "Estimating Pass@k from Fewer Samples with Hierarchical Bayesian Priors", workshop CTB at ICML
(2026), for the mass at 0. The mass at 1 is for pass^k what the mass at 0 is for pass@k. The intervals are those of
``mixtures``: they do not assume a beta distribution, because a few draws cannot show whether chances have one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, lgamma
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from koderz_core.analysis.bootstrap import Array
from koderz_core.analysis.mixtures import CHANCES, profile_bounds
from koderz_core.analysis.rates import Interval

Counts = Mapping[str, tuple[int, int]]
Refusal = Literal["few draws", "few problems", "no variation"]
FEWEST_DRAWS = 3
FEWEST_PROBLEMS = 18
_STEPS = 20  # points of the grid along each of its four axes
_SLACKS = (4.0, 2.0, 1.0, 0.5)
"""Each grid is narrowed to the points whose log-likelihood is lower than the largest by at most this."""
_WIDEST = ((-8.0, 8.0), (-8.0, 8.0), (0.0, 1.0), (0.0, 1.0))
_logarithms = np.vectorize(lgamma, otypes=[np.float64])
"""Of the gamma function."""


@dataclass(frozen=True, slots=True)
class Extrapolation:
    """pass@k (``any_passes``) and pass^k (``all_pass``) by k, and what one draw more than were made adds to pass@k."""

    any_passes: Mapping[int, Interval]
    all_pass: Mapping[int, Interval]
    gain: Interval


@dataclass(frozen=True, slots=True)
class Fit:
    """The likeliest distribution of success chances: a beta distribution, and the masses at ``zero`` and at ``one``.

    ``likelihood``: its logarithm, without binomial coefficients.
    """

    a: float
    b: float
    zero: float
    one: float
    likelihood: float

    def any_passes(self, k: int) -> float:
        """pass@k: the chance that at least one of k draws is right."""
        return 1 - self.zero - (1 - self.zero - self.one) * _moment(self.b, self.a, k)

    def all_pass(self, k: int) -> float:
        """pass^k: the chance that all k draws are right."""
        return self.one + (1 - self.zero - self.one) * _moment(self.a, self.b, k)


def refusal(counts: Counts) -> Refusal | None:
    """Why these draws, by problem (right, all), are too few for a fit; None if they are not.

    Two draws per problem determine only the mean and the variance of the chances, which cannot distinguish the parts of
    the distribution. With fewer problems, too few of them are of each kind. If all draws agree, every distribution with
    chances near 0 (or near 1) fits.
    """
    enough = [n for _, n in counts.values() if n >= FEWEST_DRAWS]
    if not enough:
        return "few draws"
    if len(enough) < FEWEST_PROBLEMS:
        return "few problems"
    right, draws = (sum(numbers) for numbers in zip(*counts.values(), strict=True))
    return None if 0 < right < draws else "no variation"


def extrapolation(counts: Counts, ks: Sequence[int], made: int) -> Extrapolation:
    """From draws by problem (right, all), which ``refusal`` does not refuse; ``made``: the draws before one more.

    If beta distributions fit badly, an estimate can be outside its interval; it is then moved to the nearer end.
    """
    found = fit(counts)
    estimates = [*map(found.any_passes, ks), *map(found.all_pass, ks)]
    estimates.append(found.any_passes(made + 1) - found.any_passes(made))
    numbers = [*(1 - (1 - CHANCES) ** k for k in ks), *(CHANCES**k for k in ks), CHANCES * (1 - CHANCES) ** made]
    bounds = zip(estimates, *profile_bounds(_cells(counts), np.array(numbers)), strict=True)
    *rates, gain = (
        Interval(min(max(value, float(low)), float(high)), float(low), float(high)) for value, low, high in bounds
    )
    return Extrapolation(
        dict(zip(ks, rates[: len(ks)], strict=True)), dict(zip(ks, rates[len(ks) :], strict=True)), gain
    )


def fit(counts: Counts) -> Fit:
    """The likeliest distribution for draws by problem (right, all).

    Searched on grids that are narrowed several times, because different parameters can have nearly the same likelihood.
    The axes are the logits of the beta distribution's mean and of its correlation 1 / (a + b + 1), the weight of the
    beta distribution, and the part of the mass at 0 in the other weight.
    """
    cells = _cells(counts)
    box: Sequence[tuple[float, float]] = _WIDEST
    for slack in _SLACKS:
        axes = [np.linspace(low, high, _STEPS) for low, high in box]
        a, b = _betas(*axes[:2])
        zero, one = _masses(*axes[2:])
        logs = log_likelihood(cells, (a, b), (zero, one))
        beta, mass = np.nonzero(logs >= logs.max() - slack)
        places = (*np.divmod(beta, _STEPS), *np.divmod(mass, _STEPS))
        box = [_around(*of) for of in zip(axes, places, _WIDEST, strict=True)]
    best, part = np.unravel_index(int(np.argmax(logs)), logs.shape)
    return Fit(*map(float, (a[best], b[best], zero[part], one[part], logs.max())))


def log_likelihood(
    cells: Mapping[tuple[int, int], int], betas: tuple[Array, Array], masses: tuple[Array, Array]
) -> Array:
    """Of each beta distribution (row) with each pair of masses (column), without binomial coefficients.

    ``cells``: how many problems have each pair of right draws and of all draws.
    """
    (a, b), (zero, one) = betas, masses
    weight = 1 - zero - one
    logs = np.zeros((len(a), len(zero)))
    between, inner = 0, np.zeros(len(a))
    with np.errstate(divide="ignore"):  # a weight of 0 fits no problem whose draws differ
        for (right, n), problems in cells.items():
            chance = _log_chance(a, b, n, right)
            if 0 < right < n:
                inner, between = inner + problems * chance, between + problems
            else:
                logs += problems * np.log((one if right else zero) + weight * np.exp(chance)[:, None])
        return logs + inner[:, None] + (between * np.log(weight) if between else 0.0)


def _cells(counts: Counts) -> Counter[tuple[int, int]]:
    """How many problems have each pair of right draws and of all draws, of the problems with a draw."""
    return Counter(cell for cell in counts.values() if cell[1])


def _moment(a: float, b: float, k: int) -> float:
    """The mean of the k-th power under a beta distribution."""
    return exp(lgamma(a + k) - lgamma(a) - lgamma(a + b + k) + lgamma(a + b))


def _log_chance(a: Array, b: Array, n: int, right: int) -> Array:
    """The logarithm of the beta-binomial chance that the first ``right`` of n draws are right and the others wrong."""
    chance: Array = (
        _logarithms(a + right)
        - _logarithms(a)
        + _logarithms(b + n - right)
        - _logarithms(b)
        - _logarithms(a + b + n)
        + _logarithms(a + b)
    )
    return chance


def _betas(mean: Array, correlation: Array) -> tuple[Array, Array]:
    """The parameters a and b at all pairs of logits."""
    share, total = np.meshgrid(1 / (1 + np.exp(-mean)), np.exp(-correlation), indexing="ij")
    return (share * total).ravel(), ((1 - share) * total).ravel()


def _masses(weight: Array, part: Array) -> tuple[Array, Array]:
    """The masses at 0 and at 1 at all pairs of the weight of the beta distribution and the part of the mass at 0."""
    rest, at_0 = np.meshgrid(1 - weight, part, indexing="ij")
    return (rest * at_0).ravel(), (rest * (1 - at_0)).ravel()


def _around(axis: Array, places: NDArray[np.intp], widest: tuple[float, float]) -> tuple[float, float]:
    """The part of an axis that holds all ``places``, with one step more on both sides."""
    step = axis[1] - axis[0]
    return max(widest[0], float(axis[places.min()] - step)), min(widest[1], float(axis[places.max()] + step))
