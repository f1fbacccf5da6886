"""Choices that are part of the page's address, so that every view can be shared; links; lines chosen in a table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NoReturn
from urllib.parse import urlencode

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

BENCHMARKS = "benchmarks"  # in the address of every page: the ids of the chosen benchmarks
EVERYTHING = "all benchmarks"


def link(page: str, label: str, icon: str | None = None, /, **query: str) -> None:
    """A link to a page, which keeps the chosen benchmarks unless ``query`` names others. Labels are our words."""
    st.page_link(f"pages/{page}.py", label=label, icon=icon, query_params=_with_benchmarks(query), width="content")


def go_to(page: str, **query: str) -> NoReturn:
    """Open a page, which keeps the chosen benchmarks unless ``query`` names others."""
    st.switch_page(f"pages/{page}.py", query_params=_with_benchmarks(query))


def address_of(page: str, **query: str) -> str:
    """The relative address of a page, which keeps the chosen benchmarks unless ``query`` names others."""
    return f"{page}?{urlencode(_with_benchmarks(query))}"


def _with_benchmarks(query: Mapping[str, str]) -> dict[str, str]:
    chosen = st.query_params.get(BENCHMARKS)
    return {**({BENCHMARKS: chosen} if chosen else {}), **query}


def choice(
    name: str,
    label: str,
    options: Sequence[str],
    label_of: Callable[[str], str] = str,
    *,
    default: str = "",
    short: bool = False,
) -> str:
    """A choice that is part of the address, unless it is the default (the first option if not given).

    ``label_of`` returns the label of an option, shown as text. ``short``: few options, all visible, whose labels are
    our words, because Markdown is drawn; else a searchable list.
    """
    usual = default or options[0]
    key = _widget_key(name, options, usual, [label_of(option) for option in options])
    if short:
        chosen = str(st.segmented_control(label, options, key=key, format_func=label_of, required=True, wrap=True))
    else:
        chosen = str(st.selectbox(label, options, key=key, format_func=label_of))
    _remember(name, chosen, usual)
    return chosen


def switch(name: str, label: str, options: Sequence[str], label_of: Callable[[str], str]) -> str:
    """``choice`` of few options after a heading that says what ``label`` says; the label is hidden."""
    key = _widget_key(name, options, options[0], [label_of(option) for option in options])
    chosen = st.segmented_control(
        label, options, key=key, format_func=label_of, required=True, label_visibility="collapsed", width="content"
    )
    _remember(name, str(chosen), options[0])
    return str(chosen)


def scale(name: str, label: str, options: Mapping[str, str], default: str = "") -> str:
    """``choice`` on a slider. ``options``: name to label; the default is the last option if not given."""
    usual = default or list(options)[-1]
    key = _widget_key(name, list(options), usual, list(options.values()))
    chosen = str(st.select_slider(label, list(options), key=key, format_func=options.__getitem__))
    _remember(name, chosen, usual)
    return chosen


def choice_list(name: str, label: str, options: Mapping[str, str], captions: Sequence[str], default: str) -> str:
    """``choice`` as a list with a caption below each option. ``options`` (name to label) and captions: our words."""
    key = _widget_key(name, list(options), default, list(options.values()))
    chosen = str(st.radio(label, list(options), key=key, format_func=options.__getitem__, captions=captions))
    _remember(name, chosen, default)
    return chosen


def searched_words(name: str, label: str, most: int, placeholder: str) -> str:
    """Words to search for, at most ``most`` characters, which are part of the address."""
    requested, key, seen = st.query_params.get(name, "")[:most], f"text of {name}", f"{name} in the URL"
    # A page that was left and opened again at once has lost the text, but not the note of what the address was.
    if key not in st.session_state or st.session_state.get(seen) != requested:
        st.session_state[key] = requested
    text = str(st.text_input(label, key=key, placeholder=placeholder, max_chars=most, type="search"))
    if text != requested:  # a write on arrival could reach the browser before the address of this page does
        keep(name, text or None)
    st.session_state[seen] = text
    return text


def _widget_key(name: str, options: Sequence[str], usual: str, labels: Sequence[str]) -> str:
    """The key of the widget, whose value is set to the option in the address. ``labels``: one per option.

    A browser sends a choice as the label that it received with its value, also after the label of that option has
    changed. Therefore it receives the value again when the label of the chosen option changes, and a label that no
    option has counts as the option in the address.
    """
    key, last_key, labels_key = f"choice of {name}", f"{name} in the URL", f"labels in choice of {name}"
    requested = matching_option(st.query_params.get(name, usual), options)
    known = st.session_state.get(last_key) == requested  # a choice on this page may take an option away
    if requested not in options and not known:
        warn_of_missing(name)
    elif requested in options and (key not in st.session_state or not known):  # undrawn widgets lose their value
        st.session_state[key] = requested
    now = st.session_state.get(key)
    if now not in options:
        now = requested if requested in options else usual
    shown = dict(zip(options, labels, strict=True))
    before = st.session_state.get(labels_key, shown)
    if now != st.session_state.get(key) or before.get(str(now), shown.get(str(now))) != shown.get(str(now)):
        st.session_state[key] = now
    st.session_state[labels_key] = shown
    return key


def warn_of_missing(name: str) -> None:
    """Say that the address contains an unknown value of a parameter, which the page ignores."""
    st.warning(f"The link contains an unknown value of the parameter `{name}`. The page ignores this value.", icon="🔎")


def _remember(name: str, chosen: str, usual: str) -> None:
    if st.query_params.get(name) != chosen:  # an address that names the usual option stays as it is
        keep(name, None if chosen == usual else chosen)
    st.session_state[f"{name} in the URL"] = chosen


def follow_address(page: str) -> None:
    """Let all choices follow the address again if another page was open before: their widgets are new on this one."""
    if st.session_state.get("page") != page:
        for key in [key for key in st.session_state if str(key).endswith(" in the URL")]:
            del st.session_state[key]
    st.session_state["page"] = page


def keep(name: str, value: str | None) -> None:
    """Put a choice into the address, or remove it; each change is an entry in the history of the browser."""
    if value is None:
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != value:
        st.query_params[name] = value


def forget(names: Collection[str]) -> None:
    """Remove choices from the address, with one entry in the history of the browser."""
    left = {name: value for name, value in st.query_params.to_dict().items() if name not in names}
    if len(left) < len(st.query_params):
        st.query_params.from_dict(left)


def matching_option(word: str, options: Sequence[str]) -> str:
    """The option that an address names, in full or by a unique beginning, with or without ``bench_``; else the word."""
    if word in options or not word:
        return word
    fitting = [option for option in options if word in (option[: len(word)], option.partition("_")[2][: len(word)])]
    return fitting[0] if len(fitting) == 1 else word


def chosen_line(table: pd.DataFrame, name: str, keys: Sequence[str], usual: str = "", /, **options: object) -> str:
    """Show a table in which one line is always chosen; return its key, which the address holds unless it is the usual.

    ``keys``: one per line, at least one. ``usual``: the key that is chosen at first, the first one if not given.
    ``options`` of ``st.dataframe``.
    """
    usual = usual or keys[0]
    requested, last_key, version = st.query_params.get(name, usual), f"{name} in the URL", f"version of {name}"
    if requested not in keys and st.session_state.get(last_key, ("",))[0] != requested:
        warn_of_missing(name)
    at = keys.index(requested if requested in keys else usual)
    if st.session_state.get(last_key) != (requested, tuple(keys)):
        # Another address or another table: a new key keeps the line chosen before from counting as a choice here.
        st.session_state[version] = st.session_state.get(version, 0) + 1
    key = f"{name} {st.session_state[version]}"

    def remember(rows: Sequence[int]) -> str:
        chosen = keys[rows[0]] if rows and rows[0] < len(keys) else keys[at]
        keep(name, None if chosen == usual else chosen)
        st.session_state[last_key] = (chosen, tuple(keys))
        return chosen

    state = st.dataframe(
        table,
        key=key,
        # Before the page is drawn again, so that parts above the table also read the new address.
        on_select=lambda: remember(st.session_state[key]["selection"]["rows"]),
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [at]}},
        hide_index=True,
        **options,  # type: ignore[call-overload]  # options of st.dataframe, by name
    )
    return remember(state["selection"]["rows"])
