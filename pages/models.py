"""Models: which models can be called, what the other models need, and the state of the installation."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from koderz_core.workspace.health import SERVERS, Diagnosis, Finding
from pages.ui.address import link
from pages.ui.bug_report import offer_report
from pages.ui.edge import edge
from pages.ui.frame import open_page
from pages.ui.machine import show_machine
from pages.ui.tables import findings_table, tall

ABOUT = "Shows which models can be called, the requirements of the others, and whether the installation is complete."
COLUMNS = {  # pixels; the last column has the longest texts
    "state": st.column_config.TextColumn(width=80, pinned=True),
    "what": st.column_config.TextColumn(width=184),
    "found": st.column_config.TextColumn(width=284),
    "what to do": st.column_config.TextColumn(width=486),
}
FRESH_SECONDS = 15.0  # how long a diagnosis is cached


def main() -> None:
    page = open_page("models", ABOUT)
    diagnosis = _diagnosis(str(page.workspace.settings.home), page.workspace.results.faults)
    for finding in diagnosis.missing:
        st.warning("A requirement of koderz is not met.", icon="🧰")
        st.text(f"{finding.area}, {finding.subject}: {finding.said}")
        st.code(finding.cure, language=None, wrap_lines=True)
    st.header("Models")
    _show(diagnosis.of(["models"]), "Models and their requirements")
    st.header("Keys and servers")
    _show(diagnosis.of([area for area in SERVERS if area != "models"]), "API keys (never displayed) and servers")
    st.header("Memory and GPU")
    show_machine(page.workspace)
    st.header("This machine")
    here = [finding.area for finding in diagnosis.findings if finding.area not in SERVERS]
    _show(diagnosis.of(here), "Versions, grader, datasets, disk, journals")
    if st.button("Check again", icon="🔄"):
        _diagnosis.clear()
        st.rerun()
    st.caption(
        "In a terminal, `koderz doctor` also checks every line of the journals. `koderz doctor --real` and `koderz "
        "speed-test MODEL` send real requests to models."
    )
    st.header("Report a bug")
    offer_report(diagnosis.findings)
    link("launch", "New run", "🚀")


def _show(findings: Sequence[Finding], alt: str) -> None:
    st.dataframe(findings_table(findings), hide_index=True, column_config=COLUMNS, height=tall(len(findings)), alt=alt)


@st.cache_data(ttl=FRESH_SECONDS, show_spinner="Checking models and servers")
def _diagnosis(home: str, unread: tuple[str, ...]) -> Diagnosis:  # noqa: ARG001 (the key of the cache)
    from koderz_core import the_workspace  # noqa: PLC0415 (a cached function must not hold the page's)

    return the_workspace().health.overview(unread)


with edge():
    main()
