"""Memory: memories of experiments, their origin, and the lessons derived from journals."""

from __future__ import annotations

import streamlit as st

from koderz_core import KoderzError, Workspace
from koderz_core.report.formats import plain
from pages.ui.edge import edge
from pages.ui.frame import offer_first_steps, open_page
from pages.ui.memories import (
    choose_memory,
    choose_search,
    offer_retirement,
    show_counts,
    show_memory,
    show_related,
    with_linked_memory,
)

MOST_LESSONS = 10  # on the page; a search for lessons finds all of them
ABOUT = "Memories of experiments, the origin of each memory, and the lessons derived from journals."


def main() -> None:
    page = open_page("memory", ABOUT)
    workspace = page.workspace
    counts = workspace.memories.counts()
    if counts is None or not counts.total:
        st.info("No memories are stored yet. Memories appear here while benchmarks run.", icon="🧠")
        if workspace.settings.memory == "off":
            st.text("KODERZ_MEMORY is off, so experiments add no memories.")
        if page.benchmarks:
            st.caption("To add memories of existing benchmarks, run this command in a terminal:")
            st.code("koderz cortex backfill", language=None)
        offer_first_steps(workspace, "New run", example=not page.benchmarks)
        _show_server(workspace)
        return
    show_counts(counts)
    search = choose_search(counts)
    matches = with_linked_memory(workspace, workspace.memories.find(search), search)
    if matches.memories:
        _show_one(workspace, choose_memory(matches))
    else:
        st.info("No matching memories.", icon="🟰")
    left, right = st.columns([3, 2], gap="large")
    with left:
        _show_lessons(workspace)
    with right:
        _show_server(workspace)


def _show_one(workspace: Workspace, number: int) -> None:
    shown = workspace.memories.show(number)
    st.header(f"Memory {number}")
    show_memory(shown)
    offer_retirement(workspace, shown)
    st.header("Related memories")
    show_related(shown.related)


def _show_lessons(workspace: Workspace) -> None:
    """The lessons that strategies receive on request, and the button that updates them."""
    st.header("Lessons")
    for lesson in workspace.memories.lessons()[:MOST_LESSONS]:
        st.text(("SCRIPTED: " if lesson.scripted else "") + plain(lesson.text, 400))
    if st.button("Derive lessons from all journals", icon="⚗️"):
        renewed = workspace.memories.keep(workspace.memories.distilled())
        st.toast(f"Lessons: {renewed.added} new, {renewed.renewed} updated.")
        st.rerun()
    st.caption(
        "A strategy receives lessons from other problems if its parameter `lessons` is on. koderz derives lessons "
        "from journals; models do not write them."
    )


def _show_server(workspace: Workspace) -> None:
    st.header("Memory server")
    if not st.button("Check the memory server", icon="🔌"):
        st.caption("For this check, koderz first starts the server, which takes one or two seconds.")
        return
    try:
        server = workspace.memories.server()
    except KoderzError as error:
        st.warning("The memory server does not answer.", icon="🔌")
        st.text(plain(str(error)))
        return
    if server.fault:
        st.warning("The memory server does not answer. Experiments continue without it.", icon="🔌")
        st.text(plain(server.fault))
    else:
        st.text(plain(f"Answers: {server.name} {server.version}"))
        st.text(f"Memories on the server, in all projects: {'unknown' if server.held is None else server.held}")
    if server.trouble:
        st.text(plain(f"Last error: {server.trouble.said}"))


with edge():
    main()
