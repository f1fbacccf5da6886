"""How often a sequential benchmark, looked at after every problem, decides wrongly, and how many problems it saves.

Run: ``python benchmarks/sequential.py`` (about 4 minutes). The grid was chosen before the first run: 18, 60 and 164
problems; 1 and 5 repeats; true differences of 0, -5, -10 and -15 points; shares of discordant problems of 10, 20 and 30
% with one trial. The margin is 10 points. At a true difference of -10 points both hypotheses hold, so every decision
that is not "hopeless" is wrong; nominal: at most 2.5 % for each of the two, so at most 5 % for both.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from koderz_core.analysis.noninferiority import LEVEL, MARGIN, noninferiority_power
from koderz_core.analysis.sequential import decide

PROBLEMS, REPEATS = (18, 60, 164), (1, 5)
DIFFERENCES, DISCORDANT = (0.0, -0.05, -0.1, -0.15), (0.1, 0.2, 0.3)
FIXED = 0.6  # of the variance of repeats: the share of discordant problems that every repeat agrees on
AT_ONCE = 500  # simulated benchmarks in memory


@dataclass(frozen=True)
class Cell:
    """One point of the grid: how often each decision was made, and after how many problems on average.

    ``ever_matches``, ``ever_short``: how often an e-value ever decided, if the benchmark never stopped as hopeless.
    ``covered``: how often the confidence sequence contained the true difference after every problem.
    """

    n: int
    repeats: int
    difference: float
    discordant: float
    matches: float
    short: float
    hopeless: float
    mean: float
    ever_matches: float
    ever_short: float
    covered: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10_000, help="simulated benchmarks for each point of the grid")
    times = parser.parse_args().times
    cells = list(_cells(times))
    print(f"{times} simulated benchmarks for each of {len(cells)} points.\n")
    head = ("problems", "repeats", "difference", "discordant", "matches", "falls short", "hopeless", "mean n", "saved")
    print(f"| {' | '.join((*head, 'power of a fixed n'))} |\n|{'---|' * (len(head) + 1)}")
    for cell in cells:
        power = "-" if cell.repeats > 1 else _percent(_power(cell))
        shares = (cell.matches, cell.short, cell.hopeless)
        values = (f"{100 * cell.difference:+.0f}", f"{100 * cell.discordant:.0f} %", *map(_percent, shares))
        saved = _percent(1 - cell.mean / cell.n)
        print(f"| {cell.n} | {cell.repeats} | {' | '.join(values)} | {cell.mean:.0f} | {saved} | {power} |")
    wrong = {
        "matches": ([cell for cell in cells if cell.difference <= -MARGIN], lambda cell: cell.ever_matches),
        "falls short": ([cell for cell in cells if cell.difference >= -MARGIN], lambda cell: cell.ever_short),
        "either": (
            [cell for cell in cells if cell.difference == -MARGIN],
            lambda cell: cell.ever_matches + cell.ever_short,
        ),
    }
    print(f"\nLowest coverage of the confidence sequence: {_percent(min(cell.covered for cell in cells))}")
    print("The most frequent wrong decisions under continuous peeking, without stopping as hopeless:")
    for name, (among, share) in wrong.items():
        worst = max(among, key=share)
        print(f"{name}: {_percent(share(worst))}, {worst}")


def _power(cell: Cell) -> float:
    """The chance that a benchmark with a fixed number of problems shows a match, by an exact calculation."""
    return noninferiority_power(cell.n, MARGIN, cell.discordant, cell.difference)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _cells(times: int) -> Iterator[Cell]:
    for seed, (n, repeats, discordant, difference) in enumerate(product(PROBLEMS, REPEATS, DISCORDANT, DIFFERENCES)):
        if abs(difference) > discordant:
            continue
        random = np.random.default_rng(seed)
        counts, ever, total, missed = np.zeros(4), np.zeros(2), 0, 0
        for start in range(0, times, AT_ONCE):
            drawn = _drawn(random, (min(AT_ONCE, times - start), n), repeats, discordant, difference)
            found = decide(drawn, drawn, n, MARGIN)
            counts += np.bincount(found.decision, minlength=4)
            ever += [(logs.max(axis=1) >= np.log(1 / LEVEL)).sum() for logs in (found.match, found.short)]
            truth = decide(drawn, drawn, n, -difference)
            missed += int((np.maximum(truth.match, truth.short).max(axis=1) >= np.log(1 / LEVEL)).sum())
            total += int(np.where(found.at > 0, found.at, n).sum())
        _, matches, short, hopeless = (counts / times).tolist()
        shares = (matches, short, hopeless, total / times, *(ever / times).tolist(), 1 - missed / times)
        yield Cell(n, repeats, difference, discordant, *shares)


def _drawn(
    random: np.random.Generator, size: tuple[int, int], repeats: int, discordant: float, difference: float
) -> NDArray[np.float64]:
    """Differences of problems. A share ``FIXED`` of the discordance is the same in every repeat of a problem."""
    chances = ((discordant + difference) / 2, (discordant - difference) / 2)
    once = _trinomial(random.random(size), chances)
    if repeats == 1:
        return once
    again = _trinomial(random.random((*size, repeats)), chances).mean(axis=2)
    same: NDArray[np.float64] = np.where(random.random(size) < FIXED, once, again)
    return same


def _trinomial(uniform: NDArray[np.float64], chances: tuple[float, float]) -> NDArray[np.float64]:
    """1 where a alone solved, -1 where b alone did, else 0."""
    only_a, only_b = chances
    return np.where(uniform < only_a, 1.0, np.where(uniform < only_a + only_b, -1.0, 0.0))


if __name__ == "__main__":
    main()
