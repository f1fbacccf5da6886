"""How often two configurations differ significantly, correctly and wrongly, and how often the interval covers.

Run: ``python benchmarks/pairs.py`` (needs the ``dev`` extra; about 20 minutes, ``--quick`` one). It draws solved trials
with known probabilities, computes p and interval of each pair with ``koderz_core.analysis``, and prints tables next to
the Cochran-Mantel-Haenszel test, without and with its continuity correction. The exit code is 1 if two configurations
that solve each problem with the same probability differ significantly in more than 5.5 % of the draws of a row, or if
the intervals cover the truth in less than 94 % on average.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray
from process_tree import machine
from scipy import stats

from koderz_core.analysis.multiplicity import compatible, holm
from koderz_core.analysis.paired import Discordant, Paired, bonett_price_of, mcnemar
from koderz_core.analysis.permutation import label_permutation

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
SIZES = (18, 20, 60)
CHANCES = ("0.5", "0.9", "0.95", "beta(9, 1)")
"""To solve a problem; beta distributed: some problems are harder for both."""
GAPS = (0.1, 0.2)
MANY, SOME = 20_000, 2_000
ALPHA, MOST_WRONG, LEAST_HELD = 0.05, 0.055, 0.94


@dataclass(frozen=True, slots=True)
class Design:
    """How often each problem is tried: numbers for the problems in turn, with different ones where trials were lost."""

    name: str
    a: tuple[int, ...]
    b: tuple[int, ...]

    def trials(self, n: int) -> tuple[Counts, Counts]:
        """Those of a and of b, by problem."""
        return np.resize(self.a, n), np.resize(self.b, n)


DESIGNS = (
    Design("1 against 1", (1,), (1,)),
    Design("1 against 5", (1,), (5,)),
    Design("5 against 1", (5,), (1,)),
    Design("1 against 10", (1,), (10,)),
    Design("10 against 1", (10,), (1,)),
    Design("3 against 3", (3,), (3,)),
    Design("3 against 3, some lost", (3, 3, 1), (3, 2)),
    Design("1 against 10, some lost", (1,), (10, 3)),
)
SAME_BY_SYMMETRY = {"5 against 1", "10 against 1"}
"""Without a difference their p have the same distribution as those of the designs turned round."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Solved trials of many benchmarks (rows) by problem, and the tests and intervals of each benchmark."""

    p: Array
    cmh: Array
    corrected: Array
    difference: Array
    low: Array
    high: Array

    def rejected(self) -> tuple[float, float, float]:
        """By this test, by Cochran, Mantel and Haenszel's, and by theirs with continuity correction."""
        ours, theirs, corrected = (float((p <= ALPHA).mean()) for p in (self.p, self.cmh, self.corrected))
        return ours, theirs, corrected

    def held(self, truth: float) -> float:
        """The share of compatible intervals that cover the true difference; one with 0 as a bound does not cover 0."""
        apart = self.p <= ALPHA
        low = np.where(apart & (self.difference > 0), np.maximum(self.low, 0), self.low)
        high = np.where(apart & (self.difference < 0), np.minimum(self.high, 0), self.high)
        low, high = np.where(apart, low, np.minimum(low, 0)), np.where(apart, high, np.maximum(high, 0))
        inside = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
        return float((inside & ~(apart & (truth == 0))).mean())


def main() -> int:
    many, some = (1_000, 100) if "--quick" in sys.argv else (MANY, SOME)
    draw = np.random.default_rng(20261123)
    print(f"{machine()}, {datetime.now(UTC).date()}; simulated {many:,} times (no difference) or {some:,} times.\n")
    wrong, held = zip(*_without_difference(draw, many), strict=True)
    ratios, held_too = zip(*_with_difference(draw, some), strict=True)
    _other_problems(draw, some)
    _families(draw, some)
    covered = [*held, *(value for each in held_too for value in each)]
    print(f"Highest type I error rate: {max(wrong):.4f}. Coverage of the intervals: {np.mean(covered):.4f} on average,")
    print(f"at least {min(covered):.4f}. Lowest ratio of the power to that of the corrected CMH test, if the latter is")
    print(f"0.1 or more: {min(value for each in ratios for value in each):.2f}.")
    return int(max(wrong) > MOST_WRONG or float(np.mean(covered)) < LEAST_HELD)


def _without_difference(draw: np.random.Generator, times: int) -> Iterator[tuple[float, float]]:
    print(
        "| problems | trials | chance | significant | CMH | corrected | interval holds 0 |\n"
        "|---|---|---|---|---|---|---|"
    )
    for n in SIZES:
        for design in DESIGNS:
            for chance in CHANCES:
                if design.name in SAME_BY_SYMMETRY:
                    continue
                found = _drawn(draw, design, *_chances(draw, chance, 0.0, (times, n)))
                ours, theirs, corrected = found.rejected()
                held = found.held(0.0)
                row = f"| {n} | {design.name} | {chance} | {ours:.4f} | {theirs:.4f} | {corrected:.4f} | {held:.4f} |"
                print(row, flush=True)
                yield ours, held
    print()


def _with_difference(draw: np.random.Generator, times: int) -> Iterator[tuple[list[float], list[float]]]:
    columns = ("significant", "CMH", "corrected", "interval holds")
    of_gaps = (f"{100 * gap:.0f} points: {column}" for gap in GAPS for column in columns)
    print(f"| problems | trials | chance of a | {' | '.join(of_gaps)} |\n|{'---|' * 11}")
    for n in SIZES:
        for design in DESIGNS:
            for chance in CHANCES:
                found = [_drawn(draw, design, *_chances(draw, chance, gap, (times, n))) for gap in GAPS]
                powers, held = (
                    [judged.rejected() for judged in found],
                    [judged.held(gap) for judged, gap in zip(found, GAPS, strict=True)],
                )
                cells = [f"{p[0]:.2f} | {p[1]:.2f} | {p[2]:.2f} | {h:.3f}" for p, h in zip(powers, held, strict=True)]
                print(f"| {n} | {design.name} | {chance} | {' | '.join(cells)} |", flush=True)
                yield [p[0] / p[2] for p in powers if p[2] >= 0.1], held
    print()


def _other_problems(draw: np.random.Generator, times: int) -> None:
    """Both solve the same share on average over all problems that exist, but not the same ones."""
    print(
        "| problems | trials | success probabilities, drawn separately | significant | CMH | interval holds 0 |\n"
        "|---|---|---|---|---|---|"
    )
    for n in (20, 60):
        for a, b in ((1, 1), (3, 3), (10, 10), (1, 10)):
            for first, second in ((9.0, 1.0), (1.0, 1.0), (0.9, 0.1), (0.09, 0.01)):
                each = (draw.beta(first, second, (times, n)) for _ in range(2))
                found = _drawn(draw, Design("", (a,), (b,)), *each)
                ours, theirs, _ = found.rejected()
                name = f"beta({first:g}, {second:g})"
                print(
                    f"| {n} | {a} against {b} | {name} | {ours:.3f} | {theirs:.3f} | {found.held(0.0):.3f} |",
                    flush=True,
                )
    print()


def _families(draw: np.random.Generator, times: int) -> None:
    """Several configurations with one baseline: Holm's p and the intervals for all pairs together."""
    print(
        "| problems | trials | true differences | significant although the true difference is 0 | "
        "all intervals hold |\n|---|---|---|---|---|"
    )
    for n, repeats in ((20, 1), (60, 1), (20, 3), (60, 3), (164, 1)):
        for gaps in ((0.0, 0.0, 0.0), (0.0, 0.0, 0.2), (0.0, 0.2, 0.3), (0.1, 0.2, 0.3)):
            design, m = Design("", (repeats,), (repeats,)), len(gaps)
            base = draw.beta(9, 1, (times, n))
            other = draw.binomial(repeats, base)
            solved = [draw.binomial(repeats, base * (1 - gap / 0.9)) for gap in gaps]
            found = [_judged(design, other, table, m) for table in solved]
            adjusted = np.array(
                [holm(list(map(float, row))) for row in zip(*(judged.p for judged in found), strict=True)]
            )
            tests = [
                [compatible(_test(judged, at, m), float(p[k])) for k, judged in enumerate(found)]
                for at, p in enumerate(adjusted)
            ]
            wrong = np.mean([any(p <= ALPHA and not gap for p, gap in zip(row, gaps, strict=True)) for row in adjusted])
            held = np.mean([all(_holds(t, gap, p) for t, gap, p in zip(*row, strict=True)) for row in
                            zip(tests, [gaps] * times, adjusted, strict=True)])  # fmt: skip
            shown = ", ".join(f"{gap:g}" for gap in gaps)
            print(f"| {n} | {repeats} against {repeats} | {shown} | {wrong:.3f} | {held:.3f} |", flush=True)
    print()


def _holds(test: Paired, truth: float, p: float) -> bool:
    assert test.low is not None
    assert test.high is not None
    return test.low <= truth + 1e-12 and truth - 1e-12 <= test.high and not (truth == 0 and p <= ALPHA)


def _test(found: Drawn, at: int, at_once: int) -> Paired:
    numbers = {name: float(getattr(found, name)[at]) for name in ("difference", "low", "high", "p")}
    return Paired(1, 0, 0, 0, 1, **numbers, method="label permutation", ids=Discordant((), ()), at_once=at_once)


def _chances(draw: np.random.Generator, chance: str, gap: float, shape: tuple[int, int]) -> tuple[Array, Array]:
    """The probabilities to solve each problem: of a and of b, which solves ``gap`` less on average."""
    if chance == "beta(9, 1)":
        of_a = draw.beta(9, 1, shape)
        return of_a, of_a * (1 - gap / 0.9)
    return np.full(shape, float(chance)), np.full(shape, float(chance) - gap)


def _drawn(draw: np.random.Generator, design: Design, of_a: Array, of_b: Array) -> Drawn:
    a, b = design.trials(of_a.shape[1])
    return _judged(design, draw.binomial(a, of_a), draw.binomial(b, of_b))


def _judged(design: Design, solved_a: Counts, solved_b: Counts, at_once: int = 1) -> Drawn:
    n = solved_a.shape[1]
    a, b = design.trials(n)
    together, trials = solved_a + solved_b, a + b
    away = np.abs((solved_a - a * together / trials).sum(axis=1))
    spread = np.sqrt((a * b * together * (trials - together) / (trials**2 * np.maximum(trials - 1, 1))).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        cmh, corrected = (2 * stats.norm.sf(np.maximum(distance, 0) / spread) for distance in (away, away - 0.5))
    differences = solved_a / a - solved_b / b
    low, high = bonett_price_of(n, differences.mean(axis=1), (differences**2).mean(axis=1), at_once)
    return Drawn(
        p=_p(a, b, solved_a, solved_b),
        cmh=np.where(spread > 0, cmh, 1.0),
        corrected=np.where(spread > 0, corrected, 1.0),
        difference=differences.mean(axis=1),
        low=np.maximum(low, -1),
        high=np.minimum(high, 1),
    )


def _p(a: Counts, b: Counts, solved_a: Counts, solved_b: Counts) -> Array:
    """Each set of outcomes is tested once, in any order of its problems."""
    kinds = ((a * 100 + solved_a) * 100 + b) * 100 + solved_b
    rows, back = np.unique(np.sort(kinds, axis=1), axis=0, return_inverse=True)
    found = np.array([_p_of(row) for row in rows])
    each: Array = found[back.ravel()]
    return each


def _p_of(row: Sequence[int]) -> float:
    tables = [
        (int(code) // 10_000 % 100, int(code) // 1_000_000, int(code) % 100, int(code) // 100 % 100) for code in row
    ]
    if all(a == b == 1 for _, a, _, b in tables):
        return mcnemar(sum(s > t for s, _, t, _ in tables), sum(s < t for s, _, t, _ in tables))
    return label_permutation([(s, a) for s, a, _, _ in tables], [(t, b) for _, _, t, b in tables])


if __name__ == "__main__":
    sys.exit(main())
