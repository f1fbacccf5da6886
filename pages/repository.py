"""Repository: the map of a folder, its summary, files of rules for coding agents, and the prompt for a feature."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from koderz_core.errors import UsageError
from pages.ui.edge import edge
from pages.ui.frame import open_page
from pages.ui.repository import OpenRepository, offer_feature, offer_rules, offer_summary, show_map

ABOUT = "A map of a repository, rules files for coding agents, and a prompt for the next feature."
INTRODUCTION = (
    "Enter the folder of a repository on the machine that runs koderz. koderz reads the folder when you press the "
    "button, runs nothing in it, and sends nothing."
)
OPEN = "open repository"  # key in the state of the session


def main() -> None:
    workspace = open_page("repository", ABOUT).workspace
    opened: OpenRepository | None = st.session_state.get(OPEN)
    with st.container(horizontal=True, vertical_alignment="bottom", key="folder"):
        usual = opened.map.root if opened else ""
        folder = st.text_input("Folder", usual, key="folder of the repository", placeholder="/home/me/my-project")
        pressed = st.button("Map the repository", key="map", icon="🗺️", type="primary")
    if pressed:
        with edge(), st.spinner("Reading the folder"):
            if not folder.strip():
                raise UsageError("The field Folder is empty. Enter the path of a folder.")
            opened = st.session_state[OPEN] = OpenRepository(workspace.repositories.map(Path(folder.strip())))
    if opened is None:
        st.info(INTRODUCTION, icon="🗺️")
        st.caption("In a terminal: `koderz conduct FOLDER`")
        return
    from pages.ui.launch_form import survey  # noqa: PLC0415 (slow to import, and needed only with a map)

    show_map(workspace, opened.map)
    offer_summary(workspace, opened, [row.id for row in survey(str(workspace.settings.home)) if row.ready])
    offer_rules(workspace, opened)
    offer_feature(workspace, opened)


with edge():
    main()
