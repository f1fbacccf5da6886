"""Exports on a page: signed links to files, the route that serves them, a preview, and the meaning of columns.

Only this dashboard can sign such a link.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import shlex
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qs, urlencode

import pandas as pd  # type: ignore[import-untyped]  # pandas ships no types
import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from koderz_core import KoderzError, Workspace, lazy, the_workspace
from koderz_core.errors import UsageError
from koderz_core.records.progress import SummaryRow
from koderz_core.records.rows import Excerpt
from koderz_core.report.dictionary import table_named
from koderz_core.report.export_request import ExportOrder
from koderz_core.report.formats import numbered, plain
from pages.ui.pickers import only_shared_problems
from pages.ui.tables import FEW_LINES, tall
from pages.ui.text import worded

SHOWN = 50
MOST_KEPT = 16
PREVIEWED = {"dataset_sha256": st.column_config.TextColumn(width=120)}  # the file has it in full
PATH = "/api/export"
PIECE = 1 << 20  # bytes in memory at a time
HOUR = 3600
VALID_HOURS = 12
INVALID = "This link is not valid or has expired. Open the Export page of this dashboard to get a new link."


@dataclass(frozen=True, slots=True)
class Preview:
    """A preview to read; ``state`` of its sources, because a new state makes an older preview outdated."""

    workspace: Workspace
    order: ExportOrder
    state: str


def offer(order: ExportOrder, label: str = "Download", icon: str = "⬇️") -> None:
    """A link that downloads a file of any size; ``label``: our words."""
    st.link_button(label, link(order), icon=icon)


def offer_reports(rows: Sequence[SummaryRow], baseline: tuple[str, str] | None) -> None:
    """Reports that compare these configurations, for people without koderz; a missing baseline is added.

    ``baseline``: the benchmark and the configuration that the page compares with.
    """
    of = tuple(f"{row.benchmark}/{row.configuration}" for row in rows)
    # Not by ``only`` of the rows, which also limits them to the problems that decided a sequential benchmark.
    html = ExportOrder("comparison", "html", of, same_problems=only_shared_problems())
    if baseline and st.query_params.get("baseline"):
        st.caption("Reports use the default baseline. For a report with the chosen baseline, run in a terminal:")
        name, same = "/".join(baseline), ["--same-problems"] * html.same_problems
        words = ["koderz", "compare", *dict.fromkeys((*of, name)), "--baseline", name, *same, "--format", "md"]
        st.code(shlex.join(words), language=None, wrap_lines=True)
    with st.container(horizontal=True):
        offer(html, "Report (HTML)", "📄")
        offer(replace(html, form="markdown"), "Report (Markdown)", "📝")
        offer(replace(html, form="bibtex"), "Citation (BibTeX)", "🎓")


def show_preview(workspace: Workspace, order: ExportOrder, datasets: Iterable[str]) -> None:
    """The first lines of the file. ``datasets``: of all benchmarks; a table may contain data of their problems."""
    annotations = workspace.results.annotations() if order.table == "labels" else ()
    state = f"{workspace.results.state()} {workspace.datasets.missing(datasets)} {hash(annotations)}"
    excerpt = _excerpt(Preview(workspace, order, state))
    lines, columns = numbered(excerpt.lines, "line"), numbered(len(excerpt.frame.columns), "column")
    excerpted = f"The preview shows the first {SHOWN} of {lines}; the file contains all lines."
    st.caption(f"{lines}, {columns}. {excerpted if excerpt.lines > SHOWN else ''}".strip())
    st.dataframe(
        excerpt.frame,
        hide_index=True,
        column_config=PREVIEWED,
        height=tall(len(excerpt.frame), FEW_LINES),
        alt=f"The first lines of {order.table}",
    )


def show_dictionary(table: str) -> None:
    """The meaning of each column, folded."""
    with st.expander("Meaning of the columns", icon="📖"):
        lines = [
            (column.name, column.type, column.unit, worded(column.meaning), worded(column.missing))
            for column in table_named(table).columns
        ]
        names = ["column", "type", "unit", "meaning", "meaning of a missing value"]
        st.dataframe(pd.DataFrame(lines, columns=names), hide_index=True, alt=f"The columns of {table}")


@st.cache_resource(
    max_entries=MOST_KEPT,
    show_spinner=False,
    hash_funcs={Preview: lambda preview: f"{preview.state} {preview.order!r}"},
)
def _excerpt(preview: Preview) -> Excerpt:
    return preview.workspace.exports.preview(preview.order, SHOWN)


def link(order: ExportOrder) -> str:
    """The address of a file, valid for some hours and as long as this process lives.

    Streamlit protects pages but not routes, so the link itself needs no login. Only users who may see the page get it.
    """
    fields = {
        "table": order.table,
        "form": order.form,
        "of": order.of,
        "columns": order.columns,
        "for_spreadsheets": "yes" if order.for_spreadsheets else "",
        "same_problems": "yes" if order.same_problems else "",
    }
    return signed(PATH, fields)


def signed(path: str, fields: Mapping[str, object]) -> str:
    """The address of a route with these fields and a signature for this route; the same for an hour."""
    until = (int(time.time()) // HOUR + VALID_HOURS + 1) * HOUR
    query = urlencode({**fields, "until": until}, doseq=True)
    return f"{path.removeprefix('/')}?{query}&signature={_signature(path, query)}"


def verified(path: str, query: str) -> dict[str, list[str]] | None:
    """The fields of the query of a route's signed address; None if the signature is wrong or has expired."""
    query, _, signature = query.rpartition("&signature=")
    if not hmac.compare_digest(signature.encode(), _signature(path, query).encode()):
        return None
    fields = parse_qs(query)
    return fields if float(fields["until"][0]) >= time.time() else None


async def send(request: Request) -> Response:
    """Stream the file that a link names; sending starts before the file is complete."""
    fields = verified(PATH, request.url.query)
    if fields is None:
        return PlainTextResponse(INVALID, 403)
    try:
        order = _order(fields)
        await asyncio.to_thread(the_workspace().exports.resolve, order)
    except KoderzError as error:  # for example if a journal was removed
        return PlainTextResponse(plain(str(error)), 404 if isinstance(error, UsageError) else 503)
    headers = {"Content-Disposition": f'attachment; filename="{order.file_name}"', "Cache-Control": "no-store"}
    return StreamingResponse(_pieces(order), media_type=order.media_type, headers=headers)


async def _pieces(order: ExportOrder) -> AsyncIterator[bytes]:
    with await asyncio.to_thread(the_workspace().exports.file, order) as file:
        while piece := await asyncio.to_thread(file.read, PIECE):
            yield piece


def _order(fields: dict[str, list[str]]) -> ExportOrder:
    return ExportOrder(
        fields["table"][0],
        fields["form"][0],
        tuple(fields.get("of", ())),
        tuple(fields.get("columns", ())),
        "for_spreadsheets" in fields,
        "same_problems" in fields,
    )


def _signature(path: str, query: str) -> str:
    secret = lazy.the_one("secret of links", lambda: secrets.token_bytes(32))
    return hmac.digest(secret, f"{path}?{query}".encode(), "sha256").hex()
