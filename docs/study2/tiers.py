"""Where the small model with tries would stand among the models of eval-arena, on the same problems.

eval-arena (crux-eval/eval-arena, commit 1c869f4) publishes for 49 models on HumanEval+ and 59 models on MBPP+ which
problems one answer of the model solved. koderz does not contain these files: download ``data/humaneval+.jsonl`` and
``data/mbpp+.jsonl``, and compress them as ``eval-arena-humaneval+.jsonl.gz`` and ``eval-arena-mbpp+.jsonl.gz``. The
answers were made with other prompts, and each comparison is one of many. So this is a description, not a test.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from analysis import LARGE, MARGIN, SMALL, t_interval, tries, verdict
from described import KEY, MOST, bank, span

POINTS = round(100 * MARGIN)
VERDICT = f"5 attempts, at a margin of {POINTS} points"
MEANING = (
    f"The last column of the table *Models* states what the interval of the difference means at a margin of {POINTS} "
    f"points. *better*: its lower end is above 0. *matches*: its lower end is above -{POINTS}, but not above 0. *falls "
    f"short*: its upper end is below -{POINTS}. *undecided*: all other intervals. The comparisons are not adjusted."
)


def published(folder: Path) -> pd.DataFrame:
    """One line per model and problem: ``dataset``, ``problem``, ``model``, ``solved`` (a share)."""
    files = [pd.read_json(folder / f"eval-arena-{name}.jsonl.gz", lines=True) for name in ("humaneval+", "mbpp+")]
    names = {"benchmark_id": "dataset", "example_id": "problem", "pass1": "solved"}
    return pd.concat(files).rename(columns=names)[[*KEY, "model", "solved"]]


def tier_table(frame: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """One line per published model, the best first, with five tries of the small model minus its one answer.

    Shares and differences are in percent and percentage points. ``VERDICT``: what the difference means at the margin of
    the study; each line is one comparison of many. A model without a result for each problem is left out.
    """
    lines = []
    for dataset, part in bank(frame[frame["model"] == SMALL]).groupby("dataset"):
        success = reached(part)
        for model, answers in others[others["dataset"] == dataset].groupby("model"):
            theirs = answers.groupby("problem")["solved"].mean().reindex(success.index)
            if theirs.notna().all():
                difference, low, high, _ = t_interval((success[MOST] - theirs).to_numpy())
                meaning = "better" if low > 0 else verdict(low, high)
                line = {"dataset": dataset, "model": model, "problems": len(theirs), "solved (%)": 100 * theirs.mean()}
                lines.append({**line, "5 attempts - model [95 %]": span(difference, low, high), VERDICT: meaning})
    if not lines:
        sys.exit("The files of eval-arena have no model with a result for each problem of the bank.")
    return pd.DataFrame(lines).sort_values(["dataset", "solved (%)"], ascending=[True, False], ignore_index=True)


def reached(part: pd.DataFrame) -> pd.DataFrame:
    """The success of the small model with up to k tries, by problem (rows) and k (columns)."""
    small = part[part["model"] == SMALL]
    return pd.DataFrame({problem: tries(group, MOST)["solved"] for problem, group in small.groupby("problem")}).T


def places(frame: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """The number of published models that solve fewer problems than the small model by tries, and the large once."""
    lines = []
    for dataset, part in bank(frame).groupby("dataset"):
        theirs = table.loc[table["dataset"] == dataset, "solved (%)"]
        if theirs.empty:
            continue
        success = reached(part).mean()
        large = part[part["model"] == LARGE].groupby("problem")["solved"].mean().mean()
        own = {f"0.5B, {k} {'attempt' if k == 1 else 'attempts'}": success[k] for k in range(1, MOST + 1)}
        for label, share in {**own, "1.5B, 1 attempt": large}.items():
            line = {"dataset": dataset, "configuration": label, "solved (%)": 100 * share}
            lines.append({**line, "models with fewer": int(np.sum(theirs < 100 * share)), "models": len(theirs)})
    return pd.DataFrame(lines)
