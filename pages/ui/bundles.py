"""Bundles on a page: create, verify, download and remove them; the notice of a dashboard that shows one."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.records.rows import BenchmarkRow
from koderz_core.report.formats import count, plain
from koderz_core.times import utc
from koderz_core.workspace.bundles import ABOUT, KEPT, Verified, checked_bundle
from pages.ui.address import choice_list
from pages.ui.edge import edge
from pages.ui.shell import choose_one

NAMES: Mapping[str, str] = {"public_safe": "Public", "team_safe": "Team", "full_internal": "Internal"}
MOST_SHOWN = 50
ABOUT_BUNDLES = "A bundle is one file. Another person can use it to view a benchmark and to verify every figure."


def show_bundles(workspace: Workspace, chosen: Sequence[BenchmarkRow]) -> None:
    """Create, verify, list and remove bundles."""
    st.caption(ABOUT_BUNDLES)
    benchmark = choose_one(chosen).id
    level = choice_list("privacy", "Privacy level", NAMES, list(ABOUT.values()), "public_safe")
    with st.container(horizontal=True):
        create = st.button("Create bundle", icon="🧳", type="primary")
        verify = st.button(
            "Verify benchmark", icon="🔎", help="Recompute the hashes, ids and figures of the benchmark."
        )
    if create:
        _create(workspace, benchmark, level)
    if verify:
        _show_verified(workspace.bundles.verify(benchmark))
    with st.expander("Terminal commands that create the bundle and verify the benchmark", icon="⌨️"):
        st.code(f"koderz bundle {benchmark} --privacy {level}\nkoderz verify {benchmark}", language="shell")
    _show_files(workspace)
    _verify_upload()


def show_read_only(workspace: Workspace) -> None:
    """The notice on every page of a dashboard that shows a bundle."""
    if level := workspace.bundles.shown_level:
        st.info(
            f"Read-only: this dashboard shows a bundle (privacy level: {level}). koderz verified the bundle "
            "when it was opened. You cannot run benchmarks in this dashboard.",
            icon="🔒",
        )


def _create(workspace: Workspace, benchmark: str, level: str) -> None:
    bundle = workspace.bundles.make(benchmark, level)
    st.success(f"Bundle created and verified ({count(bundle.size)} bytes). Nothing was uploaded.", icon="✅")
    st.caption("Check the file before you share it: koderz masks only texts that match known patterns.")
    if bundle.truncated:
        st.warning(
            "Some files were too long, so koderz truncated them. The manifest in the bundle lists these files. "
            "A bundle with a truncated journal can be verified, but not opened.",
            icon="✂️",
        )


def _show_files(workspace: Workspace) -> None:
    bundles = workspace.bundles.kept()
    if not bundles:
        return
    st.header("Stored bundles")
    table = {
        "file": [bundle.path.name for bundle in bundles],
        "created": [utc(bundle.made_at) for bundle in bundles],
        "bytes": [bundle.size for bundle in bundles],
        "pinned": ["📌 pinned" if bundle.pinned else "" for bundle in bundles],
    }
    columns = {"created": st.column_config.DatetimeColumn("created", format="distance")}
    st.dataframe(pd.DataFrame(table), hide_index=True, column_config=columns, alt="The bundles in the data folder")
    paths = {bundle.path.name: bundle.path for bundle in bundles}
    name = str(st.selectbox("Bundle", list(paths)))
    with st.container(horizontal=True):
        st.download_button("Download", paths[name].read_bytes, name, "application/zip", icon="⬇️", on_click="ignore")
        with st.popover("Remove bundles", icon="🧹"):
            st.text(
                "The button below removes all bundles that are not pinned. koderz also removes such bundles "
                f"automatically: it keeps only the {KEPT} newest unpinned bundles."
            )
            st.button("Remove unpinned bundles", on_click=_clear, args=[workspace])


def _clear(workspace: Workspace) -> None:
    with edge():
        workspace.bundles.clear()


def _verify_upload() -> None:
    st.header("Verify a bundle")
    upload = st.file_uploader(
        "A bundle from another person", type="zip", help="koderz verifies the file and does not store it."
    )
    if upload is not None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bundle.zip"
            path.write_bytes(upload.getvalue())
            _show_verified(checked_bundle(path).verified)
    st.text("To view the bundle in a separate dashboard: koderz ui --open FILE.zip")


def _show_verified(verified: Verified) -> None:
    checked = ", ".join(f"{name} {count(number)}" for name, number in verified.checked.items())
    if verified.holds:
        st.success(f"Verified. Checked: {checked}.", icon="✅")
    else:
        st.error(f"Verification failed. Differences: {len(verified.differences)}.", icon="❌")
        lines = [
            (difference.what, difference.where, difference.stands, difference.follows)
            for difference in verified.differences[:MOST_SHOWN]
        ]
        table = pd.DataFrame([map(plain, line) for line in lines], columns=["value", "source", "recorded", "expected"])
        st.dataframe(table, hide_index=True, alt="Differences")
    for remark in verified.remarks:
        st.text(plain(remark))
    st.caption("Verification checks that the data are consistent. It cannot show who created the data.")
