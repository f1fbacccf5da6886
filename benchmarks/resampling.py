"""How often intervals of costs, ratios, break-evens and curves cover the truth, and how long resampling takes.

Run: ``python benchmarks/resampling.py`` (needs the ``dev`` extra; five minutes). It draws costs, solves and whole
trials with a known truth, computes the intervals of ``koderz_core.analysis``, and prints the share that covers the
truth, next to intervals of resamples: expanded percentiles, plain ones and BCa. Then it prints the seconds for the
frontier of 12 configurations with 164 problems; the exit code is 1 if they exceed the limit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from statistics import NormalDist
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from process_tree import machine

from koderz_core.analysis.bootstrap import ratio, ratio_interval, sums, weights
from koderz_core.analysis.curves import break_even, ceiling, curves
from koderz_core.analysis.rates import Interval, simultaneous, student
from koderz_core.analysis.tradeoff import tradeoff
from koderz_core.records.trials import Trial, Try

Array = NDArray[np.float64]
SIZES = (18, 20, 50, 164)
MANY, SOME = 1_000, 300
LIMIT_SECONDS = 0.2
MOST = 10
"""Attempts of a trial."""


def main() -> int:
    draw = np.random.default_rng(20261121)
    print(f"{machine()}, {datetime.now(UTC).date()}; simulated {MANY:,} times (costs) or {SOME} times (others).\n")
    _costs(draw)
    _ratios(draw)
    _break_evens(draw)
    _curves(draw)
    seconds = _frontier(draw)
    print(f"\nThe frontier of 12 configurations with 164 problems and 2000 resamples took {seconds * 1000:.0f} ms, "
          f"{seconds / LIMIT_SECONDS:.2f} of the time limit.")  # fmt: skip
    return int(seconds > LIMIT_SECONDS)


def _costs(draw: np.random.Generator) -> None:
    kinds: dict[str, tuple[Callable[[int], tuple[Array, Array]], float]] = {
        "mean cost, log-normal (sd 1)": (lambda n: (draw.lognormal(0, 1, n), np.ones(n)), np.exp(0.5)),
        "per solved, 90 % solved": (lambda n: _once(draw, n, 0.9), np.exp(0.245) / 0.9),
        "per solved, 50 %": (lambda n: _once(draw, n, 0.5), np.exp(0.245) / 0.5),
        "per solved, 10 %": (lambda n: _once(draw, n, 0.1), np.exp(0.245) / 0.1),
        "loop, 90 % solved": (lambda n: _loop(draw, n, 0.9), _loop_truth(0.9)),
        "loop, 50 %": (lambda n: _loop(draw, n, 0.5), _loop_truth(0.5)),
    }
    print("| what | problems | this one | expanded percentiles | percentiles | BCa |\n|---|---|---|---|---|---|")
    for name, (made, truth) in kinds.items():
        for n in SIZES:
            found = [_all(*made(n), seed) for seed in range(MANY)]
            shares = [np.mean([_holds(interval, truth) for interval in of]) for of in zip(*found, strict=True)]
            print(f"| {name} | {n} | {' | '.join(f'{share:.3f}' for share in shares)} |", flush=True)
    print()


def _ratios(draw: np.random.Generator) -> None:
    """Costs per solved problem of one configuration relative to another's, alone or as one of nine pairs."""
    kinds = {
        "once 90 %, once 90 %": (_once, 0.9, _once, 0.9),
        "once 50 %, once 90 %": (_once, 0.5, _once, 0.9),
        "once 10 %, once 90 %": (_once, 0.1, _once, 0.9),
        "loop 80 %, once 60 %": (_loop, 0.8, _once, 0.6),
        "loop 40 %, once 30 %": (_loop, 0.4, _once, 0.3),
        "loop 90 %, once 95 %": (_loop, 0.9, _once, 0.95),
    }
    columns = ("this one", "expanded percentiles", "median width: this one", "median width: expanded percentiles")
    print(f"| $ per solved: ratio of a to b | problems | pairs | {' | '.join(columns)} |")
    print("|---|---|---|---|---|---|---|")
    for at_once, resamples in ((1, 4_000), (9, 20_000)):
        for n in (18, 24, 60, 164):
            for name, (of_a, rate_a, of_b, rate_b) in kinds.items():
                truth = _truth(of_a, rate_a) / _truth(of_b, rate_b)
                found = []
                while len(found) < SOME:
                    (usd_a, solved_a), (usd_b, solved_b) = of_a(draw, n, rate_a), of_b(draw, n, rate_b)
                    if solved_a.any() and solved_b.any():  # else koderz gives no ratio
                        over, under = np.stack((usd_a, solved_b)), np.stack((solved_a, usd_b))
                        theirs = _percentiles(draw, over, under, at_once, resamples)
                        found.append((ratio_interval(over, under, at_once), theirs))
                held = [np.mean([_holds(interval, truth) for interval in of]) for of in zip(*found, strict=True)]
                width = [np.median([_width(interval) for interval in of]) for of in zip(*found, strict=True)]
                row = (
                    f"| {name} | {n} | {at_once} | {held[0]:.3f} | {held[1]:.3f} | x{width[0]:.2g} | x{width[1]:.2g} |"
                )
                print(row, flush=True)
    print()


def _percentiles(draw: np.random.Generator, over: Array, under: Array, at_once: int, resamples: int) -> Interval:
    n = over.shape[1]
    drawn = draw.multinomial(n, np.full(n, 1 / n), resamples).T.astype(float)
    found = ratio(sums(over, drawn).prod(axis=0), sums(under, drawn).prod(axis=0))
    tail = _expanded(n, at_once)
    return _between(0.0, found[~np.isnan(found)], (tail, 1 - tail))


def _expanded(n: int, at_once: int = 1) -> float:
    """Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician 69 (2015), section 5.3."""
    return NormalDist().cdf(-((n / (n - 1)) ** 0.5) * student(simultaneous(at_once), n - 1))


def _width(found: Interval) -> float:
    assert found.low is not None
    assert found.high is not None
    return found.high / found.low if found.low else np.inf


def _break_evens(draw: np.random.Generator) -> None:
    """The cheap one solves 40 % of the rest with each of five attempts, so the third reaches 78.4 %."""
    print("| break-even, problems | pairs | covers the truth |\n|---|---|---|")
    for n in (20, 60, 164):
        for at_once in (1, 9):
            held = 0
            for _ in range(SOME):
                tries = draw.geometric(0.4, n)
                cheap = [
                    _trial(at, 0, "success" if k <= 5 else "never", min(k, 5), min(k, 5)) for at, k in enumerate(tries)
                ]
                solved = draw.random(n) < 0.784
                found = break_even(
                    cheap,
                    [_trial(at, 0, "success" if success else "never", 1) for at, success in enumerate(solved)],
                    at_once,
                )
                held += (
                    found is not None
                    and found.low is not None
                    and found.high is not None
                    and found.low <= 3 <= found.high
                )
            print(f"| {n} | {at_once} | {held / SOME:.3f} |", flush=True)
    print()


def _all(over: Array, under: Array, seed: int) -> tuple[Interval, ...]:
    drawn = sums(np.stack((over, under)), weights(len(over), seed))
    found, value = ratio(drawn[0], drawn[1]), float(ratio(over.sum(), under.sum()))
    without = ratio(over.sum() - over, under.sum() - under)
    tails = _bca_tails(value, found, without) if np.isfinite(without).all() else (0.025, 0.975)
    tail = _expanded(len(over))
    resampled = (_between(value, found, both) for both in ((tail, 1 - tail), (0.025, 0.975), tails))
    return ratio_interval(over, under), *resampled


def _bca_tails(value: float, found: Array, without: Array) -> tuple[float, float]:
    """Efron, "Better Bootstrap Confidence Intervals", JASA 82 (1987) 171-185."""
    normal, away = NormalDist(), without.mean() - without
    below = float((found < value).mean() + (found == value).mean() / 2)
    shift = normal.inv_cdf(min(max(below, 1e-4), 1 - 1e-4))
    spread = float((away**2).sum())
    skew = float((away**3).sum()) / (6 * spread**1.5) if spread else 0.0
    low, high = (normal.cdf(shift + (shift + z) / (1 - skew * (shift + z))) for z in (-1.96, 1.96))
    return low, high


def _between(value: float, found: Array, tails: tuple[float, float]) -> Interval:
    low, high = np.quantile(found, tails, method="inverted_cdf")
    return Interval(value, float(low), float(high))


def _holds(found: Interval, truth: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= truth <= found.high


def _once(draw: np.random.Generator, n: int, rate: float) -> tuple[Array, Array]:
    return draw.lognormal(0, 0.7, n), (draw.random(n) < rate).astype(float)


def _loop(draw: np.random.Generator, n: int, rate: float) -> tuple[Array, Array]:
    """Solved after a few attempts, or all attempts used."""
    solved = draw.random(n) < rate
    attempts = np.where(solved, np.minimum(draw.geometric(0.5, n), MOST), MOST)
    return attempts * draw.lognormal(0, 0.4, n), solved.astype(float)


def _truth(of: object, rate: float) -> float:
    return float(np.exp(0.245) / rate) if of is _once else _loop_truth(rate)


def _loop_truth(rate: float) -> float:
    attempts = sum(min(k, MOST) * 0.5**k for k in range(1, 60))
    return float((rate * attempts + (1 - rate) * MOST) * np.exp(0.08) / rate)


def _curves(draw: np.random.Generator) -> None:
    """40 % end in a success, 20 % in a false pass of the gate, the others never pass."""
    print("| problems | repeats | alike | cancelled | band, mean of steps | at the last step | ceiling (2/3) |")
    print("|---|---|---|---|---|---|---|")
    for n, repeats, alike, cancelled in (
        (20, 1, False, 0.0), (164, 1, False, 0.0), (20, 1, False, 0.2), (164, 1, False, 0.2),
        (20, 3, False, 0.0), (20, 3, True, 0.0), (164, 3, True, 0.2),
    ):  # fmt: skip
        steps, last, ceilings = [], [], []
        for seed in range(SOME):
            trials = _trials(draw, n, repeats, alike, cancelled)
            (curve,) = curves({"a": trials}, "attempts", seed).curves
            rows = zip(curve.at[1:], curve.low[1:], curve.high[1:], strict=True)
            held = [low <= 0.4 * (1 - 0.7**at if at < MOST else 1) <= high for at, low, high in rows]
            steps.append(np.mean(held))
            last.append(held[-1])
            found = ceiling(trials)
            rate = found.rate if found else None
            ceilings.append(rate is None or rate.low is None or rate.high is None or rate.low <= 2 / 3 <= rate.high)
        row = f"| {n} | {repeats} | {'yes' if alike else 'no'} | {cancelled:.0%} | {np.mean(steps):.3f}"
        print(f"{row} | {np.mean(last):.3f} | {np.mean(ceilings):.3f} |", flush=True)


def _trials(draw: np.random.Generator, n: int, repeats: int, alike: bool, cancelled: float) -> list[Trial]:
    made = []
    for problem in range(n):
        fates = [_fate(draw) for _ in range(repeats)]
        for repeat in range(repeats):
            end, attempts = fates[0 if alike else repeat]
            cut = int(draw.integers(0, MOST)) if draw.random() < cancelled else MOST
            made.append(_trial(problem, repeat, "cut" if cut < attempts else end, min(cut, attempts)))
    return made


def _fate(draw: np.random.Generator) -> tuple[str, int]:
    end = str(draw.choice(["success", "false", "never"], p=[0.4, 0.2, 0.4]))
    return end, MOST if end == "never" else min(int(draw.geometric(0.3)), MOST)


def _trial(problem: int, repeat: int, end: str, attempts: int, usd: float = 1.0) -> Trial:
    passed, solved, cut = end in ("success", "false"), end == "success", end == "cut"
    tried = Try(attempts, f"{problem}/{repeat}", passed, 0, 1, None, solved, usd, 1.0)
    return Trial(
        "bench", "conf", f"{problem}/{repeat}", f"p/{problem}", repeat,
        "cancelled" if cut else "solved" if solved else "unsolved",
        None if cut else "gate" if passed else "iterations",
        "held_out", None if cut else passed, None, attempts, usd, 0.0, 1, 0, 1.0,
        (tried,) if attempts and not cut else (),
    )  # fmt: skip


def _frontier(draw: np.random.Generator) -> float:
    held = {
        name: [
            _trial(n, 0, "success" if draw.random() < rate else "never", 1, float(draw.lognormal())) for n in range(164)
        ]
        for name, rate in enumerate(np.linspace(0.3, 0.9, 12))
    }
    return min(_timed(lambda: tradeoff(held)) for _ in range(5))


def _timed(what: Callable[[], object]) -> float:
    weights.cache_clear()
    began = perf_counter()
    what()
    return perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
