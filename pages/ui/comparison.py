"""Configurations side by side, as a table and as the words of charts."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core.analysis.comparison import Compared
from koderz_core.export.formats import duration, money, rate

COMPARISON_COLUMNS = {"configuration": st.column_config.TextColumn(width=300)}  # pixels; the table has many more


def comparison_table(rows: Sequence[Compared]) -> pd.DataFrame:
    """One line per configuration; the letter is that of its point in the chart."""
    return pd.DataFrame(
        {
            "point": [letter(place) for place in range(len(rows))],
            "configuration": [row.label for row in rows],
            "tier": [(row.tier or "").replace("_", " ") for row in rows],
            "solved [95 %]": [share(row) for row in rows],
            "n": [f"{row.n}/{row.planned}" for row in rows],
            "no result": [row.errors + row.cancelled for row in rows],
            "$ per solved": [money(row.cost_per_solved_usd) for row in rows],
            "$ per experiment": [money(row.cost_per_experiment_usd) for row in rows],
            "cost": [money(row.cost_usd) for row in rows],
            "local part, rented": [money(row.rental_usd) for row in rows],
            "time each": [duration(row.seconds_per_experiment) for row in rows],
            "iterations": [None if row.mean_iterations is None else round(row.mean_iterations, 1) for row in rows],
            "benchmark": [row.benchmark for row in rows],
        }
    )


def share(row: Compared) -> str:
    """The share solved with its interval; ``*`` where an oracle stopped the loop."""
    if row.share is None:
        return "–"
    said = rate(row.rate) if row.rate else f"{100 * row.share:.0f} %"
    return said + ("*" if row.oracle else "")


def letter(place: int) -> str:
    """A, B, ... Z, then numbers: what a configuration is called where its label has no room."""
    return chr(ord("A") + place) if place < 26 else str(place)
