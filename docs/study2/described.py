"""The figures that design.md describes but does not test: draws, tries, selection, extrapolation and the other arms.

Every function takes the frame of ``analysis.draws`` and returns a table. Needs pandas, numpy and scipy, and nothing of
koderz. All intervals are 95 % t intervals of means over problems.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np
import pandas as pd
from analysis import LARGE, SMALL, t_interval, tries
from scipy.optimize import minimize
from scipy.special import betaln

USD_PER_SECOND = 65 / 3.6e6 * 0.15
"""65 W at 0.15 $/kWh, as design.md states."""
KEY = ["dataset", "problem"]
MOST = 5


def bank(frame: pd.DataFrame) -> pd.DataFrame:
    """The independent draws: one iteration of ``retry`` at a temperature above 0."""
    return frame[(frame["method"] == "retry") & (frame["temperature"] > 0)]


def parts(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Both datasets together, then each of them."""
    yield "both", frame
    yield from ((str(name), part) for name, part in frame.groupby("dataset"))


def any_right(right: int, made: int, k: int) -> float:
    """The probability that at least one of k of these draws is right (pass@k; Chen et al., arXiv 2107.03374)."""
    return 1 - comb(made - right, k) / comb(made, k)


def draw_table(frame: pd.DataFrame) -> pd.DataFrame:
    """pass@k of the independent draws, the gate, and the precision of the gate, by dataset and model."""
    lines = []
    kinds = [(name, *kind) for name, part in parts(bank(frame)) for kind in part.groupby("model")]
    for name, model, drawn in kinds:
        counts = drawn.groupby(KEY)["solved"].agg(["sum", "size"])
        passed = drawn[drawn["gate"]]
        line = {"dataset": name, "model": model, "problems": len(counts), "draws": len(drawn)}
        for k in range(1, MOST + 1):
            shares = [
                any_right(int(row["sum"]), int(row["size"]), k) for _, row in counts.iterrows() if row["size"] >= k
            ]
            line[f"pass@{k}"] = spread(shares) if len(shares) == len(counts) else ""
        line["pass the gate"] = drawn["gate"].mean()
        line["right, of those that pass"] = passed["solved"].mean() if len(passed) else np.nan
        lines.append(line)
    return pd.DataFrame(lines)


def tries_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Success and cost per problem of the small model with up to k tries, and of the large model asked once."""
    lines = []
    for name, part in parts(bank(frame)):
        for model, most in ((SMALL, MOST), (LARGE, 1)):
            curves = [tries(group, most) for _, group in part[part["model"] == model].groupby(KEY)]
            for k in range(1, most + 1) if curves else ():
                rows = pd.DataFrame([curve.iloc[k] for curve in curves])
                seconds = rows["seconds"].mean()
                cost = {"tokens": rows["tokens"].mean(), "seconds": seconds, "$": seconds * USD_PER_SECOND}
                lines.append({"dataset": name, "model": model, "tries": k, "solved": spread(rows["solved"]), **cost})
    return pd.DataFrame(lines)


def selection_table(frame: pd.DataFrame) -> pd.DataFrame:
    """What the gate selects of five draws of the small model, next to the best and a random choice."""
    lines = []
    for name, part in parts(bank(frame)):
        groups = [group for _, group in part[part["model"] == SMALL].groupby(KEY)]
        submitted = [tries(group, MOST)["solved"].iloc[-1] for group in groups]
        lines += [
            {
                "dataset": name,
                "choice": "any of the draws is right",
                "solved": spread([g["solved"].any() for g in groups]),
            },
            {"dataset": name, "choice": "the first that passes the gate", "solved": spread(submitted)},
            {"dataset": name, "choice": "a random draw", "solved": spread([g["solved"].mean() for g in groups])},
        ]
    return pd.DataFrame(lines)


def extrapolation_table(frame: pd.DataFrame) -> pd.DataFrame:
    """pass@5 of the small model, and its prediction from the first two draws by a beta-binomial distribution."""
    lines = []
    for name, part in parts(bank(frame)):
        groups = [group for _, group in part[part["model"] == SMALL].groupby(KEY) if len(group) >= MOST]
        a, b = beta_binomial([int(group["solved"].iloc[:2].sum()) for group in groups], 2)
        predicted = 1 - float(np.exp(betaln(a, b + MOST) - betaln(a, b)))
        found = float(np.mean([any_right(int(g["solved"].sum()), len(g), MOST) for g in groups]))
        lines.append({"dataset": name, "predicted": predicted, "pass@5": found, "error": predicted - found})
    return pd.DataFrame(lines)


def beta_binomial(right: list[int], draws: int) -> tuple[float, float]:
    """The likeliest parameters of the beta distribution of the problems' success chances."""
    counts = np.array(right)

    def loss(logs: np.ndarray) -> float:
        a, b = np.exp(logs)
        return -float((betaln(a + counts, b + draws - counts) - betaln(a, b)).sum())

    a, b = np.exp(minimize(loss, [0.0, 0.0], method="Nelder-Mead", bounds=[(-8, 8)] * 2).x)
    return float(a), float(b)


def other_table(frame: pd.DataFrame) -> pd.DataFrame:
    """The loops with feedback and the greedy draws, and on the same problems the draws of the bank."""
    loops = frame[frame["method"] != "retry"]
    greedy = frame[(frame["method"] == "retry") & (frame["temperature"] == 0)]
    lines = []
    for arm, title in ((loops, ""), (greedy, "one greedy draw")):
        for name, part in parts(arm):
            for (method, model), rows in part.groupby(["method", "model"]):
                lines.append({"dataset": name, "configuration": f"{title or method}, {model}", **summary(rows)})
    same = bank(frame).merge(loops[KEY].drop_duplicates(), on=KEY)
    for name, part in parts(same):
        curves = [tries(group, MOST).iloc[-1] for _, group in part[part["model"] == SMALL].groupby(KEY)]
        rows = pd.DataFrame(curves, columns=["solved", "tokens", "seconds"])
        lines.append({"dataset": name, "configuration": f"5 tries, {SMALL}, same problems", **summary(rows)})
    return pd.DataFrame(lines)


def summary(rows: pd.DataFrame) -> dict[str, object]:
    """One line per problem: how many, the share solved, and the mean cost."""
    seconds = rows["seconds"].mean()
    cost = {"tokens": rows["tokens"].mean(), "seconds": seconds, "$": seconds * USD_PER_SECOND}
    return {"problems": len(rows), "solved": spread(rows["solved"]), **cost}


def spread(shares: object) -> str:
    """A mean over problems and its interval, in percent."""
    mean, low, high, _ = t_interval(100 * np.asarray(shares, float))
    return f"{mean:.1f} [{low:.1f}, {high:.1f}]"
