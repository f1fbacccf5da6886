"""How often the intervals of pass@k, pass^k, selections and extrapolations cover the true values.

Run: ``python benchmarks/sampling.py`` (some minutes). ``--draws 3`` or ``--draws 10`` extrapolate from other numbers of
draws, to 2 and to 10 times as many; a larger ``--fits`` makes their coverage more precise. The grid was chosen before
the first run: 18, 60 and 164 problems, and the distributions of success chances in ``FITTED`` and ``OTHERS``, which are
not inflated beta distributions. Measured rates: 5 draws and k of 1, 2 and 5. Selections: 5 candidates per experiment,
1 and 5 repeats.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from koderz_core.analysis.bootstrap import ratio_interval
from koderz_core.analysis.extrapolation import extrapolation, refusal
from koderz_core.analysis.paired import bonett_price
from koderz_core.analysis.rates import Interval, share_bounds
from koderz_core.analysis.sampling import REACH, further_draw, pass_rate

Array = NDArray[np.float64]
Chances = Callable[[np.random.Generator, int], Array]
"""Draws the success chances of n problems."""
PROBLEMS, REPEATS, KS, CANDIDATES = (18, 60, 164), (1, 5), (1, 2, 5), 5
TRUTHS = 400_000  # chances from which the true values are computed


def inflated(zero: float, one: float, a: float, b: float) -> Chances:
    """A mass at 0, a mass at 1, and a beta distribution between."""

    def draw(random: np.random.Generator, n: int) -> Array:
        kind, chance = random.random(n), random.beta(a, b, n)
        return np.where(kind < zero, 0.0, np.where(kind > 1 - one, 1.0, chance))

    return draw


FITTED: Mapping[str, Chances] = {
    "beta(0.5, 1)": inflated(0, 0, 0.5, 1),
    "beta(1, 3)": inflated(0, 0, 1, 3),
    "beta(0.3, 0.3)": inflated(0, 0, 0.3, 0.3),
    "beta(3, 1)": inflated(0, 0, 3, 1),
    "beta(0.2, 2)": inflated(0, 0, 0.2, 2),
    "20 % never, beta(0.5, 1)": inflated(0.2, 0, 0.5, 1),
    "40 % never, beta(1, 1)": inflated(0.4, 0, 1, 1),
    "20 % never, 20 % always, beta(2, 2)": inflated(0.2, 0.2, 2, 2),
    "10 % never, 50 % always, beta(1, 3)": inflated(0.1, 0.5, 1, 3),
}
OTHERS: Mapping[str, Chances] = {
    "logit-normal(-1, 2)": lambda random, n: 1 / (1 + np.exp(-random.normal(-1, 2, n))),
    "half 5 %, half 80 %": lambda random, n: np.where(random.random(n) < 0.5, 0.05, 0.8),
    "half beta(1, 8), half beta(8, 1)": lambda random, n: np.where(
        random.random(n) < 0.5, random.beta(1, 8, n), random.beta(8, 1, n)
    ),
}


@dataclass
class Tally:
    """How often intervals cover, by name, and their mean width."""

    seen: dict[str, list[bool]] = field(default_factory=dict)
    width: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, interval: Interval, truth: float) -> None:
        assert interval.low is not None
        assert interval.high is not None
        self.seen.setdefault(name, []).append(interval.low - 1e-9 <= truth <= interval.high + 1e-9)
        self.width.setdefault(name, []).append(interval.high - interval.low)

    @property
    def covered(self) -> Mapping[str, float]:
        return {name: fmean(seen) for name, seen in self.seen.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--times", type=int, default=300, help="simulated benchmarks for each point of the grid")
    parser.add_argument("--fits", type=int, default=60, help="the same for extrapolations; 0: omit them")
    parser.add_argument("--draws", type=int, default=5, help="draws from which pass@k is extrapolated")
    given = parser.parse_args()
    times, fits, draws = given.times, given.fits, given.draws
    print(f"{times} or {fits} simulated benchmarks for each point of the grid; nominal coverage 95 %.\n")
    rates = (((n,), [measured(n, name, times) for name in (*FITTED, *OTHERS)]) for n in PROBLEMS)
    _table("measured, 5 draws", ("problems",), rates)
    _table(
        "selection among 5 candidates",
        ("problems", "repeats"),
        (
            ((n, repeats), [selections(n, repeats, name, times) for name in FITTED])
            for n, repeats in product(PROBLEMS, REPEATS)
        ),
    )
    for title, of in (("inflated beta distributions", FITTED), ("other distributions", OTHERS)):
        found = (((n,), [extrapolated(n, draws, name, fits) for name in of]) for n in PROBLEMS)
        _table(f"extrapolation from {draws} draws, {title}", ("problems",), found)


def measured(n: int, name: str, times: int) -> Tally:
    """Of the measured pass@k and pass^k."""
    random, tally, truth = np.random.default_rng(n), Tally(), _truth(name)
    for _ in range(times):
        counts = _drawn(random, name, n, 5)
        for k in KS:
            rate = pass_rate(counts, k)
            tally.add(f"pass@{k}", rate.any_passes, float(1 - ((1 - truth) ** k).mean()))
            tally.add(f"pass^{k}", rate.all_pass, float((truth**k).mean()))
    return tally


def selections(n: int, repeats: int, name: str, times: int) -> Tally:
    """Of coverage less selected and of selected less chance, if three of four right candidates are recognized."""
    random, tally, truth = np.random.default_rng(n), Tally(), _truth(name)
    any_right = float(1 - ((1 - truth) ** CANDIDATES).mean())
    for _ in range(times):
        chance = _chances(name)(random, n)[:, None].repeat(repeats, 1)
        right = random.binomial(CANDIDATES, chance)
        selected = (right > 0) & (random.random(right.shape) < 0.75)
        missed, gained = (right > 0) & ~selected, (selected - right / CANDIDATES).mean(axis=1)
        shares = missed.mean(axis=1).tolist()
        tally.add("missed", Interval(fmean(shares), *share_bounds(shares, n * repeats)), 0.25 * any_right)
        tally.add("gained", Interval(fmean(gained), *bonett_price(gained.tolist())), 0.75 * any_right - truth.mean())
    return tally


def extrapolated(n: int, draws: int, name: str, times: int) -> Tally:
    """Of pass@k and pass^k at 10 times as many draws, of one further draw, and of its price."""
    random, tally, truth, k = np.random.default_rng(n), Tally(), _truth(name), REACH * draws
    gain = float((truth * (1 - truth) ** draws).mean())
    for _ in range(times):
        counts = _drawn(random, name, n, draws)
        if refusal(counts):
            continue
        found = extrapolation(counts, (2 * draws, k), draws)
        usd = random.lognormal(0, 0.5, n) / np.exp(0.125)
        price = further_draw(found.gain, ratio_interval(usd, np.ones(n))).usd_per_solve
        assert price is not None
        for times_more, reached in ((2, 2 * draws), (REACH, k)):
            tally.add(f"pass@k, {times_more} x", found.any_passes[reached], float(1 - ((1 - truth) ** reached).mean()))
            tally.add(f"pass^k, {times_more} x", found.all_pass[reached], float((truth**reached).mean()))
        tally.add("gain", found.gain, gain)
        tally.add("price", price, 1 / gain)
    return tally


def _chances(name: str) -> Chances:
    return FITTED[name] if name in FITTED else OTHERS[name]


def _truth(name: str) -> Array:
    return _chances(name)(np.random.default_rng(1), TRUTHS)


def _drawn(random: np.random.Generator, name: str, n: int, draws: int) -> dict[str, tuple[int, int]]:
    right = random.binomial(draws, _chances(name)(random, n)).tolist()
    return {str(at): (int(c), draws) for at, c in enumerate(right)}


def _table(title: str, head: Sequence[str], rows: Iterator[tuple[Sequence[int], list[Tally]]]) -> None:
    """One line per point of the grid and interval: over all distributions, the mean and the lowest coverage."""
    print(f"**{title}**\n\n| {' | '.join((*head, 'interval', 'mean coverage', 'lowest', 'highest', 'mean width'))} |")
    print("|---" * (len(head) + 5) + "|")
    for point, tallies in rows:
        for name in tallies[0].covered:
            covered = [tally.covered[name] for tally in tallies if name in tally.covered]
            width = fmean(fmean(tally.width[name]) for tally in tallies if name in tally.width)
            shares = " | ".join(f"{100 * share:.1f} %" for share in (fmean(covered), min(covered), max(covered)))
            print(f"| {' | '.join(map(str, point))} | {name} | {shares} | {width:.2f} |", flush=True)
    print()


if __name__ == "__main__":
    main()
