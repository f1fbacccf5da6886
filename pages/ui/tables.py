"""Tables and charts of the pages: columns and their formats, a chart with its table, and downloads as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types
import streamlit as st

from koderz_core.records import TestFailure, Verdict
from koderz_core.records.progress import NewestIteration
from koderz_core.records.rows import BenchmarkRow, ExperimentRow, IterationRow
from koderz_core.report.formats import MARKS, TextTable, csv_of_rows, duration, money_spent
from koderz_core.report.problems import name_of
from koderz_core.report.status import ago, marked_state
from koderz_core.times import utc_if_possible
from koderz_core.workspace.health import SIGNS, Finding
from koderz_core.workspace.models import Availability
from pages.ui.text import worded


def benchmark_table(rows: Sequence[BenchmarkRow]) -> pd.DataFrame:
    """One line per benchmark."""
    return pd.DataFrame(
        {
            "state": [marked_state(row).partition(":")[0] for row in rows],  # the page Live shows the reason too
            "name": [("SCRIPTED " if row.scripted else "") + row.name for row in rows],
            "benchmark": [row.id for row in rows],
            "experiments": [f"{row.planned - row.left}/{row.planned}" for row in rows],
            "solved": [row.solved for row in rows],
            "no result": [row.errors + row.cancelled for row in rows],
            "cost": [money_spent(row.cost_usd, row.cached) for row in rows],
            "started": [utc_if_possible(row.opened_at) for row in rows],
            "isolation": [row.isolation + (" ⚠" if row.isolation == "limited" else "") for row in rows],
            "models": [", ".join(row.models) for row in rows],
        }
    )


BENCHMARK_COLUMNS = {
    "state": st.column_config.TextColumn(width=190),
    "name": st.column_config.TextColumn(width=170),  # a long name must not push the figures off the screen
    "started": st.column_config.DatetimeColumn("started", format="distance"),
    "no result": st.column_config.NumberColumn(
        help="Number of experiments that ended with an error or were cancelled. Rates exclude these experiments."
    ),
}

TEST_COLUMNS = {
    "test": st.column_config.NumberColumn("test", width="small"),
    "": st.column_config.TextColumn("", width="small"),
    "seconds": st.column_config.NumberColumn("seconds", format="%.5f", width="small"),
}
TEST_MARKS = {"P": "✓", "F": "✗", "-": "·"}


EXPERIMENT_COLUMNS = {"labels": st.column_config.ListColumn(width=170)}


def experiment_table(rows: Sequence[ExperimentRow], labels: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """One line per experiment; ``labels`` by id, in a column of their own if there are any."""
    table = pd.DataFrame(
        {
            "outcome": [outcome(row) + (" (shared)" if row.shared else "") for row in rows],
            "problem": [row.problem for row in rows],
            "repeat": [row.repeat + 1 for row in rows],
            "iterations": [row.iterations for row in rows],
            "error class": [row.failure or "" for row in rows],
            "time": [duration(row.seconds) for row in rows],
            "cost": [money_spent(row.cost_usd, row.cached) for row in rows],
            "configuration": [row.label for row in rows],
            "experiment": [row.id for row in rows],
        }
    )
    if any(row.id in labels for row in rows):
        table.insert(2, "labels", [list(labels.get(row.id, ())) for row in rows])
    return table


def outcome(row: ExperimentRow) -> str:
    """The outcome or the state, with its mark."""
    return MARKS[row.shown]


def selected(table: pd.DataFrame, key: str, column: str, **options: object) -> str | None:
    """Show a table in which one row can be chosen; the cell of that row in ``column``. ``key`` is unique on the page.

    A browser sends the number of a row, so a choice counts only in the table with the same cells in ``column``.
    """
    state = st.dataframe(
        table,
        key=f"{key} {hash(tuple(table[column]))}",
        height=tall(len(table), FEW_LINES),
        on_select="rerun",
        selection_mode="single-row",
        hide_index=True,
        **options,  # type: ignore[call-overload]  # options of st.dataframe, by name
    )
    rows = state["selection"]["rows"]
    return str(table[column].iloc[rows[0]]) if rows and rows[0] < len(table) else None


NEWEST_COLUMNS = {
    "experiment": st.column_config.LinkColumn("experiment", display_text="open", width="small"),
    "iteration": st.column_config.NumberColumn("iteration", width="small"),
}


def newest_table(rows: Sequence[NewestIteration], now: float) -> pd.DataFrame:
    """One line per iteration, the newest first; ``now``: seconds since 1970."""
    return pd.DataFrame(
        {
            "tests": [f"{'✓' if row.passed else '✗'} {row.tests_passed}/{row.tests_total}" for row in rows],
            "problem": [row.problem for row in rows],
            "iteration": [row.iteration for row in rows],
            "error class": [row.error or "" for row in rows],
            "happened": [ago(now - row.at) for row in rows],
            "experiment": [f"experiment?experiment={row.experiment}" for row in rows],
            "configuration": [row.label for row in rows],
            "message": [row.message for row in rows],
        }
    )


def verdict_table(verdict: IterationRow | Verdict) -> pd.DataFrame:
    """One line per test that ran, in order; source and values are known for failed tests only."""
    failures = {failure.index: failure for failure in verdict.failures}
    ran = [place for place, mark in enumerate(verdict.marks) if mark != "-" or place in failures]
    known = [failures.get(place) for place in ran]
    marks = [TEST_MARKS[verdict.marks[place]] for place in ran]
    table = pd.DataFrame({"test": [place + 1 for place in ran], "": marks})
    if verdict.test_seconds:
        table["seconds"] = [verdict.test_seconds[place] for place in ran]
    for name in ("source", "expected", "actual", "message"):
        texts = [_cell(failure, name) if failure else "" for failure in known]
        if any(texts):
            table[name] = texts
    return table


def _cell(failure: TestFailure, name: str) -> str:
    return name_of(failure) if name == "source" else getattr(failure, name) or ""


def availability_table(rows: Sequence[Availability]) -> pd.DataFrame:
    """One line per model that cannot be called."""
    return pd.DataFrame(
        {
            "model": [row.id for row in rows],
            "tier": [row.tier for row in rows],
            "why": [worded(row.reason) for row in rows],
            "what to do": [worded(row.cure) for row in rows],
        }
    )


def findings_table(findings: Sequence[Finding]) -> pd.DataFrame:
    """One line per check."""
    return pd.DataFrame(
        {
            "state": [SIGNS[finding.state] for finding in findings],
            "what": [finding.subject for finding in findings],
            "found": [worded(finding.said) for finding in findings],
            "what to do": [worded(finding.cure) for finding in findings],
        }
    )


WORD_COLUMNS = {
    "key": st.column_config.TextColumn(width=44, pinned=True),  # the letter stays visible on a narrow screen
    "configuration": st.column_config.TextColumn(width=242),
}
FORMATS = ("PNG", "SVG")  # of saved pictures
MOST_LINES, FEW_LINES = 18, 10  # of a table in view; a longer one scrolls
LINE_PIXELS = 31  # of a table, with the size of text in .streamlit/config.toml


def show_words(table: TextTable, order: Sequence[str] | None = None) -> None:
    """Show a table in words; ``order`` of its columns, None for its own."""
    st.dataframe(
        frame(table),
        hide_index=True,
        column_config=WORD_COLUMNS,
        column_order=order,
        height=tall(len(table.rows)),
        alt=table.title,
    )


def led_by(table: TextTable, column: str) -> list[str]:
    """The columns with ``column`` right after the letter, so that it is visible on a narrow screen."""
    letter, *others = (name or "key" for name in table.columns)
    return [letter, column, *(name for name in others if name != column)]


def frame(table: TextTable) -> pd.DataFrame:
    """A table in words as a data frame; a column without a name is the key of its row."""
    return pd.DataFrame(list(table.rows), columns=[name or "key" for name in table.columns])


def tall(lines: int, most: int = MOST_LINES) -> int:
    """The height of a table in pixels: of its lines and its head, or of ``most`` lines, which then scroll.

    The browser reserves this height before it has loaded the table, so that nothing below moves.
    """
    return LINE_PIXELS * (min(lines, most) + 1) + 3


def show_chart(
    figure: go.Figure,
    name: str,
    alt: str,
    table: pd.DataFrame,
    records: Sequence[Mapping[str, object]],
    subject: str = "",
) -> None:
    """A chart; below it its numbers as a table, and unrounded as CSV.

    ``name``: our words, unique on the page. ``subject``: what the chart is about, for the name of its file.
    """
    show_picture(figure, name, alt, subject)
    show_numbers(name, alt, table, records)


def show_picture(figure: go.Figure, name: str, alt: str, subject: str, variant: str = "") -> None:
    """A chart alone, as in ``show_chart``. ``variant``: distinguishes charts of the same name."""
    st.plotly_chart(figure, key=name + variant, **_picture_options(name, alt, subject))


def chosen_point(figure: go.Figure, name: str, alt: str, subject: str, variant: str = "") -> str | None:
    """``show_picture`` with points to choose; the key of the chosen one, which is the second of its ``customdata``."""
    options = _picture_options(name, alt, subject)
    chosen = st.plotly_chart(figure, key=name + variant, on_select="rerun", selection_mode="points", **options)
    points = chosen["selection"]["points"]
    return str(points[0]["customdata"][1]) if points else None


# Any: the options of st.plotly_chart have many types.
def _picture_options(name: str, alt: str, subject: str) -> dict[str, Any]:
    """The camera button saves the picture in the format that ``show_numbers`` offers, PNG in twice the resolution."""
    kind = str(st.session_state.get(_format_key(name), FORMATS[0])).lower()
    file = "-".join(filter(None, ("koderz", subject, name)))
    image = {"format": kind, "filename": file, "scale": 2 if kind == "png" else 1}
    return {"alt": alt, "config": {"displaylogo": False, "toImageButtonOptions": image}}


def show_numbers(name: str, alt: str, table: pd.DataFrame, records: Sequence[Mapping[str, object]]) -> None:
    """The numbers of a chart, as in ``show_chart``, and the format of its picture."""
    with st.expander("Table, CSV and image format", icon="🔢"):
        st.dataframe(table, hide_index=True, alt=f"{alt}, as a table", placeholder="–", key=f"table of {name}")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            offer_csv(name, records)
            label, key = "Format in which the camera button saves the chart", _format_key(name)
            st.segmented_control(label, FORMATS, default=FORMATS[0], key=key, required=True, width="content")


def _format_key(name: str) -> str:
    return f"format of {name}"


def offer_csv(name: str, records: Sequence[Mapping[str, object]]) -> None:
    """A button for the unrounded numbers of a table; text that a spreadsheet would read as a formula is escaped."""
    st.download_button(
        "CSV",
        lambda: csv_of_rows(records, for_spreadsheets=True),
        f"koderz-{name}.csv",
        "text/csv",
        key=f"csv of {name}",
        icon="⬇️",
        on_click="ignore",
    )
