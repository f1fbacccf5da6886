"""Settings: what koderz goes by, where each value comes from, and writing the file that holds yours."""

from __future__ import annotations

import streamlit as st

from koderz_core.settings_text import awaiting_start, settings_path, shown_settings
from pages.ui.edge import edge
from pages.ui.frame import open_page
from pages.ui.settings import choose_setting, show_setting
from pages.ui.text import worded

ABOUT = "What koderz goes by: command line, then environment, .env, settings.toml, and the defaults."
WAITING = "This dashboard goes by what is new here from its next start on; commands in a terminal do at once."


def main() -> None:
    settings = open_page("Settings", ABOUT).workspace.settings
    shown = shown_settings()
    waiting = awaiting_start(shown, settings)
    if waiting:
        st.info(WAITING, icon="⏳")
        st.text(f"New: {', '.join(waiting)}")
    chosen = choose_setting(shown, waiting)
    show_setting(settings.home, chosen)
    st.caption("The file, which an editor may change as well:")
    st.code(worded(str(settings_path(settings.home))), language=None, wrap_lines=True)


with edge():
    main()
