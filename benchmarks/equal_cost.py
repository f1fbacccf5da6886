"""How often simultaneous bands at equal cost cover the true curves, and how often they support a false difference.

Run: ``python benchmarks/equal_cost.py`` (about 3 minutes; ``--times 500`` takes 15). The grid was chosen before the
first run: 18, 60 and 164 problems; 1 and 5 repeats; success rates of 30, 60 and 90 %; and two sets of three
configurations: three equal loops of four attempts, or such a loop, one attempt, and one attempt of a better model that
costs ten times as much. Half of each problem's chance does not depend on the draw. A band covers the truth if it does
so for all configurations at 60 budgets. A difference is false if the other configuration solves as much or more at one
of these budgets within its range, or in its middle.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from koderz_core.analysis.equal_cost import EqualCost, equal_cost
from koderz_core.analysis.rates import Interval
from koderz_core.records.trials import Trial, Try

Array = NDArray[np.float64]
PROBLEMS, REPEATS, RATES = (18, 60, 164), (1, 5), (0.3, 0.6, 0.9)
SETS = {"equal": ("loop", "loop", "loop"), "different": ("loop", "once", "dear")}
PLACES, LARGE = 60, 200_000
BUDGET = 0.4  # per problem, of the whole set


@dataclass(frozen=True)
class Runs:
    """The course of every experiment: the amount after each attempt (columns), and which attempt solves (0: none)."""

    amounts: Array
    solving: NDArray[np.intp]

    @property
    def needed(self) -> Array:
        """The amount at which each is solved; infinite if it never is."""
        at = self.amounts[np.arange(len(self.solving)), np.maximum(self.solving - 1, 0)]
        return np.where(self.solving > 0, at, np.inf)

    @property
    def rounds(self) -> tuple[Array, Array]:
        """Mean amount and share solved after each number of attempts on every unsolved problem."""
        last = np.where(self.solving > 0, self.solving, self.amounts.shape[1])
        numbers = range(1, self.amounts.shape[1] + 1)
        rows = np.arange(len(last))
        spent = [self.amounts[rows, np.minimum(last, number) - 1].mean() for number in numbers]
        solved = [((self.solving > 0) & (self.solving <= number)).mean() for number in numbers]
        return np.array([0.0, *spent]), np.array([0.0, *solved])


@dataclass(frozen=True)
class Cell:
    """A point of the grid: shares of simulated benchmarks."""

    n: int
    repeats: int
    rate: float
    of: str
    covered: float
    false: float
    area: float
    difference: float
    breadth: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100, help="simulated benchmarks for each point of the grid")
    times = parser.parse_args().times
    grid = product(PROBLEMS, REPEATS, RATES, SETS)
    cells = [_cell(np.random.default_rng(seed), times, *point) for seed, point in enumerate(grid)]
    print(f"{times} simulated benchmarks for each of {len(cells)} points; nominal coverage 95 %.\n")
    head = (
        "problems",
        "repeats",
        "bands: mean",
        "lowest",
        "false difference: mean",
        "highest",
        "area",
        "area difference",
    )
    print(f"| {' | '.join((*head, 'breadth first'))} |\n|{'---|' * (len(head) + 1)}")
    for n, repeats in product(PROBLEMS, REPEATS):
        own = [cell for cell in cells if (cell.n, cell.repeats) == (n, repeats)]
        bands, false = [cell.covered for cell in own], [cell.false for cell in own]
        further = (fmean(getattr(cell, name) for cell in own) for name in ("area", "difference", "breadth"))
        shares = (fmean(bands), min(bands), fmean(false), max(false), *further)
        print(f"| {n} | {repeats} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} |")
    for cell in sorted(cells, key=lambda cell: cell.covered)[:4] + sorted(cells, key=lambda cell: -cell.false)[:4]:
        print(cell)


def _cell(random: np.random.Generator, times: int, n: int, repeats: int, rate: float, of: str) -> Cell:
    kinds = SETS[of]
    found = np.zeros(5)
    for seed in range(times):
        difficulty = random.random(n)
        drawn = [_runs(random, kind, rate, np.repeat(difficulty, repeats)) for kind in kinds]
        trials = {("b", str(at)): _trials(runs, str(at), repeats) for at, runs in enumerate(drawn)}
        result = equal_cost(trials, "usd", ("b", "0"), seed=seed)
        found += _judged(result, [_truth(kind, rate) for kind in kinds])
    return Cell(n, repeats, rate, of, *(found / times).tolist())


@cache
def _truth(kind: str, rate: float) -> Runs:
    random = np.random.default_rng(0)
    return _runs(random, kind, rate, random.random(LARGE))


def _runs(random: np.random.Generator, kind: str, rate: float, difficulty: Array) -> Runs:
    """One course for each difficulty. Costs vary between problems and between attempts."""
    number, price = {"loop": (4, 0.2), "once": (1, 0.5), "dear": (1, 5.0)}[kind]
    rate = min(0.98, rate + 0.15) if kind == "dear" else rate
    chance = 0.5 * (difficulty < rate) + 0.5 * rate
    costs = price * random.lognormal(0.0, 0.5, (len(difficulty), number)) * np.exp(difficulty - 0.5)[:, None]
    passes = random.random(costs.shape) < (1 - (1 - chance) ** (1 / number))[:, None]
    solving = np.where(passes.any(axis=1), passes.argmax(axis=1) + 1, 0)
    return Runs(costs.cumsum(axis=1), solving)


def _trials(runs: Runs, name: str, repeats: int) -> list[Trial]:
    made = []
    for place, (amounts, solving) in enumerate(zip(runs.amounts.tolist(), runs.solving.tolist(), strict=True)):
        used = amounts[: solving or None]
        tries = tuple(
            Try(number, None, number == solving, 0, 1, None, number == solving, usd, 0.0)
            for number, usd in enumerate(used, 1)
        )
        made.append(
            Trial(
                benchmark="b",
                configuration=name,
                experiment=f"{name}/{place}",
                problem=str(place // repeats),
                repeat=place % repeats,
                outcome="solved" if solving else "unsolved",
                reason=None,
                score_kind="held_out",
                gate_passed=bool(solving),
                code=None,
                iterations=len(used),
                usd=used[-1],
                frontier_usd=0.0,
                tokens=0,
                frontier_tokens=0,
                seconds=1.0,
                tries=tries,
            )
        )
    return made


def _judged(result: EqualCost, truth: Sequence[Runs]) -> Array:
    """Whether the bands cover, a difference is false, the areas and their differences cover, and breadth first does."""
    needed = [np.sort(runs.needed) for runs in truth]
    places = np.geomspace(result.least / 2, result.most * 2, PLACES)
    curves = [_level(of, places) for of in needed]
    covered = True
    for curve, true in zip(result.curves.curves, curves, strict=True):
        step = np.searchsorted(curve.at, places, side="right") - 1
        covered &= bool(
            ((np.array(curve.low)[step] <= true + 1e-3) & (true - 1e-3 <= np.array(curve.high)[step])).all()
        )
    false = False
    for of in result.supported:
        middle = np.sqrt(of.start * min(of.end, 2 * result.most))
        inside = np.append(places[(places >= of.start) & (places < of.end)], middle)
        better, worse = (_level(needed[int(key[1])], inside) for key in (of.better, of.worse))
        false |= bool((better <= worse + 1e-9).any())
    areas = [_area(of, result) for of in needed]
    pairs = list(zip(result.areas, areas, strict=True))
    area = fmean(_covers(of.share, true) for of, true in pairs)
    difference = all(_covers(of.difference, true - areas[0]) for of, true in pairs if of.difference)
    of_loop = result.breadth["b", "0"].at(BUDGET)
    spent, solved = truth[0].rounds
    breadth = of_loop is None or _covers(of_loop, float(np.interp(BUDGET, spent, solved)))
    return np.array([covered, false, area, difference, breadth], dtype=np.float64)


def _level(needed: Array, places: Array) -> Array:
    return np.searchsorted(needed, places, side="right") / len(needed)


def _area(needed: Array, result: EqualCost) -> float:
    """The mean over the logarithm of the budget, by the trapezoid rule."""
    places = np.geomspace(result.least, result.most, 400)
    heights = _level(needed, places)
    return float((heights[1:] + heights[:-1]).mean() / 2)


def _covers(of: Interval, truth: float) -> bool:
    assert of.low is not None and of.high is not None, "intervals have bounds"  # noqa: PT018
    return of.low - 1e-3 <= truth <= of.high + 1e-3


if __name__ == "__main__":
    main()
