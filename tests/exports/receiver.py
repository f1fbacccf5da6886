"""A receiver of traces on loopback, which keeps the spans that it was sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from loopback import listening
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

PROTOBUF = "application/x-protobuf"


@dataclass
class Answer:
    """``status`` 0: the connection is closed without an answer."""

    status: int = 200
    content: bytes = b""
    kind: str = PROTOBUF
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Receiver:
    """``answers``: the next ones, then 200. ``spans``: those of accepted requests, as in the protocol."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    spans: list[Any] = field(default_factory=list)  # Any: generated messages
    requests: list[dict[str, str]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def take(self, handler: BaseHTTPRequestHandler) -> Answer:
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        self.requests.append({"path": handler.path, **{name.lower(): text for name, text in handler.headers.items()}})
        answer = self.answers.pop(0) if self.answers else Answer()
        request = ExportTraceServiceRequest.FromString(body)
        spans = [span for of in request.resource_spans for scope in of.scope_spans for span in scope.spans]
        self.sizes.append(len(spans))
        self.spans += spans if answer.status == 200 else []
        return answer


@contextmanager
def receiving() -> Iterator[Receiver]:
    known = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            answer = known.take(self)
            if not answer.status:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, text in {"Content-Type": answer.kind, **answer.headers}.items():
                self.send_header(name, text)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

    with listening(Handler) as url:
        known.url = url
        yield known
