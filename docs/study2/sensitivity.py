"""Registered comparisons once more: with another reading of "solved", and without draws that other work slowed down.

This program was written after the draws were made; it is not part of the design. Needs pandas, numpy and scipy, and
nothing of koderz.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from analysis import LARGE, SMALL, results
from described import bank, span

BUSY = [datetime(2026, 11, 28, 19, minute, tzinfo=UTC).timestamp() for minute in (37, 40)]
"""An installation and a type check used both cores in this time (UTC), while ``large-humaneval`` ran."""
PRIMARY, SECONDS = "primary: 5 tries - 1.5B once", "equal seconds: tries - 1.5B once"
ESCALATION, REPAIR = "escalation - 1.5B once", "repair - tries at equal tokens"


def sensitivity_table(frame: pd.DataFrame, experiments: pd.DataFrame, journals: Path) -> pd.DataFrame:
    """Registered comparisons with other readings of "solved", and that at equal seconds without disturbed draws.

    ``experiments`` is the exported table from which ``frame`` was made.
    """
    rows = experiments.loc[frame.index]
    compared = rows.index.isin(bank(frame).index) & frame["model"].isin([SMALL, LARGE])
    every = rows["id"].isin(unclear_experiments(journals))
    unclear, repairs = every & compared, every & (frame["method"] == "repair")
    large = frame["model"] == LARGE
    disturbed = (rows["started_at"] < BUSY[1]) & (rows["finished_at"] > BUSY[0])
    readings = [
        ("as analysis.py computes", frame, (PRIMARY, ESCALATION, REPAIR, SECONDS)),
        (
            f"{(unclear & large).sum()} unclear draws of the 1.5B model solved",
            _solved(frame, unclear & large),
            (PRIMARY,),
        ),
        (f"all {unclear.sum()} unclear draws solved", _solved(frame, unclear), (PRIMARY, ESCALATION)),
        (f"{repairs.sum()} unclear programs of repair solved", _solved(frame, repairs), (REPAIR,)),
        ("all unclear draws and programs of repair solved", _solved(frame, unclear | repairs), (REPAIR,)),
        (f"without {disturbed.sum()} disturbed draws", frame[~disturbed], (SECONDS,)),
    ]
    lines = []
    for reading, draws, comparisons in readings:
        for comparison, found in results(draws).loc[list(comparisons)].iterrows():
            points = span(*found[["difference", "low", "high"]], digits=2)
            lines.append((comparison, reading, points, found["p (Holm)"], found["problems"], found["verdict"]))
    return pd.DataFrame(lines, columns=["comparison", "reading", "points [95 %]", "p (Holm)", "problems", "verdict"])


@cache
def unclear_experiments(journals: Path) -> frozenset[str]:
    """The experiments whose submitted program fails an example and passes all other tests that were run.

    koderz does not run the plus tests of a program that fails a base test, and the examples are base tests. By the
    words of the design, such a program is right if it passes the plus tests too.
    """
    found = set()
    for path in sorted(journals.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            if '"kind":"candidate_scored"' in line[:200]:
                record = json.loads(line)
                event = record["event"]
                if event["returned"] and _is_unclear(event["gate"], event["held_out"]):
                    found.add(record["experiment"])
    return frozenset(found)


def _is_unclear(gate: dict[str, Any] | None, rest: dict[str, Any] | None) -> bool:  # Any: JSON
    """Whether a gate test failed, and all other tests passed or were skipped. ``P``: passed; ``-``: not run."""
    if not gate or not rest or rest["error"]:
        return False
    return set(gate["marks"]) != {"P"} and set(rest["marks"]) == {"P", "-"}


def _solved(frame: pd.DataFrame, chosen: pd.Series) -> pd.DataFrame:
    return frame.assign(solved=frame["solved"] | chosen)
