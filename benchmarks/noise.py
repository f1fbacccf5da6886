"""How often the intervals of data noise and of prediction noise cover the truth, and how good predicted errors are.

Run: ``python benchmarks/noise.py`` (about 2 minutes; ``--times 5000`` takes 10). The grid was chosen before the first
run: 18, 60 and 164 problems; 2 and 5 repeats; five success rates; shares of each problem's chance that do not depend on
the draw, because the problem is too easy or too hard; and four subjects: one configuration, and the differences of two
that find the same problems hard (equal, or 10 points apart) or different ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import sqrt
from statistics import fmean

import numpy as np

from koderz_core.analysis.noise import Components, components
from koderz_core.analysis.rates import Interval

PROBLEMS, REPEATS = (18, 60, 164), (2, 5)
RATES, FIXED = (0.3, 0.5, 0.7, 0.85, 0.95), (0.0, 0.6, 0.9)
SUBJECTS = ("one", "equal", "10 points less", "other problems")
SHOWN_REPEATS = 10  # of the design whose standard error is predicted


@dataclass(frozen=True)
class Point:
    """A point of the grid."""

    n: int
    repeats: int
    rate: float
    fixed: float
    subject: str

    @property
    def rates(self) -> tuple[float, ...]:
        """Of the configuration, or of the two whose difference is estimated."""
        return (self.rate,) if self.subject == "one" else (self.rate - 0.1 * ("less" in self.subject), self.rate)

    @property
    def truth(self) -> tuple[float, float]:
        """The variance between problems, and the mean variance of a draw (summed over both configurations)."""
        between = [rate * (1 - rate) for rate in self.rates]
        prediction = sum(between) * (1 - self.fixed**2)
        if len(between) == 1 or self.subject == "other problems":
            return self.fixed**2 * sum(between), prediction
        apart = self.rates[1] - self.rates[0]
        return self.fixed**2 * apart * (1 - apart), prediction


@dataclass(frozen=True)
class Cell:
    """How often both intervals cover the truth at a point, and the predicted standard error divided by the true one."""

    at: Point
    data: float
    prediction: float
    error: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=1000, help="simulated benchmarks for each point of the grid")
    times = parser.parse_args().times
    grid = product(PROBLEMS, REPEATS, RATES, FIXED, SUBJECTS)
    cells = [_cell(Point(*point), times, seed) for seed, point in enumerate(grid)]
    print(f"{times} simulated benchmarks for each of {len(cells)} points; nominal coverage 95 %.\n")
    head = ("problems", "repeats", "data noise: mean", "lowest", "prediction noise: mean", "lowest", "predicted error")
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for n, repeats in product(PROBLEMS, REPEATS):
        print(f"| {n} | {repeats} | {' | '.join(_line(_of(cells, n, repeats)))} |")
    for name in ("data", "prediction"):
        print(f"\nThe lowest coverage of {name} noise:")
        for cell in sorted(cells, key=lambda cell: float(getattr(cell, name)))[:5]:
            print(f"{getattr(cell, name):.3f}: {cell}")


def _of(cells: Sequence[Cell], n: int, repeats: int) -> list[Cell]:
    return [cell for cell in cells if (cell.at.n, cell.at.repeats) == (n, repeats)]


def _line(cells: Sequence[Cell]) -> Iterator[str]:
    for name in ("data", "prediction"):
        covered = [getattr(cell, name) for cell in cells]
        yield from (f"{100 * share:.1f} %" for share in (fmean(covered), min(covered)))
    yield f"x{min(cell.error for cell in cells):.2f} to x{max(cell.error for cell in cells):.2f}"


def _cell(at: Point, times: int, seed: int) -> Cell:
    random = np.random.default_rng(seed)
    data, prediction = at.truth
    covered, variances = np.zeros(2), []
    for _ in range(times):
        found = _drawn(random, at)
        covered += _covers(found.data, data), _covers(found.prediction, prediction)
        variances.append(found.error(at.n, (SHOWN_REPEATS,) * len(found.parts)) ** 2)
    error = sqrt(fmean(variances) / ((data + prediction / SHOWN_REPEATS) / at.n))
    of_data, of_prediction = (covered / times).tolist()
    return Cell(at, of_data, of_prediction, error)


def _covers(of: Interval, truth: float) -> bool:
    assert of.low is not None and of.high is not None, "components have bounds"  # noqa: PT018
    return of.low - 1e-9 <= truth <= of.high + 1e-9


def _drawn(random: np.random.Generator, at: Point) -> Components:
    """One benchmark: problems have a difficulty, and a share ``fixed`` of each chance is 0 or 1 by that difficulty."""
    difficulty, counts = random.random(at.n), []
    for rate in at.rates:
        chance = at.fixed * (difficulty < rate) + (1 - at.fixed) * rate
        solved = random.binomial(at.repeats, chance).tolist()
        counts.append({str(problem): (number, at.repeats) for problem, number in enumerate(solved)})
        difficulty = random.random(at.n) if at.subject == "other problems" else difficulty
    found = components(counts)
    assert found is not None, "every problem has repeats"
    return found


if __name__ == "__main__":
    main()
