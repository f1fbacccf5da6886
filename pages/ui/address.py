"""Choices that are part of the page's address, so that any view can be shared; also lines chosen in a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.errors import UsageError
from koderz_core.records.rows import BenchmarkRow


def choice(
    name: str,
    label: str,
    options: Sequence[str],
    say: Callable[[str], str] = str,
    *,
    default: str = "",
    short: bool = False,
) -> str:
    """A choice that is part of the URL; the default (the first option if not given) leaves no trace there.

    ``say``: what an option is called, shown as text. ``short``: few options, all in sight; else a list to search.
    """
    usual = default or options[0]
    key = _asked(name, options, usual)
    if short:
        chosen = str(st.segmented_control(label, options, key=key, format_func=say, required=True, wrap=True))
    else:
        chosen = str(st.selectbox(label, options, key=key, format_func=say))
    _chosen(name, chosen, usual)
    return chosen


def switch(name: str, label: str, options: Sequence[str], say: Callable[[str], str]) -> str:
    """``choice`` of few options, where what stands before them says already what ``label`` says."""
    key = _asked(name, options, options[0])
    chosen = st.segmented_control(
        label, options, key=key, format_func=say, required=True, label_visibility="collapsed", width="content"
    )
    _chosen(name, str(chosen), options[0])
    return str(chosen)


def line(name: str, label: str, options: Mapping[str, str], captions: Sequence[str], default: str) -> str:
    """``choice`` as a list with everything in sight. ``options`` with what they are called, and captions: our words."""
    key = _asked(name, list(options), default)
    say = options.__getitem__
    chosen = str(st.radio(label, list(options), key=key, format_func=say, captions=captions))
    _chosen(name, chosen, default)
    return chosen


def _asked(name: str, options: Sequence[str], usual: str) -> str:
    """The key of the widget, which is set to what the address asks for."""
    key, seen = f"choice of {name}", f"{name} in the URL"
    asked = meant(st.query_params.get(name, usual), options)
    if asked not in options:
        st.warning(f"The address asks for a {name} that is not here. This is another one.", icon="🔎")
    elif key not in st.session_state or st.session_state.get(seen) != asked:  # not: of what was not drawn for once
        st.session_state[key] = asked
    if st.session_state.get(key) not in options:
        st.session_state[key] = usual
    return key


def _chosen(name: str, chosen: str, usual: str) -> None:
    keep(name, None if chosen == usual else chosen)
    st.session_state[f"{name} in the URL"] = chosen


def name_by_id(workspace: Workspace, benchmarks: Sequence[BenchmarkRow]) -> None:
    """Put ids into the address for the names of benchmarks in it, found as the command line finds them.

    What names none, or several, stays: who reads it says so.
    """
    known = {row.id for row in benchmarks}
    for name in ("benchmark", "benchmarks"):
        asked = st.query_params.get(name, "").split(",")
        found = [one if one in known or not one else _id_of(workspace, one) for one in asked]
        if found != asked:
            st.query_params[name] = ",".join(found)


def _id_of(workspace: Workspace, asked: str) -> str:
    try:
        return workspace.results.find(asked)
    except UsageError:
        return asked


def keep(name: str, value: str | None) -> None:
    """Put a choice into the URL, or take it out."""
    if value is None:
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = value


def meant(asked: str, options: Sequence[str]) -> str:
    """The option that an address names: whole, or by a beginning that no other has, with or without ``bench_``."""
    if asked in options or not asked:
        return asked
    fitting = [option for option in options if asked in (option[: len(asked)], option.partition("_")[2][: len(asked)])]
    return fitting[0] if len(fitting) == 1 else asked


def chosen_line(table: pd.DataFrame, name: str, keys: Sequence[str], usual: str = "", /, **options: object) -> str:
    """Show a table of which one line is always chosen; its key, which the URL holds but for the usual one's.

    ``keys``: one per line, at least one. ``usual``: one of them, the first if not given. ``options`` of
    ``st.dataframe``.
    """
    usual = usual or keys[0]
    asked, seen, version = st.query_params.get(name, usual), f"{name} in the URL", f"version of {name}"
    if asked not in keys:
        st.warning(f"The address asks for a {name} that is not here. This is another one.", icon="🔎")
    at = keys.index(asked if asked in keys else usual)
    if st.session_state.get(seen) != (asked, tuple(keys)):
        # Another address or another table: what was chosen before must not be taken for a choice in this one.
        st.session_state[version] = st.session_state.get(version, 0) + 1
    state = st.dataframe(
        table,
        key=f"{name} {st.session_state[version]}",
        on_select="rerun",
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [at]}},
        hide_index=True,
        **options,  # type: ignore[call-overload]  # options of st.dataframe, by name
    )
    rows = state["selection"]["rows"]
    chosen = keys[rows[0]] if rows and rows[0] < len(keys) else keys[at]
    keep(name, None if chosen == usual else chosen)
    st.session_state[seen] = (chosen, tuple(keys))
    return chosen
