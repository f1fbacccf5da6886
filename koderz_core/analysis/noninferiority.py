"""Whether one configuration matches another within a margin, in success and in cost, and the power to show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import ceil, floor, inf
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, TypeVar

from koderz_core.analysis.bounds import completed, on_common_problems
from koderz_core.analysis.multiplicity import holm_of_known
from koderz_core.analysis.power import likely_counts, log_factorials
from koderz_core.analysis.rates import by_problem
from koderz_core.records.trials import Trial

if TYPE_CHECKING:  # numpy is slow to import, and few commands need it
    import numpy as np
    from numpy.typing import NDArray

Number = TypeVar("Number", float, "NDArray[np.float64]")
MARGIN = 0.1
"""The margin if none is chosen, as a share of problems."""
LEVEL = 0.025
"""The level of the one-sided tests: "matches" means that the lower bound of the 95 % interval is above the margin."""
COST_MARGIN = 1.25
"""The largest ratio of costs that counts as no more expensive, if none is chosen: the upper limit of bioequivalence."""
LIKELY = 0.8
"""The power with which a plan is called large enough."""
MOST_PROBLEMS = 20_000
"""With more problems, the exact power takes seconds."""
Verdict = Literal["matches", "falls short", "undecided"]
_HALVINGS = 60
_SMALLEST = 1e-300  # avoids a division by 0 if the results cannot vary
_Counts = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Discordance:
    """The independent trials of pairs that the results are worth: ``n`` and, of these, those that one alone solved.

    With one trial of each problem, these are the numbers of problems. They need not be whole with repeats.
    """

    n: float
    only_a: float
    only_b: float

    @property
    def difference(self) -> float:
        """What a solves more, as a share."""
        return (self.only_a - self.only_b) / self.n


@dataclass(frozen=True, slots=True)
class Match:
    """Whether a solves at most ``margin`` less than b; a share of problems, above 0.

    ``low`` and ``high``: the 95 % score interval of what a solves more. One-sided p-values, adjusted by Holm over all
    pairs (``adjusted``): ``p`` that a solves less by the margin or more (small: a matches), ``p_short`` that a does not
    solve less by more than the margin (small: a falls short). ``p_short`` is the larger one of two p-values: without
    the missing results, and with every missing result counted for a. ``p_worst``: ``p`` if every missing result counts
    against a, so never smaller than ``p``. ``p_equal``: that the two differ by the margin or more in either direction,
    if missing results are the worst for each direction.
    """

    margin: float
    low: float
    high: float
    p: float
    p_short: float
    p_equal: float
    p_worst: float

    @property
    def verdict(self) -> Verdict:
        if self.p_worst <= LEVEL:
            return "matches"
        return "falls short" if self.p_short <= LEVEL else "undecided"

    @property
    def p_verdict(self) -> float:
        """The p of the test that gives the verdict: ``p_short`` if a falls short, else ``p_worst``."""
        return self.p_short if self.verdict == "falls short" else self.p_worst

    @property
    def equivalent(self) -> bool:
        """Whether both directions are excluded; then a also matches, because ``p_worst`` is one of the two p-values."""
        return self.p_equal <= LEVEL


@dataclass(frozen=True, slots=True)
class CostMatch:
    """Whether a costs at most ``margin`` times as much per solved problem as b.

    ``low`` and ``high``: 95 % bounds of the ratio, adjusted for all pairs (Bonferroni), as of a conservative
    ``price_ratio``. ``high_worst``: the upper bound if every missing result counts against a. ``low_best``: the lower
    bound if every missing result counts for a. In both, an experiment without a result costs as much as its calls so
    far.
    """

    margin: float
    low: float
    high: float
    high_worst: float
    low_best: float

    @property
    def verdict(self) -> Verdict:
        if max(self.high, self.high_worst) <= self.margin:
            return "matches"
        return "falls short" if min(self.low, self.low_best) > self.margin else "undecided"


def match(a: Sequence[Trial], b: Sequence[Trial], margin: float = MARGIN) -> Match | None:
    """Whether a matches b on the problems with a result of both; None if there are none.

    The two one-sided tests for ``p_equal``: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987)
    657-680.
    """
    seen = discordance(by_problem(a), by_problem(b))
    if seen is None:
        return None
    of_a, of_b = on_common_problems(a, b)
    worst, best = (
        discordance(by_problem(completed(of_a, solved=better)), by_problem(completed(of_b, solved=not better)))
        for better in (False, True)
    )
    assert worst is not None  # it has all problems with a result of both
    assert best is not None
    low, high = score_interval(seen)
    p = score_p(seen, -margin)
    p_worst = max(p, score_p(worst, -margin))
    short, above = (max(1 - score_p(case, bound) for case in (seen, best)) for bound in (-margin, margin))
    return Match(margin=margin, low=low, high=high, p=p, p_short=short, p_worst=p_worst, p_equal=max(p_worst, above))


def cost_match(
    a: Sequence[Trial], b: Sequence[Trial], margin: float = COST_MARGIN, at_once: int = 1
) -> CostMatch | None:
    """Whether a is no more expensive than b; ``at_once``: the number of such pairs. None if a bound is unknown.

    The bounds decide, as in tests of average bioequivalence (Schuirmann 1987): a one-sided test of the level 2.5 %.
    """
    from koderz_core.analysis.money import price_ratio  # noqa: PLC0415 (as above)

    price = price_ratio(a, b, at_once, conservative=True)
    if price is None or price.low is None or price.high is None:
        return None
    of_a, of_b = on_common_problems(a, b)
    if all(trial.scored for trial in (*of_a, *of_b)):
        return CostMatch(margin, price.low, price.high, price.high, price.low)
    worst, best = (
        price_ratio(completed(of_a, solved=better), completed(of_b, solved=not better), at_once, conservative=True)
        for better in (False, True)
    )
    high_worst = inf if worst is None or worst.high is None else worst.high
    low_best = 0.0 if best is None or best.low is None else best.low
    return CostMatch(margin, price.low, price.high, high_worst, low_best)


def adjusted(matches: Sequence[Match | None]) -> list[Match | None]:
    """The matches of several pairs, with each kind of p adjusted for their number (``holm_of_known``)."""
    names = ("p", "p_short", "p_equal", "p_worst")
    columns = [holm_of_known([None if item is None else getattr(item, name) for item in matches]) for name in names]
    return [
        item and replace(item, **dict(zip(names, values, strict=True)))
        for item, *values in zip(matches, *columns, strict=True)
    ]


def discordance(of_a: Mapping[str, _Counts], of_b: Mapping[str, _Counts]) -> Discordance | None:
    """What the counts by problem (solved, trials) of two configurations are worth; None without a common problem.

    Repeats of a problem resemble each other, so counts are divided by the design effect: Rao and Scott, "A Simple
    Method for the Analysis of Clustered Binary Data", Biometrics 48 (1992) 577-585. It is the variance of the mean of
    the problems' differences, divided by the variance of that mean with one trial of each problem. For both, one
    problem that a alone solved and one that b alone solved are added, as in ``bonett_price``: otherwise they would be 0
    if all results agree. The effective number of problems is at least their number and at most the number of
    trials. With one trial of each problem, the effect is 1 and the counts are those of the problems.
    """
    problems = of_a.keys() & of_b.keys()
    if not problems:
        return None
    shares = [(of_a[problem][0] / of_a[problem][1], of_b[problem][0] / of_b[problem][1]) for problem in problems]
    n = len(shares)
    only_a, only_b = sum(a * (1 - b) for a, b in shares), sum((1 - a) * b for a, b in shares)
    mean = (only_a - only_b) / (n + 2)
    once = (only_a + only_b + 2) / (n + 2) - mean**2
    repeated = (sum((a - b) ** 2 for a, b in shares) + 2) / (n + 2) - mean**2
    trials = min(sum(of[problem][1] for problem in problems) for of in (of_a, of_b))
    gain = max(1.0, min(once / repeated, trials / n))
    return Discordance(n * gain, only_a * gain, only_b * gain)


def score_p(seen: Discordance, difference: float) -> float:
    """The one-sided p of the score test that what a solves more is this ``difference`` or less, a share from -1 to 1.

    Small: it is more. Tango, "Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design", Statistics in Medicine 17 (1998) 891-908. It keeps its level better than the test by the
    observed variance (Liu, Hsueh, Hsieh and Chen, Statistics in Medicine 21 (2002) 231-245).
    """
    return 1 - NormalDist().cdf(_score(seen.n, seen.only_a, seen.only_b, difference))


def score_interval(seen: Discordance) -> tuple[float, float]:
    """The differences that the score test does not reject in either direction (Tango 1998), found by bisection."""
    limit = NormalDist().inv_cdf(0.975)

    def score(difference: float) -> float:
        return _score(seen.n, seen.only_a, seen.only_b, difference)

    def bound(beyond: float, sign: int) -> float:
        inside = seen.difference
        for _ in range(_HALVINGS):
            middle = (inside + beyond) / 2
            inside, beyond = (middle, beyond) if sign * score(middle) <= limit else (inside, middle)
        return inside

    return bound(-1.0, 1), bound(1.0, -1)


def noninferiority_power(
    n: int, margin: float, discordant: float, difference: float = 0.0, alpha: float = 0.025
) -> float:
    """The chance that n problems show that a is not worse by ``margin``: a ``score_p`` of at most ``alpha``.

    ``difference``: the true one, what a solves more, and ``discordant``: on how many problems the two differ, both
    shares of problems. The chances of all outcomes with a p of at most ``alpha`` are added up, so it is exact.
    """
    import numpy as np  # noqa: PLC0415 (as above)

    assert n > 0, f"{n} problems"
    assert 0 < margin < 1, f"margin must be between 0 and 1, not {margin}"
    assert abs(difference) <= discordant <= 1, (
        f"difference must be from -{discordant} to {discordant}, not {difference}"
    )
    chances = (discordant + difference) / 2, (discordant - difference) / 2, 1 - discordant
    likely = [likely_counts(n, chance).astype(float) for chance in chances[:2]]
    only_a, only_b = (grid.ravel() for grid in np.meshgrid(*likely))
    shown = (only_a + only_b <= n) & (_score(n, only_a, only_b, -margin) >= NormalDist().inv_cdf(1 - alpha))
    numbers = [number.astype(int) for number in (only_a[shown], only_b[shown], n - only_a[shown] - only_b[shown])]
    factorials = log_factorials(n)
    logs = factorials[n] - sum(factorials[number] for number in numbers)
    for number, chance in zip(numbers, chances, strict=True):
        logs = logs + (number * np.log(chance) if chance > 0 else np.where(number > 0, -np.inf, 0.0))
    return float(np.exp(logs).sum())


def noninferiority_problems(
    margin: float, discordant: float, power: float = 0.8, difference: float = 0.0, alpha: float = 0.025
) -> int | None:
    """How many problems it takes to show with this ``power`` that a is not worse by ``margin``; None: it is worse.

    The first number from ``(z_alpha + z_power)^2 (discordant - difference^2) / (margin + difference)^2`` on at which
    ``noninferiority_power`` is as large. That formula is of the test by the observed variance: Lu and Bean, "On the
    sample size for one-sided equivalence of sensitivities based upon McNemar's test", Statistics in Medicine 14 (1995)
    1831-1839. It is too optimistic if few problems are discordant.
    """
    assert 0 < power < 1, f"power {power}"
    if difference <= -margin:
        return None
    n = _approximate_problems(margin, discordant, power, difference, alpha)
    while noninferiority_power(n, margin, discordant, difference, alpha) < power:
        n += 1
    return n


def _approximate_problems(margin: float, discordant: float, power: float, difference: float, alpha: float) -> int:
    """The number by the formula of ``noninferiority_problems``."""
    normal = NormalDist()
    deviations = normal.inv_cdf(1 - alpha) + normal.inv_cdf(power)
    return max(1, ceil(deviations**2 * (discordant - difference**2) / (margin + difference) ** 2))


@dataclass(frozen=True, slots=True)
class Prospect:
    """The ``chance`` that a plan shows that one configuration matches another that is exactly as good.

    ``problems``: how many problems it takes for a chance of ``LIKELY``; None if more than about ``MOST_PROBLEMS``.
    """

    chance: float
    problems: int | None


@cache
def prospect(n: int, pairs: int, discordance: float, variance_left: float, margin: float = MARGIN) -> Prospect:
    """What ``n`` problems show within ``margin`` about each of several pairs, at the strictest level of Holm's method.

    ``discordance`` and ``variance_left``: as in ``power``. Repeats count as more problems, as in ``discordance()``.
    """
    level = LEVEL / pairs
    chance = noninferiority_power(max(1, floor(n / variance_left)), margin, discordance, alpha=level)
    if _approximate_problems(margin, discordance, LIKELY, 0.0, level) > MOST_PROBLEMS:
        return Prospect(chance, None)
    problems = noninferiority_problems(margin, discordance, LIKELY, alpha=level)
    assert problems is not None  # equal configurations match with enough problems
    return Prospect(chance, ceil(problems * variance_left))


def _score(n: float, only_a: Number, only_b: Number, difference: float) -> Number:
    """Tango's statistic: how far the observed difference is above this one, in standard deviations if it is true.

    Of numbers or arrays. ``worse``: the chance that b alone solves a problem, as likely as can be if this is the true
    difference.
    """
    b = (2 * n - only_a + only_b) * difference - only_a - only_b
    c = -only_b * difference * (1 - difference)
    worse = (abs(b * b - 8 * n * c) ** 0.5 - b) / (4 * n)
    variance = n * (2 * worse + difference * (1 - difference))
    return (only_a - only_b - n * difference) / (abs(variance) + _SMALLEST) ** 0.5  # type: ignore[no-any-return]
