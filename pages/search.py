"""Search: everything recorded that contains some words, with links to the experiments."""

from __future__ import annotations

import streamlit as st

from koderz_core.records.search import DEFAULT_LIMIT, KINDS, MOST_CHARACTERS, MOST_LIMIT, Kind, SearchQuery
from koderz_core.report.formats import MORE_MATCHES, NO_MATCH, count
from pages.ui.address import choice, keep, searched_words
from pages.ui.edge import edge
from pages.ui.frame import Page, open_page, show_empty
from pages.ui.search import show_hit
from pages.ui.text import listed

ABOUT = "Search all recorded prompts, answers, programs, errors and names."
HELP = (
    "All words must occur in the same text. Case is ignored. A word also matches the beginning of a longer word; "
    "a phrase in quotation marks matches only whole words."
)
ANY = "any"
LABELS = {ANY: "Everything", "prompt": "Prompts", "answer": "Answers", "program": "Programs", "error": "Errors"}
LABELS |= {"name": "Names"}


def main() -> None:
    page = open_page("search", ABOUT)
    if not page.benchmarks:
        show_empty(page.workspace, "Nothing is recorded yet. Run a benchmark first.", "💤")
        return
    query = _choose(page)
    if not query.terms:
        st.caption(HELP)
        return
    found = page.workspace.results.search(query)
    if not found.hits:
        st.info(NO_MATCH, icon="🟰")
        return
    shown = count(len(found.hits))
    st.caption(f"Matches: {f'the first {shown}' if found.more else shown}. Names come first, then the newest texts.")
    for place, hit in enumerate(found.hits):
        show_hit(hit, place)
    if found.more:
        st.caption(MORE_MATCHES)
        if query.limit < MOST_LIMIT:
            st.button("Show more", icon="⬇️", on_click=keep, args=("limit", str(query.limit + DEFAULT_LIMIT)))


def _choose(page: Page) -> SearchQuery:
    """The query; all of it is part of the page's address."""
    words = searched_words("q", "Words", MOST_CHARACTERS, 'has_close_elements "index out of range"')
    left, right = st.columns([3, 2])
    with left:
        kind = choice("kind", "Kind", (ANY, *KINDS), LABELS.__getitem__, short=True)
    with right:
        names = {ANY: "All benchmarks", **{row.id: listed(row) for row in page.chosen}}
        benchmark = choice("within", "Search in", list(names), names.__getitem__)
    kinds: dict[str, Kind] = {name: name for name in KINDS}
    limit = st.query_params.get("limit", "")
    most = min(int(limit), MOST_LIMIT) if limit.isdecimal() and len(limit) < 9 and int(limit) else DEFAULT_LIMIT
    return SearchQuery(words, kinds.get(kind), None if benchmark == ANY else benchmark, most)


with edge():
    main()
