"""The results of the second study, from the exported tables of its experiments and calls (see design.md).

Run: ``python docs/study2/analysis.py FOLDER``, where FOLDER holds ``experiments.parquet`` and ``calls.parquet``. Needs
pandas, numpy and scipy, and nothing of koderz.
"""

from __future__ import annotations

import json
import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

MARGIN = 0.10
RESAMPLES, SEED = 10_000, 26
SMALL, LARGE = "embedded/qwen2.5-coder-0.5b", "embedded/qwen2.5-coder-1.5b"


def draws(folder: Path) -> pd.DataFrame:
    """One line per experiment with a result, in the columns below."""
    experiments = pd.read_parquet(folder / "experiments.parquet")
    calls = pd.read_parquet(folder / "calls.parquet")
    answered = calls[calls["state"] == "finished"].groupby("experiment")
    seconds = answered["machine_seconds"].sum().rename("machine_seconds")
    model = answered["model"].first().rename("model")
    sampling = answered["sampling"].first().map(lambda text: json.loads(text)["temperature"]).rename("temperature")
    frame = experiments[experiments["outcome"].isin(["solved", "unsolved"])]
    for column in (seconds, model, sampling):
        frame = frame.join(column, on="id")
    return pd.DataFrame(
        {
            "dataset": frame["dataset"],
            "problem": frame["problem"],
            "model": frame["model"],
            "method": frame["label"].str.split().str[0],
            "temperature": frame["temperature"],
            "gate": frame["gate_passed"].fillna(False).astype(bool),
            "solved": frame["outcome"] == "solved",
            "tokens": frame["input_tokens"] + frame["output_tokens"],
            "seconds": frame["machine_seconds"],
        }
    )


def tries(group: pd.DataFrame, most: int) -> pd.DataFrame:
    """Success, tokens and seconds of up to k tries, for k from 0 to ``most``: means over all orders of the draws."""
    gate, solved = group["gate"].to_numpy(), group["solved"].to_numpy()
    spent = group[["tokens", "seconds"]].to_numpy(float)
    lines = [(0.0, 0.0, 0.0)]
    for k in range(1, most + 1):
        orders = list(permutations(range(len(group)), min(k, len(group))))
        used = [next((n for n, draw in enumerate(order, 1) if gate[draw]), len(order)) for order in orders]
        success = np.mean([solved[order[n - 1]] for order, n in zip(orders, used, strict=True)])
        cost = np.mean([spent[list(order[:n])].sum(axis=0) for order, n in zip(orders, used, strict=True)], axis=0)
        lines.append((float(success), *cost))
    return pd.DataFrame(lines, columns=["solved", "tokens", "seconds"])


def escalated(small: pd.DataFrame, large: pd.DataFrame) -> float:
    """Success of one draw of the small model, followed by one of the large model if the first fails the gate."""
    return float(np.where(small["gate"], small["solved"], large["solved"].mean()).mean())


def t_interval(differences: np.ndarray) -> tuple[float, ...]:
    """Mean, lower and upper end of the 95 % interval, and the two-sided p-value of a difference of 0."""
    mean, error = differences.mean(), differences.std(ddof=1) / np.sqrt(len(differences))
    reach = stats.t.ppf(0.975, len(differences) - 1) * error
    p = 2 * stats.t.sf(abs(mean / error), len(differences) - 1) if error else float(mean == 0)
    return float(mean), float(mean - reach), float(mean + reach), float(p)


def bootstrap(curves: np.ndarray, costs: np.ndarray, other: np.ndarray, strata: np.ndarray) -> tuple[float, ...]:
    """The difference of success at equal cost: ``curves[i, k]`` at the mean of ``other``'s cost, minus its success.

    ``costs[i, k]``: cost of up to k tries. ``other[i]``: success and cost of what is compared. ``strata[i]``: dataset.
    """

    def difference(rows: np.ndarray) -> float:
        success, cost = other[rows].mean(axis=0)
        return float(np.interp(cost, costs[rows].mean(axis=0), curves[rows].mean(axis=0)) - success)

    random = np.random.default_rng(SEED)
    groups = [np.flatnonzero(strata == name) for name in np.unique(strata)]
    sampled = [
        difference(np.concatenate([random.choice(group, len(group)) for group in groups])) for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(sampled, [0.025, 0.975])
    tail = min(np.mean(np.array(sampled) <= 0), np.mean(np.array(sampled) >= 0))
    return difference(np.arange(len(other))), float(low), float(high), float(min(1, 2 * max(tail, 1 / RESAMPLES)))


def holm(values: list[float]) -> list[float]:
    """p-values adjusted by Holm's method."""
    adjusted, most = [0.0] * len(values), 0.0
    for rank, place in enumerate(np.argsort(values)):
        most = max(most, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = most
    return adjusted


def results(frame: pd.DataFrame) -> pd.DataFrame:
    """One line per registered comparison: difference, 95 % interval, p, adjusted p, problems, verdict."""
    bank = frame[(frame["method"] == "retry") & (frame["temperature"] > 0)]
    rows = []
    for (dataset, problem), group in bank.groupby(["dataset", "problem"]):
        small, large = group[group["model"] == SMALL], group[group["model"] == LARGE]
        if small.empty or large.empty:
            sys.stdout.write(f"left out: {problem} of {dataset} has no draws of one of the models\n")
            continue
        one = tries(large, 1).iloc[1]
        rows.append((dataset, problem, tries(small, 5), one, escalated(small, large)))
    curves, strata = [row[2] for row in rows], np.array([row[0] for row in rows])
    success = np.array([curve["solved"] for curve in curves])
    once = np.array([row[3]["solved"] for row in rows])
    escalation = np.array([row[4] for row in rows])
    found = {"primary: 5 tries - 1.5B once": (*t_interval(success[:, 5] - once), len(rows))}
    for unit in ("tokens", "seconds"):
        cost = np.array([curve[unit] for curve in curves])
        other = np.array([(row[3]["solved"], row[3][unit]) for row in rows])
        found[f"equal {unit}: tries - 1.5B once"] = (*bootstrap(success, cost, other, strata), len(rows))
    found["escalation - 1.5B once"] = (*t_interval(escalation - once), len(rows))
    found["escalation - 5 tries"] = (*t_interval(escalation - success[:, 5]), len(rows))
    repair = frame[frame["method"] == "repair"].set_index(["dataset", "problem"])
    part = [number for number, row in enumerate(rows) if row[:2] in repair.index]
    other = np.array([repair.loc[rows[number][:2], ["solved", "tokens"]].to_numpy(float).ravel() for number in part])
    cost = np.array([curves[number]["tokens"] for number in part])
    tried = bootstrap(success[part], cost, other, strata[part])
    found["repair - tries at equal tokens"] = (-tried[0], -tried[2], -tried[1], tried[3], len(part))
    table = pd.DataFrame.from_dict(found, orient="index", columns=["difference", "low", "high", "p", "problems"])
    table["p (Holm)"] = [None, *holm(list(table["p"].iloc[1:]))]
    table["verdict"] = [verdict(*table.iloc[0][["low", "high"]]), *[""] * (len(table) - 1)]
    return table


def verdict(low: float, high: float) -> str:
    """The verdict on the primary comparison."""
    return "matches" if low > -MARGIN else "falls short" if high < -MARGIN else "undecided"


if __name__ == "__main__":
    sys.stdout.write(results(draws(Path(sys.argv[1]))).to_string(float_format="{:.4f}".format) + "\n")
