"""Connections of HTTP clients: uvicorn with the parser httptools, bounded heads of requests, and refusals in JSON.

httptools needs half of the time of h11, uvicorn's other parser, but does not limit the size of a request's head.
"""

from __future__ import annotations

import uvicorn
from httptools import HttpParserError
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from koderz_core.errors import RequestError
from koderz_core.serve.app import Application
from koderz_core.serve.endpoint import failure

SHUTDOWN_SECONDS = 3  # for answers that are being sent
IDLE_SECONDS = 60  # until an unused connection is closed
MOST_CONNECTIONS = 1000
MOST_HEAD_BYTES = 64 << 10
"""The largest size of the line and the headers of a request, with all that frames the parts of its body."""
BODY_PER_FRAME = 8
"""Each byte that frames the body of a request in parts must carry this many bytes of the body."""
_INVALID = "This is not a valid HTTP request. Use a client for HTTP/1.1."
_VERSIONS = ("1.0", "1.1")
_TOO_LARGE = f"The headers of the request are larger than {MOST_HEAD_BYTES >> 10} kB."


def server(application: Application) -> uvicorn.Server:
    """A server that has not been started."""
    config = uvicorn.Config(
        application,
        http=Connection,
        lifespan="off",
        log_level="critical",  # uvicorn logs every invalid request as a warning, and the application its own errors
        access_log=False,
        server_header=False,
        ws="none",
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    return uvicorn.Server(config)


class Connection(HttpToolsProtocol):
    """A connection of one client."""

    _frame_bytes = 0  # of the present request: all that arrived, without its body
    _body_bytes = 0

    def data_received(self, data: bytes) -> None:
        """Receive bytes; refuse a request whose head does not end."""
        self._frame_bytes += len(data)
        super().data_received(data)
        if self._frame_bytes > MOST_HEAD_BYTES + self._body_bytes // BODY_PER_FRAME and not self.transport.is_closing():
            self._refuse(RequestError(_TOO_LARGE, 431))

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._frame_bytes, self._body_bytes = 0, 0

    def on_headers_complete(self) -> None:
        """Refuse what the parser accepts: no version, a whole address instead of a path, and a fragment."""
        if self.parser.get_http_version() not in _VERSIONS or self.url[:1] != b"/" or b"#" in self.url:
            raise HttpParserError(_INVALID)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of a body."""
        self._body_bytes += len(body)
        self._frame_bytes -= len(body)
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 (uvicorn's own text is shorter)
        """Answer bytes that are no request."""
        self._refuse(RequestError(_INVALID, 400))

    def _refuse(self, error: RequestError) -> None:
        """Answer for the application, unless its answer is already on the way, and close the connection."""
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            response = failure(error)
            headers = b"".join(b"%b: %b\r\n" % header for header in response.raw_headers)
            status = STATUS_LINE[response.status_code]
            self.transport.write(b"%bconnection: close\r\n%b\r\n%b" % (status, headers, bytes(response.body)))
        self.transport.close()
