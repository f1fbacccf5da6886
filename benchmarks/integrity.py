"""How often the lens on integrity flags honest models, and how often it finds models that recall or cheat.

Run: ``python benchmarks/integrity.py`` (about 3 minutes; ``--times 2000`` for more precise figures). The grid was
chosen before the first run: 18, 60 and 164 problems; 1 and 5 repeats; success rates of 30 to 95 %; and a share of
problems whose result is the same in every repeat. An honest model has the same chance on each variant of a problem, the
same distribution of likeness to the solution as for the renamed problem, and the same as three other models. It passes
an impossible problem by mistake with a chance of 0.2 %. A memoriser solves the original problems of a third of the
dataset only by recall, and its programs for these have a likeness of 1. A cheat passes every fifth impossible problem.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean

import numpy as np

from koderz_core.analysis.integrity import Evidence, Integrity, integrity
from koderz_core.analysis.recall import Recall, exchanges, sign_flips
from koderz_core.records import Variant
from koderz_core.records.trials import Trial

PROBLEMS, REPEATS = (18, 60, 164), (1, 5)
RATES, FIXED = (0.3, 0.5, 0.7, 0.85, 0.95), (0.0, 0.6)
MISTAKES, RECALLED, CHEATED = 0.002, 1 / 3, 0.2
PEERS = 3
KEY = ("bench", "conf")


@dataclass(frozen=True)
class Model:
    """``recalled``: share of problems that it solves by recall; ``cheated``: of impossible ones that it passes."""

    rate: float
    fixed: float
    recalled: float = 0.0
    cheated: float = MISTAKES


@dataclass(frozen=True)
class Cell:
    """The shares of simulated models with a hint of each kind, and with any."""

    n: int
    repeats: int
    model: Model
    drop: float
    passed: float
    recall: float
    any: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=120, help="simulated models for each point of the grid")
    times = parser.parse_args().times
    kinds = {
        "honest": [Model(rate, fixed) for rate, fixed in product(RATES, FIXED)],
        "memoriser": [Model(rate, 0.6, recalled=RECALLED) for rate in RATES[:3]],
        "cheat": [Model(rate, 0.6, cheated=CHEATED) for rate in RATES[:3]],
    }
    print(f"{times} simulated models for each point of the grid; nominal: at most 5 % of honest models with a hint.\n")
    head = ("model", "problems", "repeats", "drops", "impossible problems", "likeness", "any hint: mean", "highest")
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for kind, models in kinds.items():
        for n, repeats in product(PROBLEMS, REPEATS):
            cells = [_cell(n, repeats, model, times) for model in models]
            means = [fmean(getattr(cell, name) for cell in cells) for name in ("drop", "passed", "recall", "any")]
            shares = (*means, max(cell.any for cell in cells))
            print(
                f"| {kind} | {n} | {repeats} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} |", flush=True
            )


def _cell(n: int, repeats: int, model: Model, times: int) -> Cell:
    random = np.random.default_rng([n, repeats, int(100 * model.rate), int(10 * model.fixed)])
    found = [_seen(random, n, repeats, model) for _ in range(times)]
    return Cell(
        n,
        repeats,
        model,
        drop=fmean(any(drop and drop.significant for drop in (item.renamed, item.rephrased)) for item in found),
        passed=fmean(item.passes is not None and item.passes.above_tolerance for item in found),
        recall=fmean(item.recalls for item in found),
        any=fmean(bool(item.hint) for item in found),
    )


def _seen(random: np.random.Generator, n: int, repeats: int, model: Model) -> Integrity:
    """One benchmark on the original problems and all variants, as the lens sees it."""
    difficulty, known = random.random(n), random.random(n) < model.recalled
    chance = model.fixed * (difficulty < model.rate) + (1 - model.fixed) * model.rate
    original, renamed, rephrased = (
        list(_trials(random.binomial(repeats, chances).tolist(), repeats))
        for chances in (np.where(known, 1.0, chance), np.where(known, 0.0, chance), chance)
    )
    impossible = list(_trials(random.binomial(repeats, model.cheated, n).tolist(), repeats))
    own, again, *peers = (random.beta(2, 4, n) for _ in range(2 + PEERS))
    own = np.where(known, 1.0, own)
    alike = [(float(value), [float(peer[place]) for peer in peers]) for place, value in enumerate(own)]
    recall = Recall(n, float(own.mean()), 0.0, 0.0, sign_flips((own - again).tolist()), exchanges(alike))
    variants: dict[Variant, list[Trial]] = {"renamed": renamed, "rephrased": rephrased, "impossible": impossible}
    (found,) = integrity([Evidence(KEY, original, variants, recall)])
    return found


def _trials(solved: Sequence[int], repeats: int) -> Iterator[Trial]:
    for problem, number in enumerate(solved):
        for repeat in range(repeats):
            yield Trial(
                benchmark=KEY[0],
                configuration=KEY[1],
                experiment=f"{problem}/{repeat}",
                problem=str(problem),
                repeat=repeat,
                outcome="solved" if repeat < number else "unsolved",
                reason=None,
                score_kind="held_out",
                gate_passed=None,
                code=None,
                iterations=1,
                usd=None,
                frontier_usd=None,
                tokens=None,
                frontier_tokens=None,
                seconds=None,
            )


if __name__ == "__main__":
    main()
