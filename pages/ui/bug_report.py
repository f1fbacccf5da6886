"""A bug report that a person downloads: what it contains is shown first."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from koderz_core.errors import DataError
from koderz_core.workspace.bundles import FILE_NAME, bug_report, bug_report_files
from koderz_core.workspace.health import Finding

MASKED = "koderz masks secrets, paths, host names and user names in the report. Nothing is uploaded."


def offer_report(findings: Sequence[Finding]) -> None:
    """Show the content of a report about this installation, with a button that saves it."""
    st.text(
        "The report below describes your installation. To report a bug, download this report and send it together "
        "with a description of what you did, what you expected and what happened."
    )
    try:
        report = bug_report(checks=findings)
    except DataError as error:
        st.text(str(error))
        return
    with st.expander("Content of the bug report"):
        for name, text in bug_report_files(report).items():
            st.caption(name)
            st.code(text, language="json" if name.endswith(".json") else None, wrap_lines=True, height=320)
    _offer(report, "bug report")


def offer_error_report(error: BaseException, key: str) -> None:
    """A button that saves a report about an error. ``key``: unique on the page."""
    with suppress(DataError):  # it cannot be masked: the error itself is shown anyway
        _offer(bug_report(error), key)


def _offer(report: bytes, key: str) -> None:
    label = "Download bug report"
    st.download_button(label, report, FILE_NAME, "application/zip", key=key, icon="🧳", on_click="ignore")
    st.caption(MASKED)
