"""What design.md wants beside the registered comparisons: left-out problems, and costs that five tries do not reach.

Needs pandas, numpy and scipy, and nothing of koderz.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from analysis import LARGE, MARGIN, SMALL, t_interval, tries, verdict
from described import KEY, MOST, bank, both_models, span

ARMS = {
    "draws of the 0.5B model": lambda frame: bank(frame)["model"] == SMALL,
    "draws of the 1.5B model": lambda frame: bank(frame)["model"] == LARGE,
    "repair": lambda frame: frame["method"] == "repair",
}
"""What the registered analysis cannot do without."""


def missing(frame: pd.DataFrame) -> list[str]:
    """The arms without any result."""
    return [name for name, found in ARMS.items() if not found(frame).any()]


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
