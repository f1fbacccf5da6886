"""Exports over HTTP: links that only a page of this dashboard can make, and the route that answers them."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from koderz_core import KoderzError, process, the_workspace
from koderz_core.errors import UsageError
from koderz_core.export.formats import plain
from koderz_core.export.orders import ExportOrder

PATH = "/api/export"
PIECE = 1 << 20  # bytes that are in memory at a time
HOUR = 3600
VALID_HOURS = 12
INVALID = "This link is not valid, or no longer. Open the page Export of this dashboard, which makes a new one."


def link(order: ExportOrder) -> str:
    """The address of what is ordered, good for some hours and as long as this process lives.

    Whoever has it needs no log-in, but only who may see a page gets it: Streamlit guards pages, not routes.
    """
    asked = {
        "table": order.table,
        "form": order.form,
        "of": order.of,
        "columns": order.columns,
        "for_spreadsheets": "yes" if order.for_spreadsheets else "",
        "same_problems": "yes" if order.same_problems else "",
        "until": str((int(time.time()) // HOUR + VALID_HOURS + 1) * HOUR),  # the same for an hour
    }
    query = urlencode(asked, doseq=True)
    return f"{PATH.removeprefix('/')}?{query}&signature={_signature(query)}"


async def send(request: Request) -> Response:
    """What a link names, as a file that is streamed: its beginning is sent before its end is known."""
    query, _, signature = request.url.query.rpartition("&signature=")
    if not hmac.compare_digest(signature.encode(), _signature(query).encode()):
        return PlainTextResponse(INVALID, 403)
    asked = parse_qs(query)
    if float(asked["until"][0]) < time.time():
        return PlainTextResponse(INVALID, 403)
    try:
        order = _order(asked)
        await asyncio.to_thread(the_workspace().exporting.found, order)
    except KoderzError as error:  # such as a journal that is gone since
        return PlainTextResponse(plain(str(error)), 404 if isinstance(error, UsageError) else 503)
    headers = {"Content-Disposition": f'attachment; filename="{order.file_name}"', "Cache-Control": "no-store"}
    return StreamingResponse(_pieces(order), media_type=order.media_type, headers=headers)


async def _pieces(order: ExportOrder) -> AsyncIterator[bytes]:
    with await asyncio.to_thread(the_workspace().exporting.made, order) as file:
        while piece := await asyncio.to_thread(file.read, PIECE):
            yield piece


def _order(asked: dict[str, list[str]]) -> ExportOrder:
    return ExportOrder(
        asked["table"][0],
        asked["form"][0],
        tuple(asked.get("of", ())),
        tuple(asked.get("columns", ())),
        "for_spreadsheets" in asked,
        "same_problems" in asked,
    )


def _signature(query: str) -> str:
    secret = process.the_one("secret of links", lambda: secrets.token_bytes(32))
    return hmac.digest(secret, query.encode(), "sha256").hex()
