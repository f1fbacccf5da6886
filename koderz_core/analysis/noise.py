"""Where the uncertainty of a rate or of a difference comes from: the problems, or the draws on one problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb, hypot, inf, sqrt
from statistics import fmean, variance

from koderz_core.analysis.difficulty import Key
from koderz_core.analysis.discrimination import Discrimination, discrimination
from koderz_core.analysis.rates import Interval, by_problem, share_bounds, student
from koderz_core.records.trials import Trial
from koderz_core.sums import all_known

BUDGETS = (1, 2, 4)
"""The budgets of designs, as multiples of the dollars spent so far."""
MOST_REPEATS = 20
ALIKE = 0.01
"""Standard errors that exceed the smallest one by at most this share count as equal to it."""
_Counts = Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Components:
    """Variances of a rate, or of the difference of two, from the ``problems`` with at least two results of each.

    ``data``: of the true rate (or difference) between problems. ``prediction``: the mean over problems of the variance
    of one draw of each configuration; ``parts``: of each alone. Both estimates are unbiased, so ``data`` can be
    negative by chance; ``error`` then uses 0.
    """

    problems: int
    data: Interval
    prediction: Interval
    parts: tuple[float, ...]

    def error(self, problems: int, repeats: Sequence[int]) -> float:
        """The standard error expected of other problems like these, with this number of repeats of each configuration.

        ``sqrt((data + prediction / repeats) / problems)``: Miller, "Adding Error Bars to Evals", arXiv 2411.00640
        (2024), section 3.1; of differences, the predictions of both configurations add up.
        """
        drawn = sum(part / number for part, number in zip(self.parts, repeats, strict=True))
        return sqrt((max(0.0, self.data.value) + drawn) / problems)


@dataclass(frozen=True, slots=True)
class Design:
    """A number of problems, and of repeats of each configuration, with its dollars and its standard error.

    ``times``: the budget as a multiple of the dollars spent; None for the benchmark as it was run.
    """

    times: int | None
    problems: int
    repeats: tuple[float, ...]
    usd: float | None
    error: float


@dataclass(frozen=True, slots=True)
class Noise:
    """The uncertainty of the rate of one configuration, or of the difference of one and its baseline (``keys``).

    On the ``problems`` with a result of each; ``repeats``: the mean number of results. ``value``: the rate or the
    difference; ``error``: its standard error over problems like these, None if nothing varies. ``components``: None if
    fewer than two problems have two results of each. ``usd``: mean dollars of one experiment of each, None if a price
    is unknown. ``designs``: the benchmark as it was run, and the best ones for each of ``BUDGETS``; empty if components
    or dollars are unknown.
    """

    keys: tuple[Key, ...]
    problems: int
    repeats: tuple[float, ...]
    value: float
    error: float | None
    components: Components | None
    usd: tuple[float, ...] | None
    designs: tuple[Design, ...]

    @property
    def data_error(self) -> Interval | None:
        """The standard error that would remain with endless repeats of these problems; None if unknown."""
        return None if self.components is None else _root(self.components.data, 1 / self.problems)

    @property
    def draw_error(self) -> Interval | None:
        """The standard error that draws add, which is that of the result on these very problems; None if unknown."""
        if self.components is None:
            return None
        drawn = sum(part / number for part, number in zip(self.components.parts, self.repeats, strict=True))
        whole = self.components.prediction.value
        return _root(self.components.prediction, (drawn / whole if whole else 1 / min(self.repeats)) / self.problems)

    @property
    def from_draws(self) -> float | None:
        """The part of ``error ** 2`` that draws add, from 0 to 1; None if unknown or if nothing varies."""
        added = self.draw_error
        return min(1.0, (added.value / self.error) ** 2) if added and self.error else None


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """The noise of each configuration, then of each difference to the baseline, without those with too few problems.

    ``problems``: what each problem tells. ``dataset_problems``: how many problems of the dataset may have tests for
    the gates of the configurations, None if unknown.
    """

    noise: tuple[Noise, ...]
    problems: Discrimination
    dataset_problems: int | None


def uncertainty(
    trials_by_key: Mapping[Key, Sequence[Trial]], baseline: Key | None, dataset_problems: int | None = None
) -> Uncertainty:
    """The sources of uncertainty of configurations, and of their differences to the baseline."""
    alone = [(key,) for key in trials_by_key]
    pairs = [(key, baseline) for key in trials_by_key if baseline is not None and key != baseline]
    found = (noise_of(trials_by_key, keys, dataset_problems) for keys in (*alone, *pairs))
    known = tuple(noise for noise in found if noise is not None)
    return Uncertainty(known, discrimination(trials_by_key, baseline), dataset_problems)


def noise_of(trials_by_key: Mapping[Key, Sequence[Trial]], keys: tuple[Key, ...], most: int | None) -> Noise | None:
    """The uncertainty of one configuration, or of the difference of two; None with fewer than two problems.

    ``most``: the number of problems of the dataset that may be run, None if unknown.
    """
    counts = [by_problem(trials_by_key[key]) for key in keys]
    problems = sorted(set.intersection(*(set(of) for of in counts)))
    if len(problems) < 2:
        return None
    kept = [{problem: of[problem] for problem in problems} for of in counts]
    values = [_value([of[problem] for of in kept]) for problem in problems]
    found = components(kept)
    repeats = tuple(fmean(n for _, n in of.values()) for of in kept)
    usd = all_known(_mean_usd(trials_by_key[key], set(problems)) for key in keys)
    error = sqrt(variance(values) / len(problems))
    spent = None if usd is None else len(problems) * sum(cost * n for cost, n in zip(usd, repeats, strict=True))
    limit = None if most is None else max(most, len(problems))  # other configurations may have been given fewer
    best: tuple[Design, ...] = ()
    if found and usd and spent and error:
        best = tuple(filter(None, (best_design(found, usd, times * spent, limit, times) for times in BUDGETS)))
    return Noise(
        keys=keys,
        problems=len(problems),
        repeats=repeats,
        value=fmean(values),
        error=error or None,
        components=found,
        usd=None if usd is None else tuple(usd),
        designs=(Design(None, len(problems), repeats, spent, error), *best) if best else (),
    )


def components(counts: Sequence[_Counts]) -> Components | None:
    """The variance components of one configuration, or of the first less the second, from (solved, trials) by problem.

    The estimators of the analysis of variance (Searle, Casella and McCulloch, Variance Components, 1992, chapter 3),
    with the problem as the random effect; Wang, "Measuring all the Noises of LLM Evals", arXiv 2512.21326 (2025), calls
    the parts data noise and prediction noise. The variance of a draw is half of the chance that two draws on the same
    problem disagree, so its interval is that of this chance (``share_bounds``). The interval of the other part is
    Student's for the mean of the problems' contributions, after two problems are added, as in ``bonett_price``: one
    that is always solved and one that never is; of differences, one that each configuration alone solves.
    """
    common = set.intersection(*(set(of) for of in counts))
    rows = [[of[problem] for of in counts] for problem in sorted(common)]
    repeated = [row for row in rows if all(n > 1 for _, n in row)]
    n, number = len(repeated), len(counts)
    if n < 2:
        return None
    disagreeing = [[_disagreement(*result) for result in row] for row in repeated]
    drawn = [sum(_disagreement(solved, trials) / 2 / trials for solved, trials in row) for row in repeated]
    values = [_value(row) for row in repeated]
    low, high = _data_interval(values, drawn, number)
    shares = [fmean(row) for row in disagreeing]
    freedom = sum(trials - 1 for row in repeated for _, trials in row) / number
    bounds = [number / 2 * bound for bound in share_bounds(shares, freedom)]
    parts = tuple(fmean(of) / 2 for of in zip(*disagreeing, strict=True))
    return Components(
        problems=n,
        data=Interval(variance(values) - fmean(drawn), low, high),
        prediction=Interval(sum(parts), bounds[0], max(sum(parts), min(number / 4, bounds[1]))),
        parts=parts,
    )


def best_design(
    found: Components, usd: Sequence[float], budget: float, most: int | None, times: int | None = None
) -> Design | None:
    """The best design that ``budget`` pays for; None if it pays for too few problems.

    ``usd``: of one experiment of each configuration, above 0 in total. ``most``: the number of problems, None if there
    is no limit. A problem costs nothing apart from its experiments, so for one configuration a further problem is
    always better than a repeat, as long as there is one: the variance is ``(data + prediction / repeats) / problems``.
    If one configuration of a pair costs much less than the other, repeats of the cheaper one can be better (Cochran,
    Sampling Techniques, 1977, section 10.6). Among the designs whose standard errors exceed the smallest one by at most
    the share ``ALIKE``, the design with the most problems is the best: if the variance between problems is estimated as
    0, problems and repeats seem to be worth the same.
    """
    designs = []
    for repeats in product(range(1, MOST_REPEATS + 1), repeat=len(usd)):
        each = sum(cost * number for cost, number in zip(usd, repeats, strict=True))
        problems = int(min(budget / each * (1 + 1e-9), inf if most is None else most))
        if problems >= 2:
            designs.append(Design(times, problems, repeats, each * problems, found.error(problems, repeats)))
    least = min((design.error for design in designs), default=0.0)
    best = [design for design in designs if design.error <= least * (1 + ALIKE)]
    return max(best, key=lambda design: (design.problems, -design.error), default=None)


def _root(of: Interval, factor: float) -> Interval:
    """The standard error of a variance; a negative estimate counts as 0."""
    assert of.low is not None and of.high is not None, "components have bounds"  # noqa: PT018
    return Interval(*(sqrt(max(0.0, bound) * factor) for bound in (of.value, of.low, of.high)))


def _value(row: Sequence[tuple[int, int]]) -> float:
    """The share solved, or the difference of two."""
    shares = [solved / n for solved, n in row]
    return shares[0] - sum(shares[1:])


def _disagreement(solved: int, n: int) -> float:
    """The share of the pairs of a problem's draws that disagree."""
    return solved * (n - solved) / comb(n, 2)


def _data_interval(values: Sequence[float], drawn: Sequence[float], number: int) -> tuple[float, float]:
    """The interval of the variance of ``values`` less the mean of ``drawn``; of rates (1) or of differences (2)."""
    added = (*values, 1.0, -1.0 if number > 1 else 0.0)
    n, mean = len(added), fmean(added)
    noisy = zip(added, (*drawn, 0.0, 0.0), strict=True)
    parts = [n / (n - 1) * (value - mean) ** 2 - part for value, part in noisy]
    middle, t = fmean(parts), student(0.975, n - 1)
    # The second part is the square of the error of the mean, which matters if all contributions are nearly equal.
    reach = hypot(t * sqrt(variance(parts) / n), t * t * variance(added) / n)
    estimate = variance(values) - fmean(drawn)
    return max(0.0, min(estimate, middle) - reach), min(number**2 / 4, max(estimate, middle) + reach)


def _mean_usd(trials: Sequence[Trial], problems: set[str]) -> float | None:
    paid = all_known(trial.usd for trial in trials if trial.scored and trial.problem in problems)
    return fmean(paid) if paid else None
