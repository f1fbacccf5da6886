"""What is shown of many experiments until all of it is there; and comparisons of so many that their age is told."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.analysis.compared import Compared
from koderz_core.analysis.compared import compared as placed
from koderz_core.analysis.comparison import Comparison
from koderz_core.analysis.difficulty import Difficulty
from koderz_core.export.formats import count, duration, marked_rate, money
from koderz_core.records.summaries import SummaryRow
from pages.ui.compared import compared, difficulties_of, is_large
from pages.ui.edge import edge
from pages.ui.preparing import prepared
from pages.ui.tables import WORD_COLUMNS

BEAT_SECONDS = 1.0
WHY = "Intervals, tests and curves are computed from every try: they come by themselves."
ONCE = f"{WHY} It is done once, in the background: you can leave this page meanwhile."


def answered(workspace: Workspace, rows: Sequence[SummaryRow], baseline: str | None) -> Comparison | None:
    """The comparison of many experiments, with all curves; None: it is still being computed, as the page then says."""
    if is_large(rows):
        return _awaited(workspace, rows, baseline)
    work = partial(compared, workspace, rows, baseline)
    return prepared(f"comparison of {_names(rows)}, {baseline}", work, partial(_show_begun, rows, WHY))


def sorted_out(workspace: Workspace, rows: Sequence[SummaryRow]) -> tuple[Difficulty, ...] | None:
    """``difficulties_of``; None: many experiments are still being read for it, as the page then says."""
    work = partial(difficulties_of, workspace, rows)
    if not is_large(rows):
        return work()
    why = "What came of each problem comes by itself."
    return prepared(f"problems of {_names(rows)}", work, partial(_show_begun, rows, why))


def _awaited(workspace: Workspace, rows: Sequence[SummaryRow], baseline: str | None) -> Comparison | None:
    """The newest comparison with its age above it; None: it is still being computed, as the page then says."""
    found = workspace.awaiting.comparison(rows, baseline)
    if found.since is not None or found.computed is None:  # it may have ended since it was begun
        _watch(workspace, rows, baseline)
    if found.computed is None:
        _show_known(rows, ONCE)
        return None
    said = f"As of {time.strftime('%H:%M:%S', time.localtime(found.computed.at))}."
    if found.outdated and found.since is None:
        _offer_anew(workspace, rows, baseline, said)
    else:
        st.caption(said)
    return found.computed.answer


def _watch(workspace: Workspace, rows: Sequence[SummaryRow], baseline: str | None) -> None:
    """How long it has taken; the page is drawn anew when it has ended."""
    number = _number(rows)

    @st.fragment(run_every=BEAT_SECONDS, key="being compared")
    def draw() -> None:
        with edge():
            since = workspace.awaiting.since(rows, baseline)
            if since is None:
                st.rerun()
            took = duration(max(0.0, round(time.time() - since)))
            st.info(f"{number} experiments are being compared, for {took} by now.", icon="⏳")

    draw()


def _show_begun(rows: Sequence[SummaryRow], why: str) -> None:
    """That they are being read; ``why`` that takes a moment, in our words."""
    st.info(f"{_number(rows)} experiments are being read.", icon="⏳")
    _show_known(rows, why)


def _show_known(rows: Sequence[SummaryRow], why: str) -> None:
    """What was counted already, experiment by experiment; a comparison lets each problem weigh the same."""
    st.text(why)
    known = [placed(row, at) for at, row in enumerate(rows)]
    table = pd.DataFrame([_line(one, row) for one, row in zip(known, rows, strict=True)])
    st.dataframe(table, hide_index=True, column_config=WORD_COLUMNS, alt="What is known of each configuration by now")


def _names(rows: Sequence[SummaryRow]) -> str:
    """What tells them from others, and from the same on other problems."""
    return " ".join(f"{row.benchmark}/{row.configuration} on {row.problem_set}" for row in rows)


def _number(rows: Sequence[SummaryRow]) -> str:
    return count(sum(row.planned for row in rows))


def _line(one: Compared, row: SummaryRow) -> dict[str, str]:
    share = row.solved / one.n if one.n else None
    return {
        " ": one.letter,
        "configuration": one.label,
        "solved, of experiments": f"{marked_rate(share, None, None, one.marks)} of {count(one.n)}",
        "planned": count(one.planned),
        "iterations": "–" if one.mean_iterations is None else f"{one.mean_iterations:.1f}",
        "$ each": money(one.cost_per_experiment_usd),
        "time each": duration(one.seconds_per_experiment),
    }


def _offer_anew(workspace: Workspace, rows: Sequence[SummaryRow], baseline: str | None, said: str) -> None:
    """Numbers that are looked at do not change by themselves: who wants what was said since asks for it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{said} The journals have said more since.")
        st.button("Compare anew", icon="🔁", on_click=workspace.awaiting.anew, args=[rows, baseline])
