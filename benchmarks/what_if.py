"""How often the intervals of simulated policies cover the true values, and how biased tuning in hindsight is.

Run: ``python benchmarks/what_if.py`` (some minutes). Each world has problems with their own chances of a small and a
large model, false passes of the gate that differ between problems, and costs that depend on the problem. The records
are those of real strategies: two `retry` experiments of the small model, each of which stops at the first program that
passes (at most 5 attempts), and three draws of the large model whose number was fixed beforehand. The true values come
from new draws on 200,000 problems. A second simulation chooses among eight models that are equally good, where the best
in hindsight is only the luckiest. The grid was chosen before the first run.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from koderz_core.analysis.rates import Interval
from koderz_core.analysis.tuning import Tuned, tune
from koderz_core.analysis.what_if import difference, simulate
from koderz_core.records.attempts import GateMarks, Policy, RecordedAttempt, Source, Stage

Array = NDArray[np.float64]
PROBLEMS, TRUTHS, CAP, REPEATS, FIXED, TESTS = (18, 60, 164), 200_000, 5, 2, 3, 3
SMALL, LARGE, GATE = "small@0.8", "large@0.8", "examples"
WRONG_USD = 0.02
WORLDS: Mapping[str, tuple[float, float, float]] = {
    "easy": (2.0, 1.0, 0.2),
    "middle": (0.6, 0.6, 0.2),
    "hard": (0.3, 1.2, 0.2),
    "weak gate": (0.6, 0.6, 0.7),
}
"""The beta distribution of the small model's chances, and the largest chance of a false pass."""


def _retry(tries: int) -> Policy:
    return Policy(f"retry {tries}", (Stage(SMALL, tries),), GATE)


POLICIES = (
    *(_retry(tries) for tries in (1, 2, 3, 5)),
    Policy("ladder", (Stage(SMALL, 2), Stage(LARGE)), GATE),
    Policy("two stages, threshold", (Stage(SMALL, 3), Stage(LARGE, 2)), GATE, threshold=0.6),
)


@dataclass(frozen=True, slots=True)
class World:
    """Chances by problem: of a right program of each model, and of a false pass; dollars of an attempt of each."""

    right: Mapping[str, Array]
    false_pass: Array
    usd: Mapping[str, Array]


def world(random: np.random.Generator, name: str, n: int) -> World:
    a, b, most = WORLDS[name]
    small = random.beta(a, b, n)
    size = random.lognormal(0, 0.5, n)
    return World(
        {SMALL: small, LARGE: 1 - (1 - small) ** 2 * random.random(n)},
        most * random.random(n),
        {SMALL: 0.001 * size, LARGE: 0.004 * size},
    )


def draws(random: np.random.Generator, of: World, source: str, times: int) -> tuple[Array, Array]:
    """Whether programs are right, and how many gate tests they pass; problems x times."""
    shape = (len(of.false_pass), times)
    right = random.random(shape) < of.right[source][:, None]
    passes = right | (random.random(shape) < of.false_pass[:, None])
    return right, np.where(passes, TESTS, random.integers(0, TESTS, shape))


def recorded(random: np.random.Generator, of: World) -> tuple[dict[str, Source], list[str]]:
    """The sources of a benchmark on these problems."""
    names = [f"p/{place}" for place in range(len(of.false_pass))]
    chains, fixed = defaultdict(list), {}
    for repeat in range(REPEATS):
        right, tests = draws(random, of, SMALL, CAP)
        for place, name in enumerate(names):
            length = next((at + 1 for at in range(CAP) if tests[place, at] == TESTS), CAP)
            marks = zip(right[place, :length], tests[place, :length], strict=True)
            chains[name].append(_attempts(SMALL, name, repeat, of.usd[SMALL][place], marks))
    right, tests = draws(random, of, LARGE, FIXED)
    for place, name in enumerate(names):
        fixed[name] = _attempts(LARGE, name, 0, of.usd[LARGE][place], zip(right[place], tests[place], strict=True))
    several = {name: tuple(own) for name, own in chains.items()}
    return {
        SMALL: Source(SMALL, "small", 0.8, (("b", SMALL),), tuple(names), chains=several),
        LARGE: Source(LARGE, "large", 0.8, (("b", LARGE),), tuple(names), fixed=fixed),
    }, names


def _attempts(source, problem, repeat, usd, marks) -> tuple[RecordedAttempt, ...]:
    return tuple(
        RecordedAttempt(
            benchmark="b",
            configuration=source,
            experiment=f"{source}/{problem}/{repeat}",
            problem=problem,
            repeat=repeat,
            place=place,
            model=source,
            temperature=0.8,
            code=f"{source}/{problem}/{repeat}/{place}",
            gates={GATE: GateMarks(bool(tests == TESTS), int(tests), TESTS)},
            right=bool(right),
            error=None,
            fresh=True,
            usd=float(usd),
            seconds=None,
            tokens=None,
        )
        for place, (right, tests) in enumerate(marks, 1)
    )


def truth(random: np.random.Generator, of: World, policy: Policy) -> tuple[float, float]:
    """The share solved and the dollars per problem, with new draws; not the code of the simulation."""
    n = len(of.false_pass)
    solved, usd = np.zeros(n), np.zeros(n)
    best, running = np.full(n, -1.0), np.ones(n, dtype=bool)
    for stage in policy.stages:
        right, tests = draws(random, of, stage.source, stage.tries)
        for at in range(stage.tries):
            usd += running * of.usd[stage.source]
            passes = tests[:, at] / TESTS >= policy.threshold
            better = running & (passes | (tests[:, at] >= best))
            solved, best = np.where(better, right[:, at], solved), np.where(better, tests[:, at], best)
            running &= ~passes
    return float(solved.mean()), float(usd.mean())


@dataclass(slots=True)
class Tally:
    """By figure, for each simulated benchmark, the share of intervals with the truth and the mean distance from it."""

    held: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    apart: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, what: str, pairs: Sequence[tuple[Interval, float]]) -> None:
        ends = [
            [estimate.value if end is None else end for end in (estimate.low, estimate.high)] for estimate, _ in pairs
        ]
        self.held[what].append(fmean(low <= true <= high for (low, high), (_, true) in zip(ends, pairs, strict=True)))
        self.apart[what].append(fmean(estimate.value - true for estimate, true in pairs))

    def __str__(self) -> str:
        lines = []
        for what, held in self.held.items():
            away = self.apart[what]
            lines.append(
                f"| {what} | {fmean(held):.1%} ± {_error(held):.1%} | {fmean(away):+.5f} ± {_error(away):.5f} |"
            )
        return "\n".join(lines)


def _error(values: Sequence[float]) -> float:
    """The Monte-Carlo standard error of their mean."""
    return float(np.std(values, ddof=1)) / sqrt(len(values))


def run(name: str, n: int, times: int, seed: int = 0, truths: int = TRUTHS) -> Tally:
    """Simulated benchmarks of one world, each with all policies and with the best of them."""
    random, tally = np.random.default_rng([seed, n]), Tally()
    whole = world(random, name, truths)
    true = {policy.name: truth(random, whole, policy) for policy in POLICIES}
    loss = {policy: usd + WRONG_USD * (1 - solved) for policy, (solved, usd) in true.items()}
    for _ in range(times):
        sources, problems = recorded(random, world(random, name, n))
        found = [simulate(policy, sources, problems, WRONG_USD) for policy in POLICIES]
        of = [(item, *true[item.policy.name], loss[item.policy.name]) for item in found]
        tally.add("share solved", [(item.solved, solved) for item, solved, _, _ in of])
        tally.add("dollars", [(item.usd, usd) for item, _, usd, _ in of])
        tally.add("dollars with wrong answers", [(item.loss, lost) for item, _, _, lost in of])
        tally.add("dollars per solved", [(item.usd_per_solved, usd / solved) for item, solved, usd, _ in of])
        ladder, once = found[-2].policy.name, found[0].policy.name
        apart = difference(found[-2], found[0])
        tally.add("difference of two policies", [(apart[1], true[ladder][0] - true[once][0])])
        _tuned(tally, tune(found), loss)
    return tally


def alike(n: int, times: int, seed: int = 0) -> Tally:
    """Eight models that solve half of the problems and cost the same, of which the best is chosen."""
    random, tally = np.random.default_rng([seed, n, 8]), Tally()
    problems = [f"p/{place}" for place in range(n)]
    policies = [Policy(name, (Stage(name),)) for name in (f"model {number}@0" for number in range(8))]
    loss = {policy.name: 0.001 + WRONG_USD / 2 for policy in policies}
    for _ in range(times):
        sources = {}
        for name in loss:
            right = random.random(n) < 0.5
            fixed = {
                problem: _attempts(name, problem, 0, 0.001, [(right[place], 0)])
                for place, problem in enumerate(problems)
            }
            sources[name] = Source(name, name, 0.0, (("b", name),), tuple(problems), fixed=fixed, greedy=True)
        _tuned(tally, tune([simulate(policy, sources, problems, WRONG_USD) for policy in policies]), loss)
    return tally


def _tuned(tally: Tally, tuned: Tuned, loss: Mapping[str, float]) -> None:
    """The truth of a choice on other folds: the mean over the folds of the true value of the policy chosen for each."""
    folds = sum(tuned.chosen.values())
    chosen = sum(loss[policy] * number for policy, number in tuned.chosen.items()) / folds
    tally.add("best, on other folds", [(tuned.honest.loss, chosen)])
    tally.add("best, in hindsight", [(tuned.hindsight.loss, loss[tuned.hindsight.policy.name])])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--times", type=int, default=1000, help="simulated benchmarks for each point of the grid")
    parser.add_argument("--problems", type=int, help="only this number of problems")
    given = parser.parse_args()
    times = given.times
    print(f"{times} simulated benchmarks for each point of the grid; nominal coverage 95 %.")
    for n in (given.problems,) if given.problems else PROBLEMS:
        for name in WORLDS:
            print(f"\n{name}, {n} problems\n| figure | holds the truth | mean less truth |\n|---|---|---|")
            print(run(name, n, times), flush=True)
        print(
            f"\neight equally good models, {n} problems\n| figure | holds the truth | mean less truth |\n|---|---|---|"
        )
        print(alike(n, times), flush=True)


if __name__ == "__main__":
    main()
