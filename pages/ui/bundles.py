"""Bundles on a page: making one, checking what somebody sent, clearing them away, and what an opened one says."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.bundles.checks import checked_bundle
from koderz_core.bundles.creation import KEPT
from koderz_core.bundles.privacy import ABOUT
from koderz_core.records.rows import BenchmarkRow
from koderz_core.report.formats import count, plain
from koderz_core.times import utc
from koderz_core.verification.journals import Verified
from pages.ui.address import choice, line
from pages.ui.edge import edge
from pages.ui.text import listed

NAMES: Mapping[str, str] = {"public_safe": "Public", "team_safe": "Team", "full_internal": "Internal"}
MOST_SHOWN = 50
ABOUT_BUNDLES = "one file with which another person can look at a benchmark and re-check every figure of it"


def show_bundles(workspace: Workspace, rows: Mapping[str, BenchmarkRow]) -> None:
    """Make, check, keep and clear bundles."""
    st.caption(f"bundle: {ABOUT_BUNDLES}")
    benchmark = choice("benchmark", "Benchmark", list(rows), lambda one: listed(rows[one]))
    level = line("privacy", "Who may see it", NAMES, list(ABOUT.values()), "public_safe")
    with st.container(horizontal=True):
        make = st.button("Make bundle", icon="🧳", type="primary")
        check = st.button("Verify benchmark", icon="🔎", help="Recompute its hashes, ids and figures.")
    if make:
        _make(workspace, benchmark, level)
    if check:
        _say(workspace.bundling.verify(benchmark))
    with st.expander("The same in a terminal", icon="⌨️"):
        st.code(f"koderz bundle {benchmark} --privacy {level}\nkoderz verify {benchmark}", language="shell")
    _kept(workspace)
    _sent()


def show_read_only(workspace: Workspace) -> None:
    """On every page of a dashboard that shows a bundle: that it does."""
    if level := workspace.bundling.shown_level:
        st.info(f"Read-only: this is a bundle ({level}), verified when it was opened. Nothing can be run.", icon="🔒")


def _make(workspace: Workspace, benchmark: str, level: str) -> None:
    made = workspace.bundling.make(benchmark, level)
    st.success(f"Made and verified: {count(made.size)} bytes. It was sent to nobody.", icon="✅")
    st.caption("Look into it before you give it away: what is masked is told by its looks.")
    if made.truncated:
        st.warning("Some of its files were too long and are cut; its manifest names them.", icon="✂️")


def _kept(workspace: Workspace) -> None:
    found = workspace.bundling.kept()
    if not found:
        return
    st.subheader("Bundles here")
    table = {
        "file": [bundle.path.name for bundle in found],
        "made": [utc(bundle.made_at) for bundle in found],
        "bytes": [bundle.size for bundle in found],
        "pinned": ["📌 pinned" if bundle.pinned else "" for bundle in found],
    }
    columns = {"made": st.column_config.DatetimeColumn("made", format="distance")}
    st.dataframe(pd.DataFrame(table), hide_index=True, column_config=columns, alt="The bundles in the data folder")
    paths = {bundle.path.name: bundle.path for bundle in found}
    name = str(st.selectbox("Bundle", list(paths)))
    with st.container(horizontal=True):
        st.download_button("Download", paths[name].read_bytes, name, "application/zip", icon="⬇️", on_click="ignore")
        with st.popover("Clear", icon="🧹"):
            st.text(f"Removes all that are not pinned. Of these the newest {KEPT} stay by themselves.")
            st.button("Remove them", on_click=_clear, args=[workspace])


def _clear(workspace: Workspace) -> None:
    with edge():
        workspace.bundling.clear()


def _sent() -> None:
    st.subheader("Verify a bundle")
    sent = st.file_uploader("A bundle that somebody sent", type="zip", help="It is checked here and not kept.")
    if sent is not None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bundle.zip"
            path.write_bytes(sent.getvalue())
            _say(checked_bundle(path).verified)
    st.text("To look at it in a dashboard of its own: koderz ui --open FILE.zip")


def _say(found: Verified) -> None:
    looked_at = ", ".join(f"{name} {count(number)}" for name, number in found.checked.items())
    if found.holds:
        st.success(f"It holds. Looked at: {looked_at}.", icon="✅")
    else:
        st.error(f"It does not hold. Differences: {len(found.differences)}.", icon="❌")
        lines = [
            (difference.what, difference.where, difference.stands, difference.follows)
            for difference in found.differences[:MOST_SHOWN]
        ]
        shown = pd.DataFrame([map(plain, each) for each in lines], columns=["what", "of", "stands", "follows"])
        st.dataframe(shown, hide_index=True, alt="What differs")
    for remark in found.remarks:
        st.text(plain(remark))
    st.caption("This tells what contradicts itself, not who made it.")
