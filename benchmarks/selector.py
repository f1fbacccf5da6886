"""Whether a fitted selector beats the best single model where there is signal, and reports where there is none.

Run: ``python benchmarks/selector.py`` (about ten minutes; ``--worlds 10`` is shorter). Needs scikit-learn. Each world
has two models, whose success depends on the length of a problem's text with slopes of opposite signs (``signal``), on
the problem itself (``difficulty``, the same for both models, hidden from the selector), and on chance. The grid was
chosen before the first run. The truth is computed on 2,000 further problems of the same world.

The second table judges a selector by the choices that another, exploring selector made on further problems.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean

import numpy as np

from koderz_core.analysis.selector import probabilities, propensities
from koderz_core.analysis.selector_fit import Evidence, fit
from koderz_core.analysis.selector_value import BETTER, NOTHING, SELECTOR, Logged, doubly_robust
from koderz_core.records import PublicProblem
from koderz_core.records.selectors import Case, Judged, Selector

SIGNALS, PROBLEMS, DIFFICULTY = (0.0, 0.5, 1.0, 2.0), (60, 164), 1.0
FURTHER, CHOICES = 2000, 200
MODELS, USD = ("small", "large"), (1e-4, 3e-4)


@dataclass(frozen=True)
class World:
    """Problems of ``size`` words, and P(right) of each model."""

    problems: tuple[PublicProblem, ...]
    chances: np.ndarray

    def cases(self, random: np.random.Generator) -> tuple[Case, ...]:
        """The same problems with one result of each model."""
        solved = random.random(self.chances.shape) < self.chances
        return tuple(
            Case(problem, "made", at, tuple(map(float, row)), USD)
            for at, (problem, row) in enumerate(zip(self.problems, solved, strict=True))
        )


def world(random: np.random.Generator, count: int, signal: float, first: int = 0) -> World:
    """Lengths from 10 to 320 words, uniform on a logarithmic scale."""
    place = random.uniform(-1, 1, count)
    hidden = random.normal(0, DIFFICULTY, count)
    logits = hidden[:, None] + 0.3 + np.array([-signal, signal]) * place[:, None] * 3**0.5
    texts = ["word " * round(10 * 2 ** (2.5 * (at + 1))) for at in place]
    problems = tuple(PublicProblem(f"P/{first + at}", text, f"f{first + at}") for at, text in enumerate(texts))
    return World(problems, 1 / (1 + np.exp(-logits)))


def chosen(selector: Selector, problems: Sequence[PublicProblem]) -> np.ndarray:
    """The model with the largest P(right) of each problem."""
    return probabilities(selector.before, problems, ["made"] * len(problems), len(MODELS)).argmax(axis=1)


def worth(selector: Selector, other: World) -> float:
    """The true success rate of a selector, less that of the better single model."""
    picked = other.chances[np.arange(len(other.problems)), chosen(selector, other.problems)]
    return float(picked.mean() - other.chances.mean(axis=0).max())


def off_policy(selector: Selector, random: np.random.Generator, signal: float, further: World) -> tuple[bool, float]:
    """Whether the interval of the doubly robust value holds the truth on ``further`` problems; the effective size."""
    seen = world(random, CHOICES, signal, 10_000)
    logged = []
    for at, (problem, case) in enumerate(zip(seen.problems, seen.cases(random), strict=True)):
        shares = propensities(selector, problem, "made", ((0, 1), 0.0, at))
        model = int(random.choice(2, p=shares))
        (predicted,) = probabilities(selector.before, [problem], ["made"], 2)
        target = [float(other == predicted.argmax()) for other in range(2)]
        logged.append(Logged(problem.id, shares, model, case.solved[model], predicted.tolist(), target))
    found = doubly_robust(logged)
    truth = further.chances[np.arange(FURTHER), chosen(selector, further.problems)].mean()
    low, high = found.solved.low or 0.0, found.solved.high or 1.0
    return low <= truth <= high, found.effective


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=100)
    worlds = parser.parse_args().worlds
    print("| signal | problems | better | nothing to learn | true gain | gain on other folds | doubly robust | ESS |")
    print("|---|---|---|---|---|---|---|---|")
    for signal, count in product(SIGNALS, PROBLEMS):
        rows = [_one(signal, count, seed) for seed in range(worlds)]
        verdicts, gains, judged, holds, effective = zip(*rows, strict=True)
        print(
            f"| {signal:g} | {count} | {verdicts.count(BETTER) / worlds:.2f} | {verdicts.count(NOTHING) / worlds:.2f} "
            f"| {100 * fmean(gains):+.1f} | {100 * fmean(judged):+.1f} | {fmean(holds):.2f} | {fmean(effective):.0f} |",
            flush=True,
        )


def _one(signal: float, count: int, seed: int) -> tuple[str, float, float, bool, float]:
    random = np.random.default_rng((int(10 * signal), count, seed))
    selector = fit("made", Evidence(MODELS, world(random, count, signal).cases(random)), seed)
    further = world(random, FURTHER, signal, 30_000)
    row: Judged = next(row for row in selector.card.judged if row.rule == SELECTOR)
    return (
        selector.card.verdict,
        worth(selector, further),
        row.gain.value,
        *off_policy(selector, random, signal, further),
    )


if __name__ == "__main__":
    main()
