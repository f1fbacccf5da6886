"""The figures that design.md describes but does not test: draws, tries, selection, extrapolation and the other arms.

Every table is made from the frame of ``analysis.draws``. Needs pandas, numpy and scipy, and nothing of
koderz. Intervals are 95 % t intervals of means over problems, in percent; their ends can lie outside of 0 to 100.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import comb

import numpy as np
import pandas as pd
from analysis import LARGE, SMALL, escalated, t_interval, tries
from scipy.optimize import minimize
from scipy.special import betaln

USD_PER_SECOND = 65 / 3.6e6 * 0.15
"""65 W at 0.15 $/kWh, as design.md states."""
KEY = ["dataset", "problem"]
MOST = 5
DRAWN = {SMALL: MOST, LARGE: 2}
"""The draws of each model on a problem."""
DATASET, MODEL, PROBLEMS, SOLVED = "dataset", "model", "problems", "solved (%)"
LOOPS = ("repair", "supervised")


def bank(frame: pd.DataFrame) -> pd.DataFrame:
    """The independent draws: one iteration of ``retry`` at a temperature above 0 (at 0, koderz labels it `ladder`)."""
    return frame[(frame["method"] == "retry") & (frame["temperature"] > 0)]


def greedy(frame: pd.DataFrame) -> pd.DataFrame:
    """The draws at temperature 0, without those of loops."""
    return frame[~frame["method"].isin(LOOPS) & (frame["temperature"] == 0)]


def parts(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Both datasets together, then each of them."""
    if len(frame):
        yield "both", frame
    yield from ((str(name), part) for name, part in frame.groupby("dataset"))


def by_problem(part: pd.DataFrame, model: str) -> list[pd.DataFrame]:
    """The draws of a model, problem by problem."""
    return [group for _, group in part[part["model"] == model].groupby(KEY)]


def both_models(part: pd.DataFrame) -> list[tuple[pd.DataFrame, pd.DataFrame]]:
    """The draws of both models on each problem that has draws of both."""
    pairs = ((group[group["model"] == SMALL], group[group["model"] == LARGE]) for _, group in part.groupby(KEY))
    return [(small, large) for small, large in pairs if len(small) and len(large)]


def any_right(right: int, made: int, k: int) -> float:
    """The probability that at least one of k of these draws is right (pass@k; Chen et al., arXiv 2107.03374)."""
    return 1 - comb(made - right, k) / comb(made, k)


def run_table(experiments: pd.DataFrame, frame: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """How many experiments each benchmark has, how many of them have a result, and what their calls took and cost.

    ``experiments`` is the exported table from which ``frame`` was made; ``names`` gives the name of each benchmark by
    its id.
    """
    lines = []
    for benchmark, name in sorted(names.items(), key=lambda item: item[1]):
        planned = experiments.index[experiments["benchmark"] == benchmark]
        seconds = frame["seconds"].reindex(planned)
        done = int(planned.isin(frame.index).sum())
        lines.append((name, len(planned), done, seconds.sum() / 3600, seconds.sum() * USD_PER_SECOND))
    table = pd.DataFrame(lines, columns=["benchmark", "experiments", "with a result", "hours of calls", "dollars"])
    return pd.concat([table, table.sum(numeric_only=True).to_frame().T.assign(benchmark="all")]).convert_dtypes()


def draw_table(frame: pd.DataFrame) -> pd.DataFrame:
    """pass@k of the independent draws, and how often the gate passes draws, right draws and wrong draws.

    A problem with fewer than k draws does not count for pass@k; the number of the others is then in brackets.
    """
    lines = []
    kinds = [(name, *kind) for name, part in parts(bank(frame)) for kind in part.groupby("model")]
    for name, model, drawn in kinds:
        counts = drawn.groupby(KEY)["solved"].agg(["sum", "size"])
        line = {DATASET: name, MODEL: model, PROBLEMS: len(counts), "draws": len(drawn)}
        for k in range(1, int(counts["size"].max()) + 1):
            enough = counts[counts["size"] >= k]
            shares = [any_right(int(row["sum"]), int(row["size"]), k) for _, row in enough.iterrows()]
            line[f"pass@{k} (%)"] = spread(shares) + (f" ({len(enough)})" if len(enough) < len(counts) else "")
        line["pass the gate (%)"] = 100 * drawn["gate"].mean()
        line["right, of those that pass the gate (%)"] = 100 * drawn.loc[drawn["gate"], "solved"].mean()
        line["pass the gate, of the wrong ones (%)"] = 100 * drawn.loc[~drawn["solved"], "gate"].mean()
        lines.append(line)
    return pd.DataFrame(lines)


def tries_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Success and cost per problem of both models with up to k tries. design.md names only one of the large model."""
    lines = []
    for name, part in parts(bank(frame)):
        for model, most in DRAWN.items():
            curves = [tries(group, most) for group in by_problem(part, model)]
            lines += [
                {DATASET: name, MODEL: model, "tries": k, **summary([curve.iloc[k] for curve in curves])}
                for k in (range(1, most + 1) if curves else ())
            ]
    return pd.DataFrame(lines)


def selection_table(frame: pd.DataFrame) -> pd.DataFrame:
    """What the gate selects of the draws of the small model, next to the best and a random choice."""
    choices: dict[str, Callable[[pd.DataFrame], float]] = {
        "at least one draw is right": lambda draws: draws["solved"].any(),
        "the first draw that passes the gate": lambda draws: tries(draws, MOST)["solved"].iloc[-1],
        "a random draw": lambda draws: draws["solved"].mean(),
    }
    return pd.DataFrame(
        {DATASET: name, "choice": choice, SOLVED: spread([share(group) for group in groups])}
        for name, part in parts(bank(frame))
        if (groups := by_problem(part, SMALL))
        for choice, share in choices.items()
    )


def extrapolation_table(frame: pd.DataFrame) -> pd.DataFrame:
    """pass@5 of the small model, and its prediction from the first two draws by a beta-binomial distribution."""
    lines = []
    for name, part in parts(bank(frame)):
        groups = [group for group in by_problem(part, SMALL) if len(group) >= MOST]
        if groups:
            a, b = beta_binomial([int(group["solved"].iloc[:2].sum()) for group in groups], 2)
            predicted = 100 - 100 * float(np.exp(betaln(a, b + MOST) - betaln(a, b)))
            found = 100 * float(np.mean([any_right(int(g["solved"].sum()), len(g), MOST) for g in groups]))
            values = {"predicted pass@5 (%)": predicted, "pass@5 (%)": found, "error (points)": predicted - found}
            lines.append({DATASET: name, PROBLEMS: len(groups), **values})
    return pd.DataFrame(lines)


def beta_binomial(right: list[int], draws: int) -> tuple[float, float]:
    """The likeliest parameters of the beta distribution of the problems' success chances."""
    counts = np.array(right)

    def loss(logs: np.ndarray) -> float:
        a, b = np.exp(logs)
        return -float((betaln(a + counts, b + draws - counts) - betaln(a, b)).sum())

    a, b = np.exp(minimize(loss, [0.0, 0.0], method="Nelder-Mead", bounds=[(-8, 8)] * 2).x)
    return float(a), float(b)


def dataset_table(frame: pd.DataFrame) -> pd.DataFrame:
    """The paired differences of the primary comparison and of escalation; those after them are not in design.md."""
    greedily = greedy(frame[frame["model"] == LARGE]).set_index(KEY)["solved"].astype(float).rename("greedy")
    lines = []
    for name, part in parts(bank(frame)):
        pairs = both_models(part)
        keys = pd.MultiIndex.from_tuples([tuple(small[KEY].iloc[0]) for small, _ in pairs], names=KEY)
        five = np.array([tries(small, MOST)["solved"].iloc[-1] for small, _ in pairs])
        escalation = np.array([escalated(*pair) for pair in pairs])
        once = pd.DataFrame({"drawn": [large["solved"].mean() for _, large in pairs]}, index=keys).join(greedily)
        twice = np.array([tries(large, 2)["solved"].iloc[-1] for _, large in pairs])
        points = {
            "5 tries - 1.5B once": five - once["drawn"],
            "escalation - 1.5B once": escalation - once["drawn"],
            "5 tries - 1.5B once, greedy": (five - once["greedy"]).dropna(),
            "5 tries - 2 tries of 1.5B": five - twice,
            "escalation - 2 tries of 1.5B": escalation - twice,
        }
        lines += [
            {DATASET: name, PROBLEMS: len(values), "comparison": title, "points": spread(values)}
            for title, values in points.items()
            if len(values)
        ]
    return pd.DataFrame(lines)


def other_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Escalation, the loops with feedback, the greedy draws, and five tries on the problems of the loops."""
    loops = frame[frame["method"].isin(LOOPS)]
    lines = []
    for name, part in parts(bank(frame)):
        if pairs := both_models(part):
            rows = [escalation(small, large) for small, large in pairs]
            lines.append({DATASET: name, "configuration": "escalation, 0.5B then 1.5B", **summary(rows)})
    for arm, title in ((loops, ""), (greedy(frame), "one greedy draw")):
        for name, part in parts(arm):
            for (method, model), rows in part.groupby(["method", "model"]):
                named = {DATASET: name, "configuration": f"{title or method}, {model}"}
                lines.append({**named, **summary([row for _, row in rows.iterrows()])})
    for name, part in parts(bank(frame).merge(loops[KEY].drop_duplicates(), on=KEY)):
        if groups := by_problem(part, SMALL):
            rows = [tries(group, MOST).iloc[-1] for group in groups]
            lines.append({DATASET: name, "configuration": f"5 tries, {SMALL}, on these problems", **summary(rows)})
    return pd.DataFrame(lines)


def escalation(small: pd.DataFrame, large: pd.DataFrame) -> pd.Series:
    """Mean success and cost of one draw of the small model, and of one of the large model if the gate refuses it."""
    refused = 1 - small["gate"].mean()
    cost = {unit: small[unit].mean() + refused * large[unit].mean() for unit in ("tokens", "seconds")}
    return pd.Series({"solved": escalated(small, large), **cost})


def summary(rows: Sequence[pd.Series]) -> dict[str, object]:
    """The number of problems, the share solved, and the mean cost per problem."""
    table = pd.DataFrame(list(rows))[["solved", "tokens", "seconds"]].astype(float)
    tokens, seconds = table["tokens"].mean(), table["seconds"].mean()
    cost = {"tokens": tokens, "seconds": seconds, "dollars": seconds * USD_PER_SECOND}
    return {PROBLEMS: len(table), SOLVED: spread(table["solved"]), **cost}


def spread(shares: object) -> str:
    """A mean over problems and its interval, in percent; without an interval for one problem."""
    values = np.asarray(shares, float)
    return span(*t_interval(values)[:3]) if len(values) > 1 else f"{100 * values.mean():.1f}"


def span(mean: float, low: float, high: float, digits: int = 1) -> str:
    """A share or a difference with its interval, in percent or percentage points."""
    return f"{100 * mean:.{digits}f} [{100 * low:.{digits}f}, {100 * high:.{digits}f}]"
