"""The parts of the Experiments page: links, files and commands of an experiment, and a second one side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from koderz_core import KoderzError, Workspace
from koderz_core.records.rows import ExperimentDetails, ExperimentRow
from koderz_core.report.dump import zipped
from koderz_core.report.formats import MARKS
from koderz_core.report.timeline import RETURNED, SIDES, settings_beside, steps_beside
from koderz_core.workspace.experiments import StepPair, aligned
from pages.ui.address import choice, chosen_line, keep, link
from pages.ui.edge import redrawn
from pages.ui.labels import show_labels
from pages.ui.programs import show_diff, show_program
from pages.ui.tables import frame, show_words, tall

KEYS = ("Alt+PageUp", "Alt+PageDown")
OF_ONE = ("experiment", "step", "beside", "line")  # in the address, and about one experiment; the view is kept for all
NONE = ""
STEPS = {"step": st.column_config.TextColumn("step", pinned=True)}  # stays in sight on a narrow screen


def show_links(workspace: Workspace, row: ExperimentRow) -> None:
    """The experiment's name and labels, and links to its neighbours, its files and its benchmark."""
    near = workspace.results.neighbours(row.id)
    st.text(f"{row.problem} · {row.label}" + (f" · repeat {row.repeat + 1}" if row.repeat else ""))
    with st.container(horizontal=True, vertical_alignment="center", key="ways"):
        _neighbour("Previous", "⬅️", KEYS[0], near.previous)
        _neighbour("Next", "➡️", KEYS[1], near.next)
        st.download_button(
            "Files",
            lambda: zipped(workspace.experiments.files(row.id)),  # runs only after a click
            f"{row.id}.zip",
            "application/zip",
            key="files",
            icon="⬇️",
            on_click="ignore",
            help="Download the prompts, answers, programs and test results, each in its own file.",
        )
        link("experiment", "All experiments", "📋")
        st.caption(row.id)
    show_labels(workspace, row)


def _neighbour(label: str, icon: str, key: str, other: str | None) -> None:
    if st.button(label, label, icon=icon, shortcut=key, disabled=other is None):
        for name in OF_ONE:
            keep(name, None)
        keep("experiment", other)
        st.rerun()


def show_commands(workspace: Workspace, row: ExperimentRow) -> None:
    """Commands that show or repeat the experiment. Built only when opened, because that reads the plan and dataset."""
    place = st.expander("Terminal commands for this experiment", icon="⌨️", key="terminal", on_change="rerun")
    if not place.open:
        return
    with place:
        try:
            commands = workspace.experiments.commands(row)
        except KoderzError as error:
            st.info("koderz cannot show commands for this experiment.", icon="⌨️")
            st.text(str(error))
            return
        for about, command in (
            (
                "Show this experiment, and write its prompts, answers, programs and test results into a folder:",
                commands.look,
            ),
            ("Run this configuration on this problem again, as a new benchmark:", commands.alone),
            (
                "Resume the whole benchmark (experiments that have a result or ended with an error do not run again):",
                commands.whole,
            ),
        ):
            st.caption(about)
            st.code(command, language=None, wrap_lines=True)


def show_pair(workspace: Workspace, row: ExperimentRow) -> None:
    """Offer the other experiments on the problem; show the chosen one side by side with this one."""
    others = {other.id: other for other in workspace.experiments.peers(row)}
    if not others:
        st.caption("No other experiment on this problem has started, so there is no experiment to compare with.")
        return

    def draw() -> None:
        options = [NONE, *others]
        chosen = choice(
            "beside", "Another experiment on this problem", options, lambda name: _label(others.get(name), row)
        )
        if chosen != NONE:
            _show_both(workspace, row.id, chosen)

    redrawn("beside", draw)


def _label(other: ExperimentRow | None, row: ExperimentRow) -> str:
    """Hostile text."""
    if other is None:
        return "none"
    where = "" if other.benchmark == row.benchmark else other.benchmark
    repeat = f"repeat {other.repeat + 1}" if other.repeat or other.configuration == row.configuration else ""
    return " · ".join(part for part in (MARKS[other.shown], other.label, repeat, where, other.id) if part)


def _show_both(workspace: Workspace, experiment: str, other: str) -> None:
    left, right = (workspace.results.experiment(name) for name in (experiment, other))
    differing = settings_beside(workspace.experiments.differences(left.experiment, right.experiment))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{SIDES[0]} is the experiment above, {SIDES[1]} is the chosen experiment. Settings that differ:")
        link("experiment", f"Open {SIDES[1]}", "🔬", experiment=other)
    if differing.rows:
        show_words(differing)
    else:
        st.text("None: both experiments have the same configuration and ran under the same conditions.")
    pairs = aligned(left.steps, right.steps)
    table = steps_beside(pairs, left.experiment, right.experiment)
    keys = [RETURNED, *map(str, range(1, len(pairs) + 1))]
    if (earlier := st.query_params.get("pair")) in keys:  # in an address of earlier versions
        keep("line", earlier)
        keep("pair", None)
    st.caption(
        "Each row compares one step of the two experiments. For an iteration, the row shows the result of the gate "
        "tests. For the returned program, the row shows the result of the tests that score this program. Choose a "
        "row to compare the two programs of that step."
    )
    options = {"column_config": STEPS, "height": tall(len(table.rows)), "alt": table.title}
    line = chosen_line(frame(table), "line", keys, **options)
    _show_programs(workspace, (left, right), _programs(left, right, pairs, line))


def _programs(
    left: ExperimentDetails, right: ExperimentDetails, pairs: Sequence[StepPair], line: str
) -> tuple[str | None, str | None]:
    """The two programs of a line, by SHA-256."""
    if line == RETURNED:
        return left.experiment.code, right.experiment.code
    pair = pairs[int(line) - 1]
    left_code, right_code = (None if step is None else step.program for step in (pair.left, pair.right))
    return left_code, right_code


def _show_programs(
    workspace: Workspace, both: Sequence[ExperimentDetails], codes: tuple[str | None, str | None]
) -> None:
    texts = workspace.results.texts([code for code in codes if code])
    for column, side, details, code in zip(st.columns(2), SIDES, both, codes, strict=True):
        with column:
            _show_program(side, details.experiment, texts, code)
    before, after = (texts.get(code or "") for code in codes)
    if before is not None and after is not None:
        st.caption(f"Changes from {SIDES[0]} to {SIDES[1]}")
        row = both[0].experiment
        show_diff(before, after, "beside-diff", SIDES, lambda: workspace.experiments.given_files(row))


def _show_program(side: str, row: ExperimentRow, texts: Mapping[str, str], code: str | None) -> None:
    st.text(f"{side} · {row.label}")
    if program := texts.get(code or ""):
        show_program(program, f"beside-{side}")
    else:
        st.info("This step has no program.", icon="🕳️")
