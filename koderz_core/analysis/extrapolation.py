"""pass@k and pass^k for more draws per problem than were made: a beta-binomial fit with masses at 0 and 1.

Each problem has its own chance that a draw is right: 0 or 1 with a mass each, else from a beta distribution. Sources:
Kazdan et al., "Efficient Prediction of Pass@k Scaling in Large Language Models", arXiv 2510.05197 (2025), for the fit
of pass@k; Verine et al., "Estimating Pass@k from Fewer Samples with Hierarchical Bayesian Priors", workshop CTB at ICML
(2026), for the mass at 0. The mass at 1 is for pass^k what the mass at 0 is for pass@k.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import lgamma
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from koderz_core.analysis.bootstrap import Array
from koderz_core.analysis.rates import Interval

Refusal = Literal["few draws", "few problems", "no variation"]
FEWEST_DRAWS = 3
FEWEST_PROBLEMS = 18
DROP = 1.92
"""Half of the 95 % quantile of the chi-squared distribution with one degree of freedom."""
_SLACK = (
    2.0  # the next grid also covers points whose likelihood is lower by this, so that none of its edges cuts a region
)
_ROUNDS = 4
STEPS = 28  # points of the grid along each of its four axes
_WIDEST = ((-8.0, 8.0), (-8.0, 8.0), (0.0, 1.0), (0.0, 1.0))
_logarithms = np.vectorize(lgamma, otypes=[np.float64])
"""Of the gamma function."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The distributions of success chances that fit the draws almost as well as the best one, which is at ``best``.

    ``a`` and ``b``: the parameters of beta distributions. Each distribution has one of them, by its place in ``beta``,
    and a mass at ``zero`` and at ``one``. Their log-likelihood is at most ``DROP`` below the largest one, so the range
    of any number over them is its 95 % interval by the profile likelihood (Venzon and Moolgavkar, Applied Statistics 37
    (1988) 87-94). ``likelihood``: the largest logarithm, without binomial coefficients.
    """

    a: Array
    b: Array
    beta: NDArray[np.intp]
    zero: Array
    one: Array
    best: int
    likelihood: float

    def any_passes(self, k: int) -> Interval:
        """pass@k: the chance that at least one of k draws is right."""
        return self._range(1 - self._none(k))

    def all_pass(self, k: int) -> Interval:
        """pass^k: the chance that all k draws are right."""
        return self._range(self.one + (1 - self.zero - self.one) * np.exp(_log_chance(self.a, self.b, k, k))[self.beta])

    def gain(self, k: int) -> Interval:
        """What one more draw adds to pass@k."""
        return self._range(self._none(k) - self._none(k + 1))

    def _none(self, k: int) -> Array:
        none: Array = self.zero + (1 - self.zero - self.one) * np.exp(_log_chance(self.a, self.b, k, 0))[self.beta]
        return none

    def _range(self, values: Array) -> Interval:
        return Interval(float(values[self.best]), float(values.min()), float(values.max()))


def refusal(counts: Mapping[str, tuple[int, int]]) -> Refusal | None:
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


def fit(counts: Mapping[str, tuple[int, int]], steps: int = STEPS) -> Fit:
    """All distributions that fit draws by problem (right, all), which ``refusal`` does not refuse.

    A grid is narrowed to the region of these distributions several times. Its axes are the logits of the beta
    distribution's mean and of its correlation 1 / (a + b + 1), the weight of the beta distribution, and the part of the
    mass at 0 in the other weight. The region can be long and curved, because different parameters can have nearly the
    same likelihood; a grid covers all of it. ``steps``: its points along each axis.
    """
    cells = Counter(counts.values())
    box: Sequence[tuple[float, float]] = _WIDEST
    for last in (*(False,) * (_ROUNDS - 1), True):
        axes = [np.linspace(low, high, steps) for low, high in box]
        a, b = _betas(*axes[:2])
        zero, one = _masses(*axes[2:])
        logs = log_likelihood(cells, (a, b), (zero, one))
        largest = float(logs.max())
        beta, mass = np.nonzero(logs >= largest - (DROP if last else DROP + _SLACK))
        places = (*np.divmod(beta, steps), *np.divmod(mass, steps))
        box = [_around(*of) for of in zip(axes, places, _WIDEST, strict=True)]
    return Fit(a, b, beta, zero[mass], one[mass], int(np.argmax(logs[beta, mass])), largest)


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
