"""The parts of the page Repository. The folder is read only after a press of a button, and so is the disk written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.records.repositories import RepositoryMap
from koderz_core.report.formats import count, duration, money, numbered, plain
from koderz_core.report.repository_tables import FactTable, fact_tables, remarks
from koderz_core.workspace.repositories import RULES_FILES, Feature, RulesPreview, Summary
from pages.ui.edge import attempt, edge, forget_failure, show_failure
from pages.ui.frame import show_facts, show_remarks
from pages.ui.tables import FEW_LINES, tall
from pages.ui.text import show_text, worded

PLACE = "writing rules"  # in the session
WRITE = "Write the summary"
ABOUT_SUMMARY = (
    "A model can summarize the repository from the map. The model receives the map: the project's description and "
    "required Python version, names (of paths, packages and commands), counts (of lines and commits), coding "
    "conventions, dependencies, the first sentences of docstrings and the subjects of commits. It "
    "receives no other contents of files. The call and its price are recorded in the data folder."
)
ABOUT_RULES = (
    "Rules for coding agents, generated from the map. In a rules file, koderz writes only between two marker "
    "lines and leaves all other text unchanged. Read the preview before you write the file: the rules quote "
    "texts of the repository, and your agent will follow the instructions in the file."
)
ABOUT_FEATURE = (
    "A prompt for a coding agent of your choice, with the goal, the files that are probably relevant, the constraints "
    "and the tests to run."
)
ORDER = (
    *("Languages", "Folders with source code or tests", "Most imported modules", "Hot spots"),
    *("Commands", "Entry points", "Imported packages", "Latest commits"),
)
"""The tables of the map, two on a line."""
NUMBERS = ("files", "lines", "kB", "commits", "imported by", "commits × lines")
COLUMNS = {name: st.column_config.NumberColumn(width=90) for name in NUMBERS}


@dataclass
class OpenRepository:
    """The map that a session shows, and what was made from it on demand."""

    map: RepositoryMap
    summary: Summary | None = None
    preview: RulesPreview | None = None
    feature: Feature | None = None


def show_map(workspace: Workspace, repository: RepositoryMap) -> None:
    """The map as figures, sentences and tables."""
    st.header("Map")
    st.text(workspace.repositories.summary(repository).replace("`", ""))
    facts = {
        "files": count(len(repository.files)),
        "lines": count(sum(it.lines for it in repository.languages)),
        "Python modules": count(len(repository.modules)),
        "test files": count(len(repository.of_kind("test"))),
    }
    if git := repository.git:
        facts |= {"commits used for hot spots": count(git.counted), "uncommitted files": count(len(git.dirty))}
    show_facts(facts)
    tables = fact_tables(repository)
    shown = [tables[name] for name in ORDER if name in tables]
    for pair in (shown[at : at + 2] for at in range(0, len(shown), 2)):
        for place, table in zip(st.columns(2, gap="large"), pair, strict=False):
            with place:
                _show_table(table)
    show_remarks(remarks(repository), "remarks-map")


def _show_table(table: FactTable) -> None:
    st.subheader(table.title)
    frame = pd.DataFrame(list(table.rows), columns=list(table.columns))
    height = tall(len(frame), FEW_LINES)
    st.dataframe(frame, hide_index=True, height=height, alt=table.title, column_config=COLUMNS)


def offer_summary(workspace: Workspace, opened: OpenRepository, models: Sequence[str]) -> None:
    """A summary by a model of choice. The button says if the map would leave this machine."""
    st.header("Summary by a model")
    st.caption(ABOUT_SUMMARY)
    with edge(), st.container(horizontal=True, vertical_alignment="bottom", key="summary"):
        model = st.selectbox("Model", models, index=None, key="summary model", accept_new_options=True)
        leaves = bool(model) and workspace.repositories.leaves_machine(str(model))
        # Two keys: a new choice of the model, which needs the other button, may arrive together with a click.
        key, label = ("send map", "Send the map to the provider of this model") if leaves else ("summarize", WRITE)
        if st.button(label, key=key, icon="☁️" if leaves else "📝", disabled=not model):
            with st.spinner("The model is writing"):
                opened.summary = workspace.repositories.summarize(opened.map, str(model))
    if summary := opened.summary:
        st.text(plain(summary.text.strip()))
        tokens = f"{count(summary.usage.input_tokens)} tokens in, {count(summary.usage.output_tokens)} out"
        source = f"{money(summary.cost.usd)} ({summary.cost.source})"
        line = f"{summary.model}: {tokens}, {duration(summary.seconds)}, {source}. Record: {worded(summary.record)}"
        show_remarks([plain(line)], "remarks-summary")


def offer_rules(workspace: Workspace, opened: OpenRepository) -> None:
    """A preview of each file of rules with its diff, and a button that writes it as it was previewed."""
    st.header("Rules files")
    st.caption(ABOUT_RULES)
    with edge():
        with st.container(horizontal=True, key="rules"):
            for name in RULES_FILES:
                if st.button(f"Preview {name}", key=f"preview {name}", icon="👁️"):
                    opened.preview = None
                    forget_failure(PLACE)
                    opened.preview = workspace.repositories.rules(opened.map, name)
        preview = opened.preview
        if preview is None:
            return
        if not preview.changed:
            st.success(f"{preview.name} is up to date.", icon="✅")
            return
        show_text(preview.diff, f"{preview.name}-diff", "diff")
        write = partial(attempt, PLACE, partial(_write, workspace, opened, preview))
        st.button(f"Write {preview.name}", key="write", icon="💾", type="primary", on_click=write)
        show_failure(PLACE)


def _write(workspace: Workspace, opened: OpenRepository, preview: RulesPreview) -> None:
    workspace.repositories.write(preview)
    st.toast(f"Written: {preview.name}", icon="💾")
    opened.preview = workspace.repositories.rules(opened.map, preview.name)


def offer_feature(workspace: Workspace, opened: OpenRepository) -> None:
    """The prompt for a feature that the user describes."""
    st.header("Prompt for the next feature")
    st.caption(ABOUT_FEATURE)
    text = st.text_area("Feature", key="feature", placeholder="Add an option that …")
    if st.button("Make the prompt", key="make prompt", icon="✍️"):
        with edge(), st.spinner("Searching for relevant files"):
            opened.feature = workspace.repositories.feature(opened.map, text)
    if opened.feature:
        show_text(opened.feature.prompt, "feature-prompt", "markdown")
        st.caption(f"The prompt is based on the map of {numbered(len(opened.map.files), 'file')}.")
