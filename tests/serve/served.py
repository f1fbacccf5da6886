"""A server in this process, and the requests that tests send to it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any

from koderz_core import Workspace
from koderz_core.serve.app import Application
from koderz_core.serve.connection import server
from koderz_core.serve.parts import Limits, Parts

JSON = {"Content-Type": "application/json"}
ADDING = {"solution": "def add(a, b):\n    return a + b\n", "tests": "assert add(1, 2) == 3"}


@dataclass(frozen=True)
class Heard:
    """An answer."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:  # Any: JSON
        return json.loads(self.text)


@dataclass(frozen=True)
class Served:
    """A running server."""

    port: int

    def send(self, method: str, path: str, body: bytes | str = b"", headers: Mapping[str, str] | None = None) -> Heard:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body or None, dict(headers or {}))
            answer = connection.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return Heard(answer.status, named, answer.read().decode())
        finally:
            connection.close()

    def post(self, path: str, content: object, **headers: str) -> Heard:
        return self.send("POST", path, json.dumps(content), JSON | headers)

    def get(self, path: str, **headers: str) -> Heard:
        return self.send("GET", path, headers=headers)

    def status_of(self, sent: bytes) -> int:
        """The status of the answer to these bytes; 0 if the server closes the connection without one."""
        with socket.create_connection(("127.0.0.1", self.port), 60) as connection, suppress(ConnectionError):
            with suppress(ConnectionError):  # the server may answer before it has read all
                connection.sendall(sent)
            received = connection.recv(1000)
            return int(received.split()[1]) if received.startswith(b"HTTP/1.1 ") else 0
        return 0

    def grade(self, *programs: Mapping[str, object]) -> list[Any]:
        """The results of programs, which must all be accepted."""
        answer = self.post("/v1/grade", {"programs": programs})
        assert answer.status == 200, answer.text
        return list(answer.json["results"])


@contextmanager
def serving(workspace: Workspace, limits: Limits | None = None, *, is_open: bool = False) -> Iterator[Served]:
    parts = Parts(workspace, limits or Limits(), is_open=is_open)
    listener = socket.create_server(("127.0.0.1", 0))
    running = server(Application(parts))
    thread = threading.Thread(target=running.run, args=([listener],))
    thread.start()
    try:
        yield Served(listener.getsockname()[1])
    finally:
        running.should_exit = True
        thread.join()
        listener.close()
        parts.close()
