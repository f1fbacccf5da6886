"""Models: what can be asked from here, what the others lack, and what else stands ready or is missing."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core.diagnosis import SERVERS, Diagnosis, Finding
from pages.ui.edge import edge
from pages.ui.frame import open_page
from pages.ui.tables import findings_table

ABOUT = "Which models can be asked, and whether all stands ready that koderz needs."
COLUMNS = {  # pixels: what to do is what is read
    "state": st.column_config.TextColumn(width=80, pinned=True),
    "what": st.column_config.TextColumn(width=184),
    "found": st.column_config.TextColumn(width=284),
    "what to do": st.column_config.TextColumn(width=486),
}
FRESH_SECONDS = 15.0  # how long a diagnosis is believed


def main() -> None:
    opened = open_page("Models", ABOUT)
    found = _looked_at(str(opened.workspace.settings.home), opened.workspace.results.faults)
    for one in found.missing:
        st.warning("Something that koderz needs is missing.", icon="🧰")
        st.text(f"{one.area}, {one.subject}: {one.said}")
        st.code(one.cure, language=None, wrap_lines=True)
    st.subheader("Models")
    _table(found.of(["models"]), "Models and what they lack")
    st.subheader("Keys and servers")
    _table(found.of([one for one in SERVERS if one != "models"]), "Keys, which are never shown, and servers")
    st.subheader("This machine")
    here = [finding.area for finding in found.findings if finding.area not in SERVERS]
    _table(found.of(here), "Versions, grader, datasets, disk, journals")
    if st.button("Look again", icon="🔄"):
        _looked_at.clear()
        st.rerun()
    st.caption(
        "In a terminal: koderz doctor, which reads every line of the journals too. Asked for real: koderz doctor "
        "--real, koderz speed-test MODEL."
    )
    st.page_link("pages/launch.py", label="Launch", icon="🚀")


def _table(found: Sequence[Finding], alt: str) -> None:
    st.dataframe(findings_table(found), hide_index=True, column_config=COLUMNS, alt=alt)


@st.cache_data(ttl=FRESH_SECONDS, show_spinner="Looking at models and servers")
def _looked_at(home: str, unread: tuple[str, ...]) -> Diagnosis:  # noqa: ARG001 (the key of the cache)
    from koderz_core import __version__, the_workspace  # noqa: PLC0415 (a cached function must not hold the page's)
    from koderz_core.diagnosis import diagnose  # noqa: PLC0415

    workspace = the_workspace()
    return diagnose(workspace.settings, workspace.available_models(), __version__, unread=unread)


with edge():
    main()
