"""Several draws per problem: pass@k and pass^k, coverage against selection, and the price of a further draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb, inf
from statistics import fmean, median_high
from typing import Literal

import numpy as np

from koderz_core.analysis.bootstrap import means, ratio_interval
from koderz_core.analysis.extrapolation import Counts, Refusal, extrapolation, refusal
from koderz_core.analysis.paired import bonett_price
from koderz_core.analysis.rates import Interval, by_problem, counted, mid_p_bounds, share_bounds
from koderz_core.records.trials import Trial, Try

DrawKind = Literal["experiments", "samples"]
REACH = 10
"""The largest k of an extrapolation is this many times the number of draws."""
_ALL = 10
"""Up to this k, every measured k is listed."""


@dataclass(frozen=True, slots=True)
class PassRate:
    """pass@k (``any_passes``) and pass^k (``all_pass``): means over ``problems``, with 95 % intervals for this k alone.

    ``left_out`` problems have fewer than k draws. ``extrapolated``: from all problems with a draw.
    """

    k: int
    problems: int
    left_out: int
    any_passes: Interval
    all_pass: Interval
    extrapolated: bool = False


@dataclass(frozen=True, slots=True)
class FurtherDraw:
    """What one more draw on every problem adds to pass@k, as a share of problems, and its price.

    ``usd``: the mean dollars of a draw; ``usd_per_solve``: of an extra solved problem. None: a price is unknown.
    """

    gain: Interval
    usd: Interval | None
    usd_per_solve: Interval | None


@dataclass(frozen=True, slots=True)
class Draws:
    """The independent draws of a configuration on each problem.

    ``kind``: each of its ``experiments`` on a problem is a draw, or each of the ``samples`` within them. ``most``: the
    largest measured k, for which at least half of the problems have enough draws; at most 1 if there are no ``rates``.
    ``refusal``: why nothing is extrapolated.
    """

    kind: DrawKind
    most: int
    rates: tuple[PassRate, ...]
    refusal: Refusal | None
    further: FurtherDraw | None


@dataclass(frozen=True, slots=True)
class Selection:
    """The candidates of experiments with a result, and which of them was submitted; means over problems.

    ``candidates``: the mean number of tested programs. ``coverage``: the share of experiments in which at least one
    program is right. ``selected``: the share in which the submitted program is right. ``chance``: the same if one of
    the tested programs were submitted at random. ``missed``: coverage less selected; ``gained``: selected less chance.
    """

    problems: int
    experiments: int
    candidates: float
    coverage: Interval
    selected: Interval
    chance: Interval
    missed: Interval
    gained: Interval


@dataclass(frozen=True, slots=True)
class Sampling:
    """What several draws and several candidates show about one configuration.

    ``draws``: of each kind that has at least two draws of a problem. ``selection``: None if no experiment tested two
    programs.
    """

    draws: tuple[Draws, ...]
    selection: Selection | None


def sampling(trials: Sequence[Trial], *, samples: bool) -> Sampling:
    """All of it. ``samples``: whether the tries of a trial are independent samples (``Facts.independent_samples``)."""
    given = dict.fromkeys((trial.problem for trial in trials), (0, 0))  # a problem without draws counts as left out
    scored = [trial for trial in trials if trial.scored]
    found = [_draws("experiments", given | by_problem(scored), scored)]
    if samples:
        sampled = [trial for trial in scored if trial.tries and _known(trial)]
        right = counted((trial.problem, bool(is_right(trial, attempt))) for trial in sampled for attempt in trial.tries)
        found.append(_draws("samples", given | right, sampled))
    return Sampling(tuple(draws for draws in found if draws.rates), selection(scored))


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that at least one of k of the n draws is right if c are: unbiased for k new draws.

    Chen et al., "Evaluating Large Language Models Trained on Code", arXiv 2107.03374 (2021), equation (1).
    """
    assert 0 < k <= n, f"k must be from 1 to {n}, not {k}"
    return 1 - comb(n - c, k) / comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """The chance that all k of the n draws are right if c are: unbiased for k new draws.

    pass^k of Yao et al., "tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains", arXiv
    2406.12045 (2024).
    """
    assert 0 < k <= n, f"k must be from 1 to {n}, not {k}"
    return comb(c, k) / comb(n, k)


def pass_rate(counts: Counts, k: int) -> PassRate:
    """Of the problems with at least k draws, of which there must be one; ``counts``: right ones and all.

    The intervals have an effective number of trials, as in ``rates.clustered``: at most one trial for every k draws,
    because k draws give one independent result. At k = 1 they are those of ``clustered``, else ``mid_p_bounds``.
    """
    known = [(c, n) for c, n in counts.values() if n >= k]
    most, bounds = sum(n for _, n in known) / k, share_bounds if k == 1 else mid_p_bounds
    either, every = ([of(n, c, k) for c, n in known] for of in (pass_at_k, pass_hat_k))
    any_passes, all_pass = (Interval(fmean(shares), *bounds(shares, most)) for shares in (either, every))
    return PassRate(k, len(known), len(counts) - len(known), any_passes, all_pass)


def is_right(trial: Trial, attempt: Try) -> bool | None:
    """Whether a tested program passes the tests that score its trial; None if it was not scored on them.

    The submitted program is right if its trial was solved. Another one must pass the gate and the held-out tests.
    """
    if attempt.code is None:
        return False
    if attempt.code == trial.code:
        return trial.solved
    if trial.score_kind == "oracle":
        return attempt.gate_passed
    return None if attempt.held_out_passed is None else attempt.gate_passed and attempt.held_out_passed


def selection(trials: Sequence[Trial]) -> Selection | None:
    """Of the trials with a result and at least one tested program; None if none of them tested two.

    Coverage is that of Brown et al., "Large Language Monkeys", arXiv 2407.21787 (2024). Coverage less selected is the
    share of experiments that tested a right program and submitted a wrong one, so it has the interval of a share.
    """
    tried = [trial for trial in trials if trial.scored and trial.tries and _known(trial)]
    if all(len(trial.tries) < 2 for trial in tried):
        return None
    problems = sorted({trial.problem for trial in tried})
    selected = means(problems, tried, lambda trial: trial.solved)
    missed = means(problems, tried, lambda trial: not trial.solved and _share_right(trial) > 0)
    chance = means(problems, tried, _share_right)
    low, high = bonett_price((selected - chance).tolist())
    return Selection(
        problems=len(problems),
        experiments=len(tried),
        candidates=float(means(problems, tried, lambda trial: len(trial.tries)).mean()),
        coverage=_mean((selected + missed).tolist(), len(tried)),
        selected=_mean(selected.tolist(), len(tried)),
        chance=_mean(chance.tolist(), len(tried)),
        missed=_mean(missed.tolist(), len(tried)),
        gained=Interval(float((selected - chance).mean()), low, high),
    )


def _listed(first: int, last: int, every: int) -> Iterator[int]:
    """The k of tables from ``first`` to ``last``: all up to ``every``, then 10, 20, 50, 100, ..., and the last."""
    steps = {*range(1, every + 1), *(digit * 10**power for power in range(7) for digit in (1, 2, 5))}
    yield from (k for k in sorted(steps) if first <= k < last)
    yield last


def _draws(kind: DrawKind, counts: Counts, trials: Sequence[Trial]) -> Draws:
    most = median_high([n for _, n in counts.values()]) if counts else 0
    if most < 2:
        return Draws(kind, most, (), None, None)
    rates = [pass_rate(counts, k) for k in _listed(1, most, _ALL)]
    if reason := refusal(counts):
        return Draws(kind, most, tuple(rates), reason, None)
    ks, drawn = tuple(_listed(most + 1, REACH * most, 0)), sum(n > 0 for _, n in counts.values())
    found = extrapolation(counts, ks, most)
    rates += [
        PassRate(k, drawn, len(counts) - drawn, found.any_passes[k], found.all_pass[k], extrapolated=True) for k in ks
    ]
    return Draws(kind, most, tuple(rates), None, further_draw(found.gain, _usd(kind, trials)))


def further_draw(gain: Interval, usd: Interval | None) -> FurtherDraw:
    """The price of an extra solved problem from that of a draw; infinite if a further draw may solve none.

    Its lower bound is the lower price by the larger gain, its upper bound the reverse. If both intervals have 95 %
    coverage, this one has at least 90 % (Bonferroni), and in simulations more than 95 % (benchmarks/sampling.py).
    """
    if usd is None:
        return FurtherDraw(gain, None, None)
    assert gain.low is not None
    assert gain.high is not None
    low, high = (usd.value if bound is None else bound for bound in (usd.low, usd.high))
    price = Interval(_by(usd.value, gain.value), _by(low, gain.high), _by(high, gain.low))
    return FurtherDraw(gain, usd, price)


def _by(usd: float, gain: float) -> float:
    """Free draws stay free, whatever they add."""
    return 0.0 if not usd else usd / gain if gain > 0 else inf


def _usd(kind: DrawKind, trials: Sequence[Trial]) -> Interval | None:
    """The mean dollars of a draw. Those of a sample are the dollars up to the last test, divided by the samples."""

    def price(trial: Trial) -> float | None:
        if kind == "experiments":
            return trial.usd
        spent = trial.tries[-1].usd
        return None if spent is None else spent / len(trial.tries)

    if any(price(trial) is None for trial in trials):
        return None
    problems = sorted({trial.problem for trial in trials})
    return ratio_interval(means(problems, trials, lambda trial: price(trial) or 0.0), np.ones(len(problems)))


def _mean(shares: Sequence[float], most: float) -> Interval:
    return Interval(fmean(shares), *share_bounds(shares, most))


def _known(trial: Trial) -> bool:
    return all(is_right(trial, attempt) is not None for attempt in trial.tries)


def _share_right(trial: Trial) -> float:
    return fmean(bool(is_right(trial, attempt)) for attempt in trial.tries)
