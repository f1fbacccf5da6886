"""Where the small model with tries would stand among the models of eval-arena, on the same problems.

eval-arena (crux-eval/eval-arena, commit 1c869f4) publishes for 49 models on HumanEval+ and 59 models on MBPP+ which
problems one answer of the model solved. koderz does not contain these files: download ``data/humaneval+.jsonl`` and
``data/mbpp+.jsonl``, and compress them as ``eval-arena-humaneval+.jsonl.gz`` and ``eval-arena-mbpp+.jsonl.gz``. The
answers were made with other prompts and scored by all tests of the datasets, while the tests of this study repeat no
example of a problem's text. So this is a description, not a test.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from analysis import LARGE, SMALL, t_interval, tries, verdict
from described import KEY, MOST, bank


def published(folder: Path) -> pd.DataFrame:
    """One line per model and problem: ``dataset``, ``problem``, ``model``, ``solved`` (a share)."""
    files = [pd.read_json(folder / f"eval-arena-{name}.jsonl.gz", lines=True) for name in ("humaneval+", "mbpp+")]
    names = {"benchmark_id": "dataset", "example_id": "problem", "pass1": "solved"}
    return pd.concat(files).rename(columns=names)[[*KEY, "model", "solved"]]


def tier_table(frame: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """One line per published model, the best first, with five tries of the small model minus its one answer.

    ``beside`` says what the difference means at the margin of the study; each line is one comparison of many.
    """
    lines = []
    for dataset, part in bank(frame).groupby("dataset"):
        success = reached(part)
        for model, answers in others[others["dataset"] == dataset].groupby("model"):
            theirs = answers.groupby("problem")["solved"].mean().reindex(success.index).dropna()
            if len(theirs) < len(success):
                continue
            difference, low, high, _ = t_interval((success[MOST] - theirs).to_numpy())
            lines.append(
                {
                    "dataset": dataset,
                    "model": model,
                    "solved": theirs.mean(),
                    "difference": difference,
                    "low": low,
                    "high": high,
                    "beside": "is better" if low > 0 else verdict(low, high),
                }
            )
    return pd.DataFrame(lines).sort_values(["dataset", "solved"], ascending=[True, False], ignore_index=True)


def reached(part: pd.DataFrame) -> pd.DataFrame:
    """The success of the small model with up to k tries, by problem (rows) and k (columns)."""
    small = part[part["model"] == SMALL]
    return pd.DataFrame({problem: tries(group, MOST)["solved"] for problem, group in small.groupby("problem")}).T


def places(frame: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """How many published models each of these solves more problems than: the small model by tries, the large once."""
    lines = []
    for dataset, part in bank(frame).groupby("dataset"):
        success, theirs = reached(part).mean(), table.loc[table["dataset"] == dataset, "solved"]
        large = part[part["model"] == LARGE].groupby("problem")["solved"].mean().mean()
        for label, share in [
            *((f"{SMALL}, {k} tries", success[k]) for k in range(1, MOST + 1)),
            (f"{LARGE}, once", large),
        ]:
            lines.append(
                {
                    "dataset": dataset,
                    "configuration": label,
                    "solved": share,
                    "above": int(np.sum(theirs < share)),
                    "of": len(theirs),
                }
            )
    return pd.DataFrame(lines)
