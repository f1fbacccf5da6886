"""The headroom of published results, and how often its intervals cover the truth.

Run: ``python benchmarks/headroom.py FOLDER`` prints the headroom of ``eval-arena-humaneval+.jsonl.gz`` and
``eval-arena-mbpp+.jsonl.gz`` in FOLDER (``data/humaneval+.jsonl`` and ``data/mbpp+.jsonl`` of crux-eval/eval-arena,
compressed); for choices by length, FOLDER also has the datasets of EvalPlus. ``--times N`` instead simulates N
benchmarks at each point of a grid that was chosen before the first run (N = 200 takes about 5 minutes).
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from koderz_core import open_workspace
from koderz_core.analysis.headroom import headroom
from koderz_core.records.trials import Trial
from koderz_core.report.headroom import headroom_section
from koderz_core.workspace.imports import ImportOrder

FILES = ("eval-arena-humaneval+.jsonl.gz", "eval-arena-mbpp+.jsonl.gz")
CONFIGURATIONS, PROBLEMS = (2, 8), (60, 164)
RATES, GAPS = (0.3, 0.6), (0.0, 0.3)
"""Of all configurations, and how much more the first one solves: equal ones, or one that is surely chosen."""
FIXED = (0.0, 0.8)
"""The share of problems that all configurations solve or none does."""


def published(folder: Path) -> None:
    """Print the headroom of each file."""
    for file in FILES:
        with TemporaryDirectory() as home, open_workspace(home=Path(home), datasets_dir=folder) as workspace:
            names = workspace.imports.store(workspace.imports.read(ImportOrder(folder / file)), 1)
            rows = workspace.comparisons.named(names)
            section = headroom_section(rows, workspace.uncertainty.headroom(rows), most=10)
        for table in section.tables:
            print(f"\n{table.title}\n{' | '.join(table.columns)}")
            print("\n".join(" | ".join(row) for row in table.rows))
        print("\n".join(section.remarks))


def simulated(times: int) -> None:
    """Print the coverage of the differences to the best single configuration at each point."""
    for count, n, rate, gap, fixed in product(CONFIGURATIONS, PROBLEMS, RATES, GAPS, FIXED):
        covered = {"oracle": 0, "length": 0, "random": 0}
        random = np.random.default_rng(7)
        for _ in range(times):
            found = headroom(*_world(random, count, n, (rate, gap, fixed)))
            truth = _truth(count, rate, gap, fixed)
            for choice in found.choices:
                if choice.kind in covered and choice.difference:
                    low, high = choice.difference.low, choice.difference.high
                    assert low is not None, "an interval"
                    assert high is not None, "an interval"
                    covered[choice.kind] += low <= truth[choice.kind] <= high
        said = ", ".join(f"{kind} {100 * inside / times:.1f} %" for kind, inside in covered.items())
        print(f"{count} configurations, {n} problems, rate {rate}, gap {gap}, equal problems {fixed}: {said}")


def _world(
    random: np.random.Generator, count: int, n: int, at: tuple[float, float, float]
) -> tuple[dict[tuple[str, str], list[Trial]], dict[str, int]]:
    rate, gap, fixed = at
    rates = np.full(count, rate)
    rates[0] += gap
    equal = random.random(n) < fixed
    common = random.random(n)
    own = random.random((count, n))
    solved = np.where(equal, common, own) < rates[:, None]
    trials = {
        ("world", str(row)): [_trial(str(row), at, outcome) for at, outcome in enumerate(each)]
        for row, each in enumerate(solved.tolist())
    }
    return trials, {f"p/{at}": int(length) for at, length in enumerate(random.integers(100, 900, n))}


def _truth(count: int, rate: float, gap: float, fixed: float) -> dict[str, float]:
    best = rate + gap
    union = fixed * best + (1 - fixed) * (1 - (1 - best) * (1 - rate) ** (count - 1))
    return {"oracle": union - best, "length": 0.0, "random": (best + rate * (count - 1)) / count - best}


def _trial(configuration: str, place: int, outcome: bool) -> Trial:
    return Trial(
        benchmark="world",
        configuration=configuration,
        experiment=f"{configuration}/{place}",
        problem=f"p/{place}",
        repeat=0,
        outcome="solved" if outcome else "unsolved",
        reason=None,
        score_kind="held_out",
        gate_passed=None,
        code=None,
        iterations=0,
        usd=None,
        frontier_usd=None,
        tokens=None,
        frontier_tokens=None,
        seconds=None,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--times", type=int, default=0)
    options = parser.parse_args()
    if options.folder:
        published(options.folder)
    if options.times:
        simulated(options.times)


if __name__ == "__main__":
    main()
