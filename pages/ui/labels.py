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

ABOUT = (
    "Labels and notes never change a result. If you export the benchmark as a bundle, the bundle contains your labels "
    "and, except at the privacy level `public_safe`, your notes."
)
ADD = f"Choose a label, or type your own (at most {MOST_LABEL} characters)"
MOST_SHOWN = 400  # characters of all labels: those of another person's folder may be many


def show_labels(workspace: Workspace, row: ExperimentRow) -> None:
    """The labels and the note of an experiment, and a form to change them."""
    annotations = [each for each in workspace.results.annotations(row.benchmark) if each.experiment == row.id]
    labels = labels_by_experiment(annotations).get(row.id, [])
    note = notes_by_experiment(annotations).get(row.id, "")
    lines = [f"Labels: {plain(' · '.join(labels), MOST_SHOWN)}"] if labels else []
    lines += [f"Note: {plain(note)}"] if note else []
    with st.container():  # also without lines, because the form below would close if it moved to another place
        if lines:
            st.text("\n".join(lines))
    if not workspace.bundles.shown_level:  # a bundle is read-only
        _offer_form(workspace, row.id, labels, note)


def _offer_form(workspace: Workspace, experiment: str, labels: Sequence[str], note: str) -> None:
    place, shown = f"labels of {experiment}", f"of {experiment} with {hash((tuple(labels), note))}"
    labels_key, note_key = f"labels {shown}", f"note {shown}"

    def save() -> None:
        chosen, text = st.session_state[labels_key], st.session_state[note_key]
        note_after = text if text != note else None  # another window may have changed it
        attempt(place, lambda: _change(workspace, experiment, labels, chosen, note_after))

    with st.expander("Labels and note", icon="🏷️"), st.form(f"form {shown}", border=False):
        left, right = st.columns(2)
        known = list(dict.fromkeys((*labels, *workspace.labels.offered())))
        with left:
            st.multiselect(
                "Labels",
                known,
                labels,
                key=labels_key,
                placeholder=ADD,
                wrap=True,
                accept_new_options=True,
                max_selections=max(MOST_LABELS, len(labels)),  # another person's folder may have more
            )
            st.caption(ABOUT)
        with right:  # the labels can need more lines while they are edited, which must not move the button
            st.text_area("Note", note, max_chars=MOST_NOTE, key=note_key)
            st.form_submit_button("Save", type="primary", on_click=save, key=f"save {shown}")
    show_failure(place)


def _change(
    workspace: Workspace, experiment: str, before: Sequence[str], chosen: Sequence[str], note: str | None
) -> None:
    """Store a note (None: unchanged) and the labels that differ from those ``before``, which the form showed.

    Another window may have removed labels since then. Such a label must not keep the note from being stored.
    """
    present = labels_by_experiment(workspace.labels.of(experiment)).get(experiment, ())
    removed = [label for label in _without(before, chosen) if label in present]
    workspace.labels.change(experiment, add=_without(chosen, before), remove=removed, note=note)


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


def _without(labels: Sequence[str], others: Sequence[str]) -> list[str]:
    return [label for label in labels if label not in others]
