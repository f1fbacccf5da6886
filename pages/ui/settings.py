"""The parts of the Settings page: the table of all settings, and the one that is looked at or changed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core.settings_text import UNSET, ShownSetting, remove_setting, write_setting
from pages.ui.address import chosen_line
from pages.ui.edge import edge
from pages.ui.text import worded

COLUMNS = {
    "value": st.column_config.TextColumn(width="medium"),
    "from": st.column_config.TextColumn(width=104),
    "what it means": st.column_config.TextColumn(width=560),
}
HEIGHT = 420  # pixels; the table scrolls, so that what is changed stays in sight


def choose_setting(shown: Sequence[ShownSetting], waiting: Collection[str]) -> ShownSetting:
    """All of them; the one whose line is chosen."""
    table = pd.DataFrame(
        {
            "setting": [setting.name for setting in shown],
            "value": [worded(setting.value) + (" ⏳" if setting.name in waiting else "") for setting in shown],
            "from": [setting.origins[0] for setting in shown],
            "what it means": [setting.meaning for setting in shown],
        }
    )
    names = [setting.name for setting in shown]
    first = next(setting.name for setting in shown if not setting.why_not)
    chosen = chosen_line(
        table, "setting", names, first, column_config=COLUMNS, height=HEIGHT, alt="All settings and their values"
    )
    return shown[names.index(chosen)]


def show_setting(home: Path, shown: ShownSetting) -> None:
    """One setting: what it means, where it comes from, and how it is changed."""
    st.subheader(shown.name)
    st.text(f"{shown.meaning}\nDefault: {worded(shown.default)}. In the environment and in .env: {shown.variable}.")
    if shown.why_not:
        st.info(shown.why_not, icon="🔒")
        return
    if shown.overridden_by:
        st.warning(
            f"Set in: {shown.overridden_by}. That counts more than settings.toml, so what you save here waits until "
            "it is gone from there.",
            icon="⚠️",
        )
    with st.container(horizontal=True, vertical_alignment="bottom", key="change"):
        _field(shown)
        which, written = [home, shown.name], bool(shown.written)
        st.button("Save", key="save", icon="💾", type="primary", on_click=_save, args=which)
        st.button("Remove from the file", key="remove", on_click=_remove, args=which, disabled=not written)


def _field(shown: ShownSetting) -> None:
    """Where the person types or chooses; at first what the file has, else what is valid now."""
    usual = shown.written or ("" if shown.value == UNSET else shown.value)
    if shown.choices:
        st.segmented_control("Value", shown.choices, default=usual, key=_key(shown.name), required=True)
    else:
        st.text_input("Value", usual, key=_key(shown.name))


def _key(name: str) -> str:
    return f"value of {name}"


def _save(home: Path, name: str) -> None:
    with edge():
        write_setting(home, name, str(st.session_state[_key(name)]))  # as it is now: it may have come with the click
        st.toast(f"Written: {name}", icon="💾")


def _remove(home: Path, name: str) -> None:
    with edge():
        remove_setting(home, name)
        st.session_state.pop(_key(name), None)
        st.toast(f"Removed: {name}", icon="💾")
