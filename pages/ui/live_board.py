"""The figures and the matrix of a running benchmark, which a WebSocket keeps up to date.

Drawing a part of a page again takes Streamlit and the browser many times as long as reading the new events. Therefore
the server sends the new figures and cells to components that paint them (``live_board.js`` and ``matrix.js``), as soon
as a journal has grown and the browser has painted the last ones. All browsers share one look at the journals. Without
the WebSocket the page only shows what its script draws.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from time import monotonic

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from koderz_core import KoderzError, Workspace, the_workspace
from koderz_core.records.progress import BenchmarkProgress, News
from koderz_core.report.board import Board, board
from koderz_core.report.matrix import matrix_of_experiments
from koderz_core.report.status import BEAT_SECONDS, rest_seconds
from pages.ui.downloads import signed, verified
from pages.ui.matrix import component, matrix_data

PATH = "/api/live"
BOARD = ("koderz_board", __file__)
LOOK_SECONDS = 0.05  # between two looks at the journals


def show_figures(progress: BenchmarkProgress, shown: Board) -> None:
    """The bar and the figures of a benchmark. While it runs, they and the other parts receive the news."""
    row = progress.benchmark
    link = signed(PATH, {"benchmark": row.id}) if row.under_way else None
    data = {"benchmark": row.id, "link": link, "bar": asdict(shown.bar), "figures": shown.figures}
    component(*BOARD)(key="figures", data=data)


def show_rates(progress: BenchmarkProgress, lines: Sequence[str]) -> None:
    """The rates of the configurations, which are hostile text."""
    component(*BOARD)(key="rates", data={"benchmark": progress.benchmark.id, "rates": lines})


async def report(socket: WebSocket) -> None:
    """Send the news of a benchmark, each time after the browser has asked for them.

    Without news the figures are sent every few seconds, because some of them change with the time.
    """
    fields = verified(PATH, socket.url.query)
    if fields is None:
        await socket.close()  # before it is accepted: the server answers 403
        return
    await socket.accept()
    (benchmark,) = fields["benchmark"]
    sent, asked, due = "", False, 0.0
    with suppress(WebSocketDisconnect):
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(socket.receive_text(), LOOK_SECONDS)
                asked = True
            known = sent if monotonic() < due else ""
            message = await asyncio.to_thread(_message, benchmark, known) if asked else None
            if message is not None:
                await socket.send_text(message.text)
                await asyncio.sleep(message.rest_seconds)
                sent, asked, due = message.state, False, monotonic() + BEAT_SECONDS


@dataclass(frozen=True, slots=True)
class _Message:
    """What to show in this ``state`` of the journals, and how long to rest after sending it."""

    state: str
    text: str
    rest_seconds: float


def _message(benchmark: str, sent: str) -> _Message | None:
    """The news of a benchmark; None if they have been ``sent`` or cannot be read, which the page's script reports."""
    workspace = the_workspace()
    question, shared = ("board", benchmark), workspace.results.shared
    try:
        news = workspace.results.news()
        if news.state == sent:
            return None
        return shared.of(question, news.at, lambda: _encoded(workspace, benchmark, news), LOOK_SECONDS)
    except KoderzError:
        return None


def _encoded(workspace: Workspace, benchmark: str, news: News) -> _Message | None:
    progress = workspace.results.snapshot(benchmark, news.at).progress
    if progress is None:
        return None
    cells = matrix_data(matrix_of_experiments(progress.experiments))
    content = {"benchmark": benchmark, **asdict(board(progress)), "cells": cells}
    return _Message(news.state, msgspec.json.encode(content).decode(), rest_seconds(progress.benchmark.planned))
