"""A light visitor of the dashboard: it speaks Streamlit's WebSocket protocol like a browser, but paints nothing."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

WITHIN = 60.0  # seconds until a page is drawn
LIVE_LINK = re.compile(rb"api/live\?[\w=&%.~-]+")
PAGES = (
    *("overview", "compare", "live", "problems", "experiment", "statistics", "export"),
    *("launch", "workbench", "models", "memory", "network", "settings"),
)


class Tab:
    """A connection that stays open, like a tab of a browser. For one thread."""

    def __init__(self, port: int) -> None:
        self._address = f"ws://127.0.0.1:{port}"
        self._stream = connect(f"{self._address}/_stcore/stream", subprotocols=["streamlit"], max_size=None)  # type: ignore[list-item]
        self._news: ClientConnection | None = None

    def close(self) -> None:
        for connection in (self._stream, self._news):
            if connection:
                connection.close()

    def visit(self, page: str, query: Mapping[str, str]) -> Iterator[str]:
        """Open a page and wait until it is drawn; the errors that it shows."""
        asked = BackMsg()
        asked.rerun_script.query_string = urlencode(query)
        asked.rerun_script.page_name = "" if page == "overview" else page
        self._stream.send(asked.SerializeToString())
        until = time.monotonic() + WITHIN
        with suppress(TimeoutError):
            while True:
                received = self._stream.recv(max(0.0, until - time.monotonic()))
                assert isinstance(received, bytes)
                self._follow(received)
                message = ForwardMsg.FromString(received)
                if message.WhichOneof("type") == "script_finished":
                    if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                        return
                    yield f"page {page}: {ForwardMsg.ScriptFinishedStatus.Name(message.script_finished)}"
                if message.delta.new_element.WhichOneof("type") == "exception":
                    yield f"page {page} shows {message.delta.new_element.exception.type}"
        yield f"page {page} was not drawn within {WITHIN:g} s"

    def news(self) -> bytes:
        """Ask the open Live page for news, as a browser does after it has painted the last ones."""
        if self._news is None:
            return b""
        with suppress(WebSocketException, TimeoutError):
            self._news.send("")
            return bytes(str(self._news.recv(WITHIN)), "utf-8")
        self._news = None  # the benchmark has ended
        return b""

    def _follow(self, received: bytes) -> None:
        """Open the connection for the news of a running benchmark that the page names."""
        if link := LIVE_LINK.search(received):
            if self._news:
                self._news.close()
            self._news = connect(f"{self._address}/{link[0].decode()}")


def walk(port: int, page: str, query: Mapping[str, str]) -> list[str]:
    """Open a page in a tab of its own, and close the tab; the errors."""
    tab = Tab(port)
    try:
        return list(tab.visit(page, query))
    finally:
        tab.close()
