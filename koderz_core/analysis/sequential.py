"""Sequential comparison of a primary pair: e-values and a confidence sequence that stay valid at every look.

The observation of a problem is the share of its repeats that a solved minus the share that b solved, from -1 to 1. Its
problems are in a random order that was drawn before the first result, so they are a growing random sample of the
problems that might have been asked. The inference is about these, as everywhere in koderz, and not about the finite set
of a dataset: it does not become certain when all problems of a dataset are done.

Source: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", Journal of the Royal
Statistical Society B 86 (2024) 1-27. A gambler bets against the hypothesis that the mean difference is at most m. Under
the hypothesis no strategy is expected to gain, so by Ville's inequality the wealth ever reaches 1 / alpha with a
probability of at most alpha. The wealth is divided equally among ``BETS`` constant fractions ("diversified Kelly
betting" in their appendix B), as in Cover's universal portfolio (Mathematical Finance 1 (1991) 1-29).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from statistics import fmean
from typing import TYPE_CHECKING

from koderz_core.analysis.noninferiority import LEVEL
from koderz_core.records import Outcome, Plan
from koderz_core.records.registrations import Decision, primary_pair

if TYPE_CHECKING:  # numpy is slow to import, and few commands need it
    import numpy as np
    from numpy.typing import NDArray

BETS = (0.2, 0.4, 0.6, 0.8)
"""The fractions of its wealth that the gambler bets, chosen for few discordant problems and margins of some points."""
LEAST_POWER = 0.1
"""If the predictive power is below this, a benchmark stops as hopeless. This cannot make a wrong decision likelier."""
_DECISIONS: tuple[Decision | None, ...] = (None, "matches", "falls short", "hopeless")
_HALVINGS = 40
_MOST = 700.0  # of the logarithm of an e-value
_SMALLEST = 1e-12  # avoids a division by 0 if no problem is left


@dataclass(frozen=True, slots=True)
class Observed:
    """The difference of one problem: a minus b, if missing results count against a (``worst``) or for it (``best``)."""

    worst: float
    best: float


@dataclass(frozen=True, slots=True)
class Sequential:
    """What the first ``n`` problems of the drawn order show about a against b, up to the decision if there is one.

    ``low``, ``high``: the 95 % confidence sequence of the mean difference. ``e_match``: the largest e-value against the
    hypothesis that a solves less by the margin or more; ``e_short``: against the opposite. A ``missing`` result counts
    against the claim. ``power``: the chance that the remaining problems decide it, if each missing result still comes
    and counts for the claim; None before the first problem. ``at``: after how many problems it was decided, None if it
    is not.
    """

    n: int
    planned: int
    missing: int
    difference: float | None
    low: float
    high: float
    e_match: float
    e_short: float
    power: float | None
    decision: Decision | None
    at: int | None


class Rule:
    """The stopping rule of a sequential benchmark, which sees only a completed start of the drawn order.

    A problem counts as soon as all repeats of both configurations have ended, and all problems before it. So problems
    that end early because they are easy cannot favour a configuration.
    """

    def __init__(self, plan: Plan) -> None:
        registration = plan.registration
        assert registration  # of a sequential benchmark
        self._margin = registration.margin
        a, b = primary_pair(plan, registration)
        pairs = {problem: (list[str](), list[str]()) for problem in plan.problems}
        for experiment in plan.experiments():
            if experiment.configuration in (a, b):
                pairs[experiment.problem][experiment.configuration == b].append(experiment.id)
        self._pairs = list(pairs.values())

    def state(self, outcomes: Mapping[str, Outcome | None], *, may_come: bool = True) -> Sequential:
        """What the outcomes of experiments, by id, show so far. ``may_come``: as in ``decide``."""
        return sequential(self._observed(outcomes), len(self._pairs), self._margin, may_come=may_come)

    def decision(self, outcomes: Mapping[str, Outcome], *, may_come: bool = True) -> tuple[Decision, int] | None:
        """The decision of these outcomes, and the number of problems that made it; None: there is none yet.

        ``may_come``: as in ``decide``.
        """
        observed = self._observed(outcomes)
        if not observed:
            return None
        found = decide(*_differences(observed), len(self._pairs), self._margin, may_come=may_come)
        decision = _DECISIONS[int(found.decision[0])]
        return (decision, int(found.at[0])) if decision else None

    def _observed(self, outcomes: Mapping[str, Outcome | None]) -> list[Observed]:
        found = []
        for pair in self._pairs:
            ended = [[outcomes.get(name) for name in side] for side in pair]
            if any(outcome in (None, "cancelled") for side in ended for outcome in side):
                break
            (least_a, most_a), (least_b, most_b) = map(_shares, ended)
            found.append(Observed(least_a - most_b, most_a - least_b))
        return found


def _shares(outcomes: Sequence[Outcome | None]) -> tuple[float, float]:
    """The share solved if missing results count as unsolved and as solved."""
    solved, missing = (outcomes.count(outcome) for outcome in ("solved", "error"))
    return solved / len(outcomes), (solved + missing) / len(outcomes)


def sequential(observed: Sequence[Observed], planned: int, margin: float, *, may_come: bool = True) -> Sequential:
    """The state of the comparison of a with b. ``planned``: the number of problems; ``may_come``: as in ``decide``."""
    n = len(observed)
    if not n:
        return Sequential(0, planned, 0, None, -1.0, 1.0, 1.0, 1.0, None, None, None)
    worst, best = _differences(observed)
    found = decide(worst, best, planned, margin, may_come=may_come)
    at = int(found.at[0]) or None
    worst, best = worst[:, :at], best[:, :at]  # problems that ended after the decision do not count
    return Sequential(
        n=at or n,
        planned=planned,
        missing=int((worst != best).sum()),
        difference=float((worst + best).mean() / 2),
        low=_bound(worst, 1),
        high=_bound(best, -1),
        e_match=_largest(found.match[:, :at]),
        e_short=_largest(found.short[:, :at]),
        power=float(found.power[0, (at or n) - 1]),
        decision=_DECISIONS[int(found.decision[0])],
        at=at,
    )


def fewest_equal(margin: float) -> int:
    """How many problems without a difference between the two it takes to show that they match."""
    n = 1
    while fmean((1 + bet * margin / (1 - margin)) ** n for bet in BETS) < 1 / LEVEL:
        n += 1
    return n


def _differences(observed: Sequence[Observed]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """One row each, if missing results count against a and for it."""
    import numpy as np  # noqa: PLC0415 (as above)

    return np.array([[each.worst for each in observed]]), np.array([[each.best for each in observed]])


@dataclass(frozen=True, slots=True)
class Decided:
    """Many benchmarks at once, one per row, with a column per problem.

    ``match``, ``short``: the logarithms of the e-values. ``decision``: a place in ``_DECISIONS``; ``at``: the number of
    problems then, 0 if there is none.
    """

    match: NDArray[np.float64]
    short: NDArray[np.float64]
    power: NDArray[np.float64]
    decision: NDArray[np.int64]
    at: NDArray[np.int64]


def decide(
    worst: NDArray[np.float64], best: NDArray[np.float64], planned: int, margin: float, *, may_come: bool = True
) -> Decided:
    """The first decision of each row of differences. ``worst`` and ``best``: as in ``Observed``.

    ``may_come``: whether the predictive power counts missing results for the claim, because a retry may give them. The
    first versions counted them against each claim, so verification of their journals needs both.
    """
    import numpy as np  # noqa: PLC0415 (as above)

    goal = np.log(1 / LEVEL)
    matched, shorted = _Wealth(worst, -margin, 1), _Wealth(best, -margin, -1)
    match, short = matched.log(), shorted.log()
    if may_come and (worst != best).any():
        matched, shorted = _Wealth(best, -margin, 1), _Wealth(worst, -margin, -1)
    power = np.minimum(1.0, matched.chance(planned, goal) + shorted.chance(planned, goal))
    hopeless = (power < LEAST_POWER) & (np.arange(1, worst.shape[1] + 1) < planned)
    outcome = np.select([match >= goal, short >= goal, hopeless], [1, 2, 3], 0)
    first = (outcome > 0).argmax(axis=1)
    decision = outcome[np.arange(len(worst)), first]
    return Decided(match, short, power, decision, np.where(decision > 0, first + 1, 0))


class _Wealth:
    """The gambler who bets that the mean is above m (``sign`` 1) or below it (-1)."""

    def __init__(self, values: NDArray[np.float64], m: float, sign: int) -> None:
        import numpy as np  # noqa: PLC0415 (as above)

        gain = (1 + sign * values) / (1 + sign * m)  # of a stock whose expected gain is at most 1 under the hypothesis
        bets = np.array(BETS)
        self._growth = np.log(1 - bets + bets * gain[..., None])  # row, problem, bet
        self._ends = [np.log(1 - bets + bets * (1 + end) / (1 + sign * m)) for end in (-1.0, 1.0)]
        self._sum = self._growth.cumsum(axis=1)

    def log(self) -> NDArray[np.float64]:
        """The logarithm of the wealth after each problem."""
        import numpy as np  # noqa: PLC0415 (as above)

        mean: NDArray[np.float64] = np.logaddexp.reduce(self._sum, axis=2) - np.log(len(BETS))
        return mean

    def chance(self, planned: int, goal: float) -> NDArray[np.float64]:
        """The chance that the wealth reaches the goal with all planned problems, given the problems so far.

        Predictive power: the conditional power, averaged over what the problems so far leave possible (Spiegelhalter,
        Freedman and Blackburn, Controlled Clinical Trials 7 (1986) 8-17), for the most promising bet from now on. The
        logarithm of the wealth is taken as a sum of normal gains. One problem that a alone solved and one that b alone
        solved are added, so that their variance is not 0.
        """
        import numpy as np  # noqa: PLC0415 (as above)

        n = np.arange(1, self._growth.shape[1] + 1)[:, None] + 2
        ends = np.array(self._ends)
        mean = (self._sum + ends.sum(axis=0)) / n
        variance = ((self._growth**2).cumsum(axis=1) + (ends**2).sum(axis=0)) / n - mean**2
        left = np.maximum(planned + 2 - n, 0)
        lacking = goal - self.log()[..., None]
        z = (mean * left - lacking) / np.sqrt(variance * (left + left**2 / n) + _SMALLEST)
        chance: NDArray[np.float64] = _normal(z.max(axis=2))
        return chance


def _bound(values: NDArray[np.float64], sign: int) -> float:
    """The lower (``sign`` 1) or upper (-1) bound of the confidence sequence: all means beyond it were once rejected."""
    import numpy as np  # noqa: PLC0415 (as above)

    beyond, within = -1.0 * sign, 1.0 * sign
    for _ in range(_HALVINGS):
        middle = (beyond + within) / 2
        rejected = _Wealth(values, middle, sign).log().max() >= np.log(1 / LEVEL)
        beyond, within = (middle, within) if rejected else (beyond, middle)
    return beyond


def _largest(logs: NDArray[np.float64]) -> float:
    """The largest e-value so far; before the first problem it is 1."""
    return exp(min(_MOST, max(0.0, float(logs.max()))))


def _normal(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard normal distribution function, with an error below 7.5e-8.

    Abramowitz and Stegun, Handbook of Mathematical Functions (1964), formula 26.2.17.
    """
    import numpy as np  # noqa: PLC0415 (as above)

    t = 1 / (1 + 0.2316419 * np.abs(z))
    terms = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * terms
    whole: NDArray[np.float64] = np.where(z > 0, 1 - tail, tail)
    return whole
