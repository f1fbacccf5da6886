"""A server on loopback while a test runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server that answers with this handler on a free port; at the end its port is closed."""

    class Quiet(handler):  # type: ignore[misc, valid-type]
        def log_message(self, *_: object) -> None:
            """Keep quiet: by default each request is a line on standard error."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))  # seconds until it notices that it must end
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}"
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
