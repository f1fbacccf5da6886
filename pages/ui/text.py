"""Hostile text on screen: shown as characters, never interpreted, never more than a browser can display."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from koderz_core.records.rows import BenchmarkRow
from koderz_core.report.formats import count, plain
from koderz_core.report.problems import Part

LONGEST_NAME = 60
MOST_LINES = 22  # of a text in full height; a longer one scrolls
MOST_PARTS = 40
MOST_CHARACTERS = 20_000  # of one text on screen; the full text can be downloaded
EXACT = "%g"  # the format of a field for a number: by default, Streamlit shows 0.004 as 0.00


def worded(text: str) -> str:
    """A sentence of koderz for a page: without backticks, which pages show, and with ~ for the home folder."""
    home = str(Path.home())
    short = text if home == "/" else re.sub(rf"(?<![\w./-]){re.escape(home)}(?=/|$)", "~", text, flags=re.MULTILINE)
    return short.replace("`", "")


def called(row: BenchmarkRow) -> str:
    """The name of a benchmark on one line, or its id if it has no name. Hostile text."""
    return plain(" ".join(row.name.split()), LONGEST_NAME) or row.id


def listed(row: BenchmarkRow) -> str:
    """A benchmark in a list of choices. Hostile text.

    Constant for a benchmark, because the browser identifies a choice by this text and would lose one that changes.
    """
    return " · ".join(dict.fromkeys((called(row), row.id)))


def show_text(text: str, name: str, language: str | None = None) -> None:
    """Show a text of unknown origin; its download is called ``name`` (our word, unique on the page)."""
    shown = plain(text[:MOST_CHARACTERS])
    st.code(shown, language=language, wrap_lines=True, height=560 if _lines(text) > MOST_LINES else "content")
    if len(text) > MOST_CHARACTERS:
        st.caption(f"Only the first {count(MOST_CHARACTERS)} of {count(len(text))} characters are shown.")
        data = text.encode(errors="replace")
        st.download_button("Download the full text", data, f"{name}.txt", "text/plain", key=f"download {name}")


def show_parts(parts: Sequence[Part], name: str) -> None:
    """Show prose as plain text, and code as code; a text in too many or too long parts in one piece."""
    if len(parts) > MOST_PARTS or sum(len(part.text) for part in parts) > MOST_CHARACTERS:
        show_text("\n\n".join(part.text for part in parts), name, "python" if parts[0].is_python else None)
        return
    for place, part in enumerate(parts):
        if part.is_code:
            show_text(part.text, f"{name}-{place}", "python" if part.is_python else None)
        else:
            st.text(plain(part.text))


def _lines(text: str) -> int:
    """The approximate number of lines on screen, with long lines wrapped."""
    return sum(1 + len(line) // 110 for line in text[:MOST_CHARACTERS].splitlines())
