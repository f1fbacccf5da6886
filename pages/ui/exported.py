"""What can be taken away, on a page: links to files, the first lines of a table, what its columns mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st

from koderz_core import Workspace
from koderz_core.export.dictionary import described
from koderz_core.export.formats import count
from koderz_core.export.orders import ExportOrder
from koderz_core.records.excerpts import Excerpt
from koderz_core.records.summaries import SummaryRow
from pages.ui.sending import link

SHOWN = 50
MOST_KEPT = 16
PREVIEWED = {"dataset_sha256": st.column_config.TextColumn(width=120)}  # the file has it in full


@dataclass(frozen=True, slots=True)
class Asked:
    """``state``: of the journals, as what was read before they said more is out of date."""

    workspace: Workspace
    order: ExportOrder
    state: str


def offer(order: ExportOrder, label: str = "Download", icon: str = "⬇️") -> None:
    """A link to a file of any size; ``label``: our words."""
    st.link_button(label, link(order), icon=icon)


def offer_reports(rows: Sequence[SummaryRow]) -> None:
    """These configurations side by side, with a baseline if they lack one, for somebody without koderz."""
    of = tuple(f"{row.benchmark}/{row.configuration}" for row in rows)
    html = ExportOrder("comparison", "html", of, same_problems=any(row.only for row in rows))
    with st.container(horizontal=True):
        offer(html, "Report (HTML)", "📄")
        offer(replace(html, form="markdown"), "Report (Markdown)", "📝")
        offer(replace(html, form="bibtex"), "Citation (BibTeX)", "🎓")


def show_preview(workspace: Workspace, order: ExportOrder) -> None:
    """The first lines as they will be."""
    first = _preview(Asked(workspace, order, workspace.results.state()))
    some = f"The first {SHOWN} of {count(first.lines)}" if first.lines > SHOWN else f"All {first.lines}"
    st.caption(f"{some} lines, {len(first.frame.columns)} columns. The file has all.")
    st.dataframe(first.frame, hide_index=True, column_config=PREVIEWED, alt=f"The first lines of {order.table}")


def show_dictionary(table: str) -> None:
    """What each column means; closed until it is wanted."""
    with st.expander("What the columns mean", icon="📖"):
        lines = [(one.name, one.type, one.unit, one.meaning, one.missing) for one in described(table).columns]
        names = ["column", "type", "unit", "meaning", "missing means"]
        st.dataframe(pd.DataFrame(lines, columns=names), hide_index=True, alt=f"The columns of {table}")


@st.cache_resource(
    max_entries=MOST_KEPT, show_spinner=False, hash_funcs={Asked: lambda asked: f"{asked.state} {asked.order!r}"}
)
def _preview(asked: Asked) -> Excerpt:
    return asked.workspace.exporting.preview(asked.order, SHOWN)
