"""Models: what can be asked from here, what the others lack, and what else stands ready or is missing."""

from __future__ import annotations

import streamlit as st

from koderz_core.diagnosis import Diagnosis
from koderz_core.diagnosis.looking import SERVERS
from pages.ui.edge import edge
from pages.ui.frame import open_page
from pages.ui.tables import findings_table

ABOUT = "Which models can be asked, and whether all stands ready that koderz needs."
FRESH_SECONDS = 15.0  # how long a diagnosis is believed


def main() -> None:
    opened = open_page("Models", ABOUT)
    found = _looked_at(str(opened.workspace.settings.home))
    for one in found.missing:
        st.warning("Something that koderz needs is missing.", icon="🧰")
        st.text(f"{one.area}, {one.subject}: {one.said}\n{one.cure}")
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.subheader("Models")
        st.dataframe(findings_table(found.of(["models"])), hide_index=True, alt="Models and what they lack")
    with right:
        st.subheader("Keys and servers")
        away = [one for one in SERVERS if one != "models"]
        st.dataframe(findings_table(found.of(away)), hide_index=True, alt="Keys, which are never shown, and servers")
    st.subheader("This machine")
    here = [one.area for one in found.findings if one.area not in SERVERS]
    st.dataframe(findings_table(found.of(here)), hide_index=True, alt="Versions, grader, datasets, disk, journals")
    if st.button("Look again", icon="🔄"):
        _looked_at.clear()
        st.rerun()
    st.caption("The same in a terminal: koderz doctor. Asked for real: koderz doctor --real, koderz speed-test MODEL.")
    st.page_link("pages/launch.py", label="Launch", icon="🚀")


@st.cache_data(ttl=FRESH_SECONDS, show_spinner="Looking at models and servers")
def _looked_at(home: str) -> Diagnosis:  # noqa: ARG001 (the key of the cache)
    from koderz_core import __version__, the_workspace  # noqa: PLC0415 (a cached function must not hold the page's)
    from koderz_core.diagnosis import diagnose  # noqa: PLC0415

    workspace = the_workspace()
    return diagnose(workspace.settings, workspace.available_models(), __version__)


with edge():
    main()
