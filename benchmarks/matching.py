"""How often the score interval covers the true difference, and how often a configuration matches that should not.

Run: ``python benchmarks/matching.py`` (about 3 minutes). The grid was chosen before the first run: 18, 60 and 164
problems; 1 and 5 repeats; success rates of the baseline; true differences from -10 to 10 points, -10 being the margin;
and shares of problems whose result is the same in every repeat because they are too easy or too hard for chance. These
problems are ordered by difficulty in the same way for both configurations.

For the match in cost, the true ratio of the costs per solved problem is exactly the margin. Costs are log-normal with
a standard deviation of their logarithm of ``SPREADS``; the success rate of the configuration is that of the baseline or
20 points lower.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from statistics import fmean

import numpy as np

from koderz_core.analysis.money import ratio_of_prices
from koderz_core.analysis.noninferiority import (
    COST_MARGIN,
    LEVEL,
    MARGIN,
    Discordance,
    discordance,
    score_interval,
    score_p,
)

PROBLEMS, REPEATS = (18, 60, 164), (1, 5)
RATES, DIFFERENCES, FIXED = (0.3, 0.5, 0.7, 0.85, 0.95), (-0.1, -0.05, 0.0, 0.05, 0.1), (0.0, 0.6, 0.9)
SPREADS, LOWER = (0.3, 1.0), (0.0, 0.2)


@dataclass(frozen=True)
class Cell:
    """One point of the grid: how often its interval covers the truth, and how often the test says ``matches``."""

    n: int
    repeats: int
    rate: float
    difference: float
    fixed: float
    covered: float
    matched: float
    short: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=2000, help="simulated benchmarks for each point of the grid")
    times = parser.parse_args().times
    cells = list(_cells(times))
    print(f"{times} simulated benchmarks for each of {len(cells)} points; nominal: coverage 95 %, level 2.5 %.\n")
    head = ("problems", "repeats", "mean coverage", "lowest", "highest", "matches: mean", "highest", "falls short")
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for n, repeats in product(PROBLEMS, REPEATS):
        own = [cell for cell in cells if (cell.n, cell.repeats) == (n, repeats)]
        covered = [cell.covered for cell in own]
        margin = [cell for cell in own if cell.difference == -MARGIN]
        matched, short = ([getattr(cell, name) for cell in margin] for name in ("matched", "short"))
        shares = (fmean(covered), min(covered), max(covered), fmean(matched), max(matched), max(short))
        print(f"| {n} | {repeats} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} |")
    print("\nThe lowest coverage:")
    for cell in sorted(cells, key=lambda cell: cell.covered)[:5]:
        print(f"{cell.covered:.3f}: {cell}")
    titles = ("problems", "repeats", "mean coverage", "lowest", "matches: mean", "highest", "falls short: highest")
    print(f"\nCost per solved problem.\n| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    for n, repeats in product(PROBLEMS, REPEATS):
        held, cheap, dear = zip(*_costs(n, repeats, times), strict=True)
        parts = (fmean(held), min(held), fmean(cheap), max(cheap), max(dear))
        print(f"| {n} | {repeats} | {' | '.join(f'{100 * share:.1f} %' for share in parts)} |")


def _cells(times: int) -> Iterator[Cell]:
    grid = product(PROBLEMS, REPEATS, RATES, DIFFERENCES, FIXED)
    for seed, (n, repeats, rate, difference, fixed) in enumerate(grid):
        if not 0 <= rate + difference <= 1:
            continue
        random = np.random.default_rng(seed)
        covered = matched = short = 0
        for _ in range(times):
            seen = _drawn(random, n, repeats, (rate + difference, rate), fixed)
            low, high = score_interval(seen)
            covered += low - 1e-9 <= difference <= high + 1e-9
            p = score_p(seen, -MARGIN)
            matched += p <= LEVEL
            short += 1 - p <= LEVEL
        yield Cell(n, repeats, rate, difference, fixed, covered / times, matched / times, short / times)


def _costs(n: int, repeats: int, times: int) -> Iterator[tuple[float, float, float]]:
    """By point of the grid: how often the interval of the ratio covers it, is below the margin, and is above it."""
    for seed, (rate, lower, spread, fixed) in enumerate(product(RATES, LOWER, SPREADS, FIXED)):
        random = np.random.default_rng(seed)
        own = rate - lower
        found = []
        for _ in range(times):
            difficulty = random.random(n)
            solved = [
                random.binomial(repeats, fixed * (difficulty < of) + (1 - fixed) * of) / repeats for of in (own, rate)
            ]
            usd = np.exp(spread * random.standard_normal((2, repeats, n))).mean(axis=1)
            usd[0] *= COST_MARGIN * own / rate
            drawn = ratio_of_prices(np.stack([usd[0], solved[0], usd[1], solved[1]]), conservative=True)
            if drawn is not None:
                assert drawn.low is not None
                assert drawn.high is not None
                found.append((drawn.low, drawn.high))
        low, high = np.array(found).T
        within = (low <= COST_MARGIN) & (high >= COST_MARGIN)
        yield float(within.mean()), float((high <= COST_MARGIN).mean()), float((low > COST_MARGIN).mean())


def _drawn(random: np.random.Generator, n: int, repeats: int, rates: tuple[float, float], fixed: float) -> Discordance:
    """One benchmark: problems have a difficulty, and a share ``fixed`` of each chance is 0 or 1 by that difficulty."""
    difficulty = random.random(n)
    chances = [fixed * (difficulty < rate) + (1 - fixed) * rate for rate in rates]
    drawn = [random.binomial(repeats, chance).tolist() for chance in chances]
    a, b = ({str(at): (solved, repeats) for at, solved in enumerate(of)} for of in drawn)
    found = discordance(a, b)
    assert found is not None
    return found


if __name__ == "__main__":
    main()
