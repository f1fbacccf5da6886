"""Labels and a note of your own on an experiment, and the filter of a list of experiments by label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from koderz_core import Workspace
from koderz_core.records.annotations import labels_by_experiment, labels_in_use, notes_by_experiment
from koderz_core.records.rows import ExperimentRow
from koderz_core.report.formats import plain
from koderz_core.workspace.labels import MOST_LABEL, MOST_LABELS, MOST_NOTE
from pages.ui.address import choice, keep
from pages.ui.edge import attempt, show_failure

ABOUT = "Labels and notes never change a result. Bundles contain your labels; public bundles contain no notes."
ADD = f"Choose a label, or type your own (at most {MOST_LABEL} characters)"
MOST_SHOWN = 400  # characters of all labels: those of another person's folder may be many


def offer_labels(workspace: Workspace, row: ExperimentRow) -> None:
    """A form for the labels and the note of an experiment. A bundle is read-only."""
    if workspace.bundles.shown_level:
        return
    labels, note = _annotated(workspace, row)
    place, shown = f"labels of {row.id}", f"{row.id} {hash((tuple(labels), note))}"
    chosen_key, note_key = f"labels {shown}", f"note {shown}"

    def save() -> None:
        chosen, text = st.session_state[chosen_key], st.session_state[note_key]
        added, removed = _without(chosen, labels), _without(labels, chosen)
        attempt(place, lambda: workspace.labels.change(row.id, add=added, remove=removed, note=text))

    with st.popover("Labels and note", icon="🏷️", key=f"open {shown}"):  # a change closes it: it is another one then
        show_failure(place)
        with st.form(f"form {shown}", border=False):
            options = list(dict.fromkeys((*labels, *workspace.labels.offered())))
            st.multiselect(
                "Labels",
                options,
                labels,
                key=chosen_key,
                placeholder=ADD,
                wrap=True,
                accept_new_options=True,
                max_selections=MOST_LABELS,
            )
            st.text_area("Note", note, max_chars=MOST_NOTE, key=note_key)
            st.caption(ABOUT)
            st.form_submit_button("Save", type="primary", on_click=save, key=f"save {shown}")


def show_labels(workspace: Workspace, row: ExperimentRow) -> None:
    """The labels and the note of an experiment, if there are any."""
    labels, note = _annotated(workspace, row)
    lines = [f"Labels: {plain(' · '.join(labels), MOST_SHOWN)}"] if labels else []
    lines += [f"Note: {plain(note)}"] if note else []
    if lines:
        st.text("\n".join(lines))


@dataclass(frozen=True, slots=True)
class Labelled:
    """Experiments, and the labels of each that has some, by id."""

    rows: Sequence[ExperimentRow]
    labels: Mapping[str, Sequence[str]]


def choose_labelled(workspace: Workspace, benchmark: str, rows: Sequence[ExperimentRow]) -> Labelled:
    """The experiments of a benchmark with the label that the address names; all without one."""
    annotations = workspace.results.annotations(benchmark)
    labels = labels_by_experiment(annotations)
    if not labels:
        keep("label", None)
        return Labelled(rows, labels)
    wanted = choice("label", "Label", ["", *labels_in_use(annotations)], lambda label: label or "all experiments")
    return Labelled([row for row in rows if not wanted or wanted in labels.get(row.id, ())], labels)


def _annotated(workspace: Workspace, row: ExperimentRow) -> tuple[list[str], str]:
    annotations = [each for each in workspace.results.annotations(row.benchmark) if each.experiment == row.id]
    return labels_by_experiment(annotations).get(row.id, []), notes_by_experiment(annotations).get(row.id, "")


def _without(labels: Sequence[str], others: Sequence[str]) -> list[str]:
    return [label for label in labels if label not in others]
