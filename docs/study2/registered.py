"""What design.md wants beside the registered comparisons: whole benchmarks, left-out problems, costs beyond five tries.

Needs pandas, numpy and scipy, and nothing of koderz.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
from analysis import LARGE, MARGIN, SMALL, t_interval, tries, verdict
from described import KEY, MOST, bank, both_models, span

DESIGN = Path(__file__).with_name("design.md")
RUN = ("solved", "unsolved", "error")
PARTS, SETS = ("small", "large", "loops"), ("humaneval", "mbpp")
"""The benchmarks of the registered comparisons."""


def missing(experiments: pd.DataFrame, names: Mapping[str, str]) -> list[str]:
    """The benchmarks of the registered comparisons that are absent or still have experiments to run.

    ``experiments`` is the table that koderz exports; ``names`` gives the name of each benchmark by its id. An
    experiment that ended with an error has been run.
    """
    run = experiments.groupby("benchmark")["outcome"].apply(lambda outcomes: outcomes.isin(RUN).all())
    whole = {name for benchmark, name in names.items() if run.get(benchmark, default=False)}
    digest = sha256(DESIGN.read_bytes()).hexdigest()[:8]
    wanted = (f"{part}-{name}-{digest}" for name in SETS for part in PARTS)
    return [name for name in wanted if name not in whole]


def shown(results: pd.DataFrame) -> pd.DataFrame:
    """The table of ``analysis.results`` in percentage points. The first p tests a difference of 0, not the margin."""
    spans = [span(*row, digits=2) for row in results[["difference", "low", "high"]].itertuples(index=False)]
    table = pd.DataFrame({"comparison": results.index, "points [95 %]": spans}, index=results.index)
    return table.join(results[["p", "p (Holm)", "problems", "verdict"]])


def reach_table(frame: pd.DataFrame) -> pd.DataFrame:
    """The cost at which each secondary comparison is made, and whether five tries use that much."""
    pairs = both_models(bank(frame))
    curves = [(tries(small, MOST).iloc[-1], tries(large, 1).iloc[1]) for small, large in pairs]
    repair = frame[frame["method"] == "repair"]
    keys = set(map(tuple, repair[KEY].to_numpy()))
    part = [five for (small, _), (five, _) in zip(pairs, curves, strict=True) if tuple(small[KEY].iloc[0]) in keys]
    lines = [
        _reach(
            f"equal {unit}: tries - 1.5B once",
            unit,
            [five[unit] for five, _ in curves],
            [one[unit] for _, one in curves],
        )
        for unit in ("tokens", "seconds")
    ]
    lines.append(
        _reach("repair - tries at equal tokens", "tokens", [five["tokens"] for five in part], repair["tokens"])
    )
    return pd.DataFrame(lines)


def _reach(comparison: str, unit: str, five: object, other: object) -> dict[str, object]:
    used, wanted = float(np.mean(five)), float(np.mean(other))
    at = f"{wanted:.1f} {unit}" if wanted <= used else "five tries, which use less"
    return {"comparison": comparison, "unit": unit, "other side": wanted, "five tries": used, "compared at": at}


def left_out_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Problems without draws of one model, and the primary comparison with them counted against the 0.5B model.

    Such a problem counts as unsolved by the 0.5B model, and as solved by the 1.5B model if its success is unknown.
    """
    differences, names = [], []
    for (_, problem), group in bank(frame).groupby(KEY):
        small, large = group[group["model"] == SMALL], group[group["model"] == LARGE]
        if small.empty and large.empty:  # drawn by another model only
            continue
        if small.empty or large.empty:
            names.append(problem)
        own = tries(small, MOST)["solved"].iloc[-1] if len(small) and len(large) else 0.0
        differences.append(own - (large["solved"].mean() if len(large) else 1.0))
    if not names:
        return pd.DataFrame()
    mean, low, high, _ = t_interval(np.array(differences))
    points = span(mean, low, high, digits=2)
    line = {"left out": ", ".join(names), "points [95 %] with them": points, "verdict": verdict(low, high)}
    return pd.DataFrame([{**line, "margin (points)": -100 * MARGIN}])
