"""Models: which models can be called, what the other models need, and the state of the installation."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.report.addresses import NOTE, address_alt, address_rows
from koderz_core.workspace.health import SERVERS, Diagnosis, Finding
from pages.ui.address import link
from pages.ui.bug_report import offer_report
from pages.ui.edge import edge, redrawn
from pages.ui.frame import open_page
from pages.ui.machine import show_machine
from pages.ui.tables import findings_table, tall

ABOUT = (
    "Shows which models can be called, the requirements of the other models, and whether the installation is complete."
)
COLUMNS = {  # pixels; in a window of 1280, a table has about 877
    "state": st.column_config.TextColumn(width=80, pinned=True),
    "what": st.column_config.TextColumn(width=184),
    "found": st.column_config.TextColumn(width=284),
    "what to do": st.column_config.TextColumn(width=486),
}
ORDER = ("state", "what", "what to do", "found")  # of models and keys, where most users come for what to do
ADDRESSES = {
    "address": st.column_config.TextColumn(width=200, pinned=True),
    "tokens/s per call": st.column_config.TextColumn(
        help="Output rate of a single call in tokens per second, measured in the newest answers."
    ),
    "circuit breaker": st.column_config.TextColumn(width=250),
}
BEAT_SECONDS = 2.0  # how often the calls to each address are drawn again
FRESH_SECONDS = 15.0  # how long a diagnosis is cached


def main() -> None:
    page = open_page("models", ABOUT)
    diagnosis = _diagnosis(str(page.workspace.settings.home), page.workspace.results.faults)
    for finding in diagnosis.missing:
        st.warning("A requirement of koderz is not met.", icon="🧰")
        st.text(f"{finding.area}, {finding.subject}: {finding.said}")
        st.code(finding.cure, language=None, wrap_lines=True)
    st.header("Models")
    _show(diagnosis.of(["models"]), "Models and their requirements", ORDER)
    st.header("Keys and servers")
    _show(diagnosis.of([area for area in SERVERS if area != "models"]), "API keys (never displayed) and servers", ORDER)
    st.header("Calls to each address")
    redrawn("addresses", lambda: _show_addresses(page.workspace), BEAT_SECONDS)
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


def _show(findings: Sequence[Finding], alt: str, order: Sequence[str] | None = None) -> None:
    """A table of findings. ``order`` of its columns, None for its own."""
    st.dataframe(
        findings_table(findings),
        hide_index=True,
        column_config=COLUMNS,
        column_order=order,
        height=tall(len(findings)),
        alt=alt,
    )


def _show_addresses(workspace: Workspace) -> None:
    states = workspace.models.addresses()
    rows, alt = pd.DataFrame(address_rows(states)), address_alt(states)
    if states:
        st.dataframe(rows, hide_index=True, column_config=ADDRESSES, height=tall(len(rows)), alt=alt)
    else:
        st.caption("This process has not called a model yet.")
    st.caption(NOTE)


@st.cache_data(ttl=FRESH_SECONDS, show_spinner="Checking models and servers")
def _diagnosis(home: str, unread: tuple[str, ...]) -> Diagnosis:  # noqa: ARG001 (the key of the cache)
    from koderz_core import the_workspace  # noqa: PLC0415 (a cached function must not hold the page's)

    return the_workspace().health.overview(unread)


with edge():
    main()
