"""Serves ``/metrics`` over HTTP, for processes without an HTTP server of their own.

It listens on loopback unless the user names another address. A website could read the metrics with the browser of its
visitor by DNS rebinding, so on loopback the header ``Host`` must name this machine.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, AF_INET6
from socketserver import TCPServer

from koderz_core.addresses import is_loopback, name_this_machine, url_of
from koderz_core.metrics.metrics import MEDIA_TYPE

PATH = "/metrics"
REQUEST_SECONDS = 10.0
POLL_SECONDS = 0.1  # until the server notices that it must end
_PLAIN = "text/plain; charset=utf-8"
_LOG = logging.getLogger("koderz")


class MetricsServer:
    """Answers until ``close``, each request in a thread of its own."""

    def __init__(self, host: str, port: int, text: Callable[[], bytes]) -> None:
        """Listen; ``text`` returns all metrics. Raises OSError."""
        family = AF_INET6 if ":" in host else AF_INET
        self._server = _Server(family, (host, port), text, checks_host=is_loopback(url_of(host)))
        self.url = f"{url_of(host, self._server.server_port)}{PATH}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(POLL_SECONDS,), name="metrics", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop to answer, and close the port."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, family: int, address: tuple[str, int], text: Callable[[], bytes], *, checks_host: bool) -> None:
        self.address_family = family
        self.text, self.checks_host = text, checks_host
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Without the base class, which asks a name server for the name of the address."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]  # also of IPv6

    def handle_error(self, *_: object) -> None:
        """Keep the terminal free of clients that close the connection during an answer; log everything else."""
        error = sys.exception()
        if not isinstance(error, OSError):
            _LOG.error("The metrics could not be sent because of a bug in koderz. Please report it.", exc_info=error)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version, sys_version = "koderz", ""
    timeout = REQUEST_SECONDS

    def do_GET(self) -> None:
        if self.server.checks_host and not self._is_from_here():
            self._answer(HTTPStatus.FORBIDDEN, b"Send the request to 127.0.0.1. Websites may not read the metrics.\n")
        elif self.path.partition("?")[0] != PATH:
            self._answer(HTTPStatus.NOT_FOUND, f"The metrics are at {PATH}.\n".encode())
        else:
            self._answer(HTTPStatus.OK, self.server.text(), MEDIA_TYPE)

    def log_message(self, *_: object) -> None:
        """Keep the terminal free: Prometheus asks every few seconds."""

    def _is_from_here(self) -> bool:
        return "Origin" not in self.headers and name_this_machine(*self.headers.get_all("Host", []))

    def _answer(self, status: HTTPStatus, body: bytes, kind: str = _PLAIN) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)
