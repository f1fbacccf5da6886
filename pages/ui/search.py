"""The search box in the sidebar, and the parts of the Search page. Names and texts are hostile."""

from __future__ import annotations

import time
from functools import cache
from html import escape
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from koderz_core.records.search import MOST_CHARACTERS, SearchHit
from koderz_core.report.formats import hit_source, plain
from pages.ui.address import BENCHMARKS, address_of, link

ICONS = {"prompt": "💬", "answer": "🗨️", "program": "📄", "error": "⚠️", "name": "🏷️"}
PLACEHOLDER = "all recorded texts"


def show_box() -> None:
    """The box, which leads to the Search page."""
    line = st.sidebar.form("search", clear_on_submit=True, border=False).container(
        horizontal=True, vertical_alignment="bottom", gap="xsmall"
    )
    words = line.text_input("Search", placeholder=PLACEHOLDER, max_chars=MOST_CHARACTERS, type="search")
    asked = line.form_submit_button("Find", width="content")
    if asked and words and words.strip():
        _component()(key="found", data={"address": address_of("search", q=words), "number": time.monotonic_ns()})


def show_hit(hit: SearchHit, place: int) -> None:
    """A match with a link to its experiment, or to the benchmark that has the name."""
    step = f", step {hit.step}" if hit.step else ""
    with st.container(key=f"hit-{place}", gap=None):
        if hit.experiment:
            query = {BENCHMARKS: hit.benchmark, "experiment": hit.experiment}
            query |= {"step": str(hit.step)} if hit.step else {}
            target, label = "experiment", f"{hit.kind.capitalize()} in {hit.experiment}{step}"
        else:
            query = {BENCHMARKS: hit.benchmark}
            target, label = "compare", f"Name in {hit.benchmark}"
        link(target, label, ICONS[hit.kind], **query)
        st.html(f"<div class='hit'><div>{_marked(hit.snippet)}</div><small>{escape(hit_source(hit))}</small></div>")


@cache
def _component() -> ComponentRenderer:
    js = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    return st.components.v2.component("koderz_search", js=js)


def _marked(snippet: tuple[str, ...]) -> str:
    parts = [escape(plain(part)) for part in snippet]
    return "".join(f"<mark>{part}</mark>" if place % 2 else part for place, part in enumerate(parts))
