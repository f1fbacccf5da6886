"""The problems that part two configurations, and both programs for one of them side by side."""

from __future__ import annotations

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.analysis.compared import Compared
from koderz_core.analysis.pairs import Pair, Parting
from pages.ui.edge import edge
from pages.ui.lines import chosen_line
from pages.ui.text import show_diff, show_text

LONGEST_LIST = 320  # pixels; a longer list scrolls


def show_partings(workspace: Workspace, pair: Pair, it: Compared, baseline: Compared) -> None:
    """Every problem that one of the two solved and the other did not; the chosen one with both programs.

    Another choice draws only this part anew: nothing else hangs on it.
    """
    if not pair.partings:
        st.info("Both solved the same problems, so there is no program to look at.", icon="🟰")
        return

    @st.fragment(key="partings")
    def draw() -> None:
        with edge():
            _draw(workspace, pair, it, baseline)

    draw()


def _draw(workspace: Workspace, pair: Pair, it: Compared, baseline: Compared) -> None:
    st.caption(
        "Problems that one of the two solved, or solved in more of its repeats. Choose a line to read both programs."
    )
    partings = {one.problem: one for one in pair.partings}
    solvers = [baseline if one.solved_by_baseline else it for one in partings.values()]
    table = pd.DataFrame(
        {"problem": list(partings), "solved more by": [f"{row.letter} · {row.label}" for row in solvers]}
    )
    tall: int | str = LONGEST_LIST if len(partings) > 8 else "content"
    problem = chosen_line(table, "problem", list(partings), height=tall, alt="Problems that one of the two solved")
    _programs(workspace, partings[problem], it, baseline)


def _programs(workspace: Workspace, parting: Parting, it: Compared, baseline: Compared) -> None:
    codes = (parting.baseline_code, parting.code)
    texts = workspace.results.texts([code for code in codes if code])
    sides = ((baseline, parting.baseline_experiment, codes[0]), (it, parting.experiment, codes[1]))
    for column, (row, experiment, code) in zip(st.columns(2), sides, strict=True):
        solved = parting.solved_by_baseline == (row is baseline)
        with column:
            st.text(f"{'✓ solved' if solved else '✗ unsolved'} · {row.letter} · {row.label}")
            st.page_link(
                "pages/experiment.py",
                label="Its experiment, step by step",
                icon="🔬",
                query_params={"experiment": experiment},
            )
            if program := texts.get(code or ""):
                show_text(program, f"program-{row.letter}", "python")
            else:
                st.info("It returned no program.", icon="🕳️")
    before, after = (texts.get(code or "", "") for code in codes)
    if before and after:
        st.caption(f"From {baseline.letter} to {it.letter}")
        show_diff(before, after, "diff", (baseline.letter, it.letter))
