"""The registered comparisons once more, from the bank alone and without analysis.py.

Run: ``python docs/study2/recompute.py docs/study2/bank/draws.parquet``. Tries are computed by a formula instead of by
listing all orders of the draws.
"""

import sys
from math import comb

import numpy as np
import pandas as pd
from scipy import stats

COSTS = ["solved", "tokens", "machine_seconds"]


def tries(draws: pd.DataFrame, k: int) -> np.ndarray:
    """Mean success, tokens and seconds of up to k tries over all orders of these draws of one problem."""
    passed, failed = draws[draws.gate_passed][COSTS].mean(), draws[~draws.gate_passed][COSTS].mean()
    fails = [comb((~draws.gate_passed).sum(), j) / comb(len(draws), j) for j in range(min(k, len(draws)) + 1)]
    refused = np.array([fails[-1] if k else 0, sum(fails[1:]), sum(fails[1:])])
    return (passed.fillna(0) * (1 - fails[-1]) + failed.fillna(0) * refused).to_numpy()


def t_test(name: str, x: np.ndarray) -> str:
    low, high = stats.t.interval(0.95, len(x) - 1, x.mean(), stats.sem(x))
    print(f"{name}: {x.mean():.4f} [{low:.4f} {high:.4f}], p = {stats.ttest_1samp(x, 0).pvalue:.4f}")
    return "matches" if low > -0.1 else "falls short" if high < -0.1 else "undecided"


def at_equal_cost(name: str, own: np.ndarray, other: np.ndarray, cost: int, sets: np.ndarray) -> None:
    groups, random = [np.flatnonzero(sets == one) for one in np.unique(sets)], np.random.default_rng(26)
    picks = [np.concatenate([random.choice(group, len(group)) for group in groups]) for _ in range(10_000)]
    means = [(own[rows].mean(0), other[rows].mean(0)) for rows in (slice(None), *picks)]
    found = np.array([np.interp(b[cost], a[:, cost], a[:, 0]) - b[0] for a, b in means])
    p = min(1, 2 * max(min(np.mean(found[1:] <= 0), np.mean(found[1:] >= 0)), 1e-4))
    print(f"{name}: {found[0]:.4f} {np.quantile(found[1:], [0.025, 0.975]).round(4)}, p = {p:.4f}")


rows = pd.read_parquet(sys.argv[1]).assign(tokens=lambda table: table.input_tokens + table.output_tokens)
bank = rows[(rows.method == "retry") & (rows.temperature > 0)]
small, large = (
    dict(list(bank[bank.model.str.endswith(size)].groupby(["dataset", "problem"]))) for size in ("-0.5b", "-1.5b")
)
keys = pd.MultiIndex.from_tuples([key for key in small if key in large])
curves = np.array([[tries(small[key], k) for k in range(6)] for key in keys])
once = np.array([large[key][COSTS].mean() for key in keys])
gate = [np.array([small[key].gate_passed, small[key].solved]) for key in keys]
escalated = np.array([np.where(*marks, one).mean() for marks, one in zip(gate, once[:, 0], strict=True)])
repair = rows[rows.method == "repair"].set_index(["dataset", "problem"]).reindex(keys)[COSTS].astype(float)
part = repair.solved.notna().to_numpy()
print(t_test("primary: 5 tries - 1.5B once", curves[:, 5, 0] - once[:, 0]))
at_equal_cost("equal tokens: tries - 1.5B once", curves, once, 1, keys.get_level_values(0))
at_equal_cost("equal seconds: tries - 1.5B once", curves, once, 2, keys.get_level_values(0))
t_test("escalation - 1.5B once", escalated - once[:, 0])
t_test("escalation - 5 tries", escalated - curves[:, 5, 0])
at_equal_cost("equal tokens: tries - repair", curves[part], repair[part].to_numpy(), 1, keys[part].get_level_values(0))
