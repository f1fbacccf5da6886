"""Choices that are part of the page's address, so that any view can be sent to somebody."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st


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
    key, seen, usual = f"choice of {name}", f"{name} in the URL", default or options[0]
    asked = _meant(st.query_params.get(name, usual), options)
    if asked not in options:
        st.warning(f"The address asks for a {name} that is not here. This is another one.", icon="🔎")
    elif st.session_state.get(seen) != asked:
        st.session_state[key] = asked
    if st.session_state.get(key) not in options:
        st.session_state[key] = usual
    if short:
        chosen = str(st.segmented_control(label, options, key=key, format_func=say, required=True))
    else:
        chosen = str(st.selectbox(label, options, key=key, format_func=say))
    keep(name, None if chosen == usual else chosen)
    st.session_state[seen] = chosen
    return chosen


def keep(name: str, value: str | None) -> None:
    """Put a choice into the URL, or take it out."""
    if value is None:
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = value


def _meant(asked: str, options: Sequence[str]) -> str:
    """The option that an address names: whole, or by a beginning that no other has, with or without ``bench_``."""
    if asked in options or not asked:
        return asked
    fitting = [one for one in options if asked in (one[: len(asked)], one.partition("_")[2][: len(asked)])]
    return fitting[0] if len(fitting) == 1 else asked
