"""Settings: every setting with its value and source; one of them can be changed in settings.toml."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core.settings_text import (
    UNSET,
    ShownSetting,
    awaiting_start,
    remove_setting,
    settings_path,
    shown_settings,
    write_setting,
)
from pages.ui.address import chosen_line
from pages.ui.edge import edge
from pages.ui.frame import open_page
from pages.ui.text import worded

ABOUT = (
    "All settings and their sources. Order of precedence, highest first: command line, environment, .env, "
    "settings.toml, defaults."
)
WAITING = "The dashboard uses new values after its next start. Commands in a terminal use them immediately."
READ_ONLY = "To change settings, start `koderz ui` without --open."
COLUMNS = {
    "value": st.column_config.TextColumn(width="medium"),
    "source": st.column_config.TextColumn(width=104),
    "meaning": st.column_config.TextColumn(width=560),
}
HEIGHT = 420  # pixels; the table scrolls, so that the setting below stays in sight


def main() -> None:
    workspace = open_page("settings", ABOUT).workspace
    settings = workspace.settings
    shown = shown_settings()
    waiting = awaiting_start(settings)
    if waiting:
        st.info(WAITING, icon="⏳")
        st.text(f"Settings with new values: {', '.join(waiting)}")
    chosen = _choose(shown, waiting)
    if workspace.bundles.shown_level:  # the folder of a bundle is deleted when its dashboard ends
        st.caption(READ_ONLY)
        return
    _show(settings.home, chosen)
    st.caption("Settings file, which you can also edit by hand:")
    st.code(worded(str(settings_path(settings.home))), language=None, wrap_lines=True)


def _choose(shown: Sequence[ShownSetting], waiting: Collection[str]) -> ShownSetting:
    """The table of all settings; the one whose line is chosen."""
    table = pd.DataFrame(
        {
            "setting": [setting.name for setting in shown],
            "value": [worded(setting.value) + (" ⏳" if setting.name in waiting else "") for setting in shown],
            "source": [setting.origins[0] for setting in shown],
            "meaning": [worded(setting.meaning) for setting in shown],
        }
    )
    names = [setting.name for setting in shown]
    first = next(setting.name for setting in shown if not setting.why_not)
    chosen = chosen_line(
        table, "setting", names, first, column_config=COLUMNS, height=HEIGHT, alt="All settings and their values"
    )
    return shown[names.index(chosen)]


def _show(home: Path, setting: ShownSetting) -> None:
    """One setting: its meaning, its source, and how to change it."""
    st.header(setting.name)
    st.text(
        f"{worded(setting.meaning)}\nDefault: {worded(setting.default)}. "
        f"Name in the environment and in .env: {setting.variable}."
    )
    if setting.why_not:
        st.info(setting.why_not, icon="🔒")
        return
    if setting.overridden_by:
        st.warning(
            f"Also set in: {setting.overridden_by}. The value there overrides the value in settings.toml, so a value "
            "that you save on this page has no effect until you remove the overriding value.",
            icon="⚠️",
        )
    key = f"value of {setting.name}"
    with st.container(horizontal=True, vertical_alignment="bottom", key="change"):
        usual = setting.written or ("" if setting.value == UNSET else setting.value)  # the file's value comes first
        if setting.choices:
            usual = usual if usual in setting.choices else setting.value  # the file's may be invalid if overridden
            st.segmented_control("Value", setting.choices, default=usual, key=key, required=True)
        else:
            st.text_input("Value", usual, key=key)
        which, written = [home, setting.name, key], bool(setting.written)
        st.button("Save", key="save", icon="💾", type="primary", on_click=_save, args=which)
        st.button("Remove from settings.toml", key="remove", on_click=_remove, args=which, disabled=not written)


def _save(home: Path, name: str, key: str) -> None:
    with edge():
        write_setting(home, name, str(st.session_state[key]))  # the current value: it may arrive with the click
        st.toast(f"Saved: {name}", icon="💾")


def _remove(home: Path, name: str, key: str) -> None:
    with edge():
        remove_setting(home, name)
        st.session_state.pop(key, None)
        st.toast(f"Removed: {name}", icon="💾")


with edge():
    main()
