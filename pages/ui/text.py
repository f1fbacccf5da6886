"""Hostile text on screen: shown as characters, never obeyed, never more than a browser can bear."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path

import streamlit as st

from koderz_core.records.rows import BenchmarkRow
from koderz_core.report.formats import count, plain

LONGEST_NAME = 60
MOST_LINES = 22  # of a text that is shown in full height; a longer one scrolls
MOST_UNFOLDED = 1500  # characters of a text of few lines
MOST_CHARACTERS = 20_000  # of one text on screen; the whole of it can be downloaded


def worded(said: str) -> str:
    """A sentence of koderz on a page, where nothing reads backticks; what lies in the home folder begins with ~."""
    home = str(Path.home())
    short = said if home == "/" else re.sub(rf"(?<![\w./-]){re.escape(home)}(?=/|$)", "~", said, flags=re.MULTILINE)
    return short.replace("`", "")


def called(row: BenchmarkRow) -> str:
    """What a person calls a benchmark: its name, on one line, if it has one, else its id. Hostile text."""
    return plain(" ".join(row.name.split()), LONGEST_NAME) or row.id


def listed(row: BenchmarkRow) -> str:
    """A benchmark in a list to choose from. Hostile text.

    Always the same for a benchmark: a browser names what is chosen by this text, so one that changed would be lost.
    """
    return " · ".join(dict.fromkeys((called(row), row.id)))


def show_text(text: str, name: str, language: str | None = None) -> None:
    """Show a text of unknown origin; ``name`` (ours, on this page only once) is what its download is called."""
    shown = plain(text[:MOST_CHARACTERS])
    st.code(shown, language=language, wrap_lines=True, height=560 if _lines(text) > MOST_LINES else "content")
    if len(text) > MOST_CHARACTERS:
        st.caption(f"The first {count(MOST_CHARACTERS)} of {count(len(text))} characters.")
        whole = text.encode(errors="replace")
        st.download_button("Download the whole text", whole, f"{name}.txt", "text/plain", key=f"download {name}")


def show_folded(text: str, name: str, language: str | None = None) -> None:
    """As ``show_text``; a long one is folded, and says how long it is."""
    lines = text.count("\n") + 1
    if lines <= MOST_LINES and len(text) <= MOST_UNFOLDED:
        show_text(text, name, language)
        return
    with st.expander(f"{count(len(text))} characters in {count(lines)} lines"):
        show_text(text, name, language)


def show_diff(before: str, after: str, name: str, sides: tuple[str, str] = ("previous", "this")) -> None:
    """Show what changed from one program to the next; ``sides``: what each is called, in our words."""
    changed = "".join(unified_diff(_whole_lines(before), _whole_lines(after), *sides, n=5))
    if changed:
        show_text(changed, name, "diff")
    else:
        st.info("The same program, word for word.", icon="🔁")


def _whole_lines(text: str) -> Sequence[str]:
    return [f"{line}\n" for line in text.splitlines()]


def _lines(text: str) -> int:
    """About how many lines a text takes when long ones wrap."""
    return sum(1 + len(line) // 110 for line in text[:MOST_CHARACTERS].splitlines())
