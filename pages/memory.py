"""Memory: what experiments left behind, where it comes from, and what of it is told to others."""

from __future__ import annotations

import streamlit as st

from koderz_core import KoderzError, Workspace
from koderz_core.report.formats import plain
from pages.ui.edge import edge
from pages.ui.frame import offer_ways, open_page
from pages.ui.memories import (
    choose_memory,
    choose_sought,
    offer_retirement,
    show_counts,
    show_memory,
    show_related,
    with_asked,
)

MOST_LESSONS = 10  # in sight; all of them are memories of that kind
ABOUT = "What experiments left behind, where it comes from, and which lessons are drawn from it."


def main() -> None:
    opened = open_page("Memory", ABOUT)
    workspace = opened.workspace
    counts = workspace.memories.counts()
    if counts is None or not counts.total:
        st.info("Nothing is remembered yet. What benchmarks leave behind appears here while they run.", icon="🧠")
        if workspace.settings.memory == "off":
            st.text("KODERZ_MEMORY is off: nothing is remembered while experiments run.")
        if opened.benchmarks:
            st.caption("To remember the benchmarks that are here already, in a terminal:")
            st.code("koderz cortex backfill", language=None)
        offer_ways(workspace, "Launch a benchmark", example=not opened.benchmarks)
        _show_server(workspace)
        return
    show_counts(counts)
    sought = choose_sought(counts)
    found = with_asked(workspace, workspace.memories.find(sought), sought)
    if found.memories:
        _show_one(workspace, choose_memory(found))
    else:
        st.info("Nothing that is remembered fits.", icon="🟰")
    left, right = st.columns([3, 2], gap="large")
    with left:
        _show_lessons(workspace)
    with right:
        _show_server(workspace)


def _show_one(workspace: Workspace, number: int) -> None:
    shown = workspace.memories.show(number)
    st.subheader(f"Memory {number}")
    show_memory(shown)
    offer_retirement(workspace, shown)
    st.subheader("Related")
    show_related(shown.related)


def _show_lessons(workspace: Workspace) -> None:
    """What is told to strategies that ask for lessons, and the button that brings it up to date."""
    st.subheader("Lessons")
    for lesson in workspace.memories.lessons()[:MOST_LESSONS]:
        st.text(("SCRIPTED: " if lesson.scripted else "") + plain(lesson.text, 400))
    if st.button("Distil lessons from all journals", icon="⚗️"):
        renewed = workspace.memories.keep(workspace.memories.distilled())
        st.toast(f"Lessons: {renewed.added} new, {renewed.renewed} brought up to date.")
        st.rerun()
    st.caption("Told to strategies with the parameter lessons, of other problems only. No model writes them.")


def _show_server(workspace: Workspace) -> None:
    st.subheader("Server")
    if not st.button("Ask the memory server", icon="🔌"):
        st.caption("It is started for that, which takes a second or two.")
        return
    try:
        server = workspace.memories.server()
    except KoderzError as error:
        st.warning("The memory server cannot be asked.", icon="🔌")
        st.text(plain(str(error)))
        return
    if server.fault:
        st.warning("The memory server fails. Experiments go on without it.", icon="🔌")
        st.text(plain(server.fault))
    else:
        st.text(plain(f"Answers: {server.name} {server.version}"))
        st.text(f"Memories in all its projects: {'unknown' if server.held is None else server.held}")
    if server.trouble:
        st.text(plain(f"Last error: {server.trouble.said}"))


with edge():
    main()
