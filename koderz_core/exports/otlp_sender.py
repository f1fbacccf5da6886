"""Sends spans to a receiver of OpenTelemetry traces by OTLP/HTTP with protobuf, in batches, each after the other.

Every answer is checked: the receiver must accept all spans of a batch, and redirects are not followed. A batch that the
receiver cannot take at the moment is sent again, as https://opentelemetry.io/docs/specs/otlp/#otlphttp-response says.
Nothing is logged. Ids of spans do not change, so sending the same benchmark again is safe for receivers that identify
spans by their ids.
"""

from __future__ import annotations

import re
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from itertools import chain
from types import ModuleType
from typing import TYPE_CHECKING

from koderz_core.egress import trace
from koderz_core.errors import ReceiverError, UsageError
from koderz_core.exports.otlp import traces_data
from koderz_core.exports.spans import TraceSpan
from koderz_core.notices.mask import masked
from koderz_core.otlp import Endpoint, endpoint, exchange, header, parsed, receiver
from koderz_core.proxies import proxy_of

if TYPE_CHECKING:
    import httpx

BATCH_SPANS = 512
BATCH_CHARACTERS = 1_000_000  # of up to 4 bytes; many receivers limit a request to 4 MB
SECONDS = 60.0  # for one request
RETRIED = (429, 502, 503, 504)
WAITS_SECONDS = (1.0, 2.0, 4.0, 8.0)
MOST_WAIT_SECONDS = 30.0
TRACES_PATH = "/v1/traces"
_SHOWN = 300  # characters of a refusal


@dataclass(frozen=True, slots=True)
class Sent:
    """What a receiver has accepted."""

    traces: int
    spans: int


def endpoint_of(url: str, headers: Sequence[str]) -> Endpoint:
    """The receiver of an address, which may lack its path, and of headers ``NAME=VALUE``. Raises UsageError."""
    try:
        return endpoint(receiver(url), TRACES_PATH, map(header, headers))
    except ValueError as error:
        raise UsageError(f"--endpoint or --header is invalid: {error}.") from None


def send(traces: Iterable[Sequence[TraceSpan]], to: Endpoint, pause: Callable[[float], None] = time.sleep) -> Sent:
    """Send all spans. Raises ReceiverError, UsageError (a missing package, a proxy). The address is checked before."""
    import httpx  # noqa: PLC0415 (heavy)

    messages = _messages()
    ids: set[bytes] = set()
    spans = 0
    # A transport instead of a client, which would log the address and follow redirects.
    with httpx.HTTPTransport(proxy=proxy_of(to.url)) as transport:
        for batch in batches(chain.from_iterable(traces)):
            _Request(transport, to, messages, accepted=spans).post(batch, pause)
            spans += len(batch)
            ids.update(span.trace for span in batch)
    return Sent(len(ids), spans)


def batches(spans: Iterable[TraceSpan]) -> Iterator[list[TraceSpan]]:
    """The spans in order, in lists of limited length. A span that exceeds the limit of characters is alone."""
    batch: list[TraceSpan] = []
    characters = 0
    for span in spans:
        size = sum(len(value) for value in span.attributes.values() if isinstance(value, str))
        if batch and (len(batch) == BATCH_SPANS or characters + size > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(span)
        characters += size
    if batch:
        yield batch


def _messages() -> ModuleType:
    try:
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2  # noqa: PLC0415 (optional, heavy)
    except ImportError:
        raise UsageError("Sending traces needs a package: pip install 'koderz[otel]'") from None
    module: ModuleType = trace_service_pb2
    return module


@dataclass(frozen=True, slots=True)
class _Request:
    """One batch on its way. ``accepted``: the spans of earlier batches."""

    transport: httpx.HTTPTransport
    to: Endpoint
    messages: ModuleType
    accepted: int

    def post(self, batch: Sequence[TraceSpan], pause: Callable[[float], None]) -> None:
        """Send it until it is accepted. Raises ReceiverError."""
        from google.protobuf.json_format import ParseDict  # noqa: PLC0415 (optional, heavy)

        request = self.messages.ExportTraceServiceRequest()
        body = ParseDict(traces_data(batch, lambda value: b64encode(value).decode()), request).SerializeToString()
        answer, content = self._answer(body, pause)
        if answer.status_code != HTTPStatus.OK:
            raise self._refused(answer, content)
        self._check(answer.headers.get("content-type", ""), content, len(batch))

    def _answer(self, body: bytes, pause: Callable[[float], None]) -> tuple[httpx.Response, bytes]:
        """The last answer. A busy receiver, and one that closed the connection, get the same request again."""
        import httpx  # noqa: PLC0415 (heavy)

        closed = httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError
        waits = [*WAITS_SECONDS]
        while True:
            try:
                answer, content = exchange(self.transport, self.to, body, SECONDS, trace)
            except httpx.HTTPError as error:
                if not (waits and isinstance(error, closed)):
                    raise self._error(
                        f"cannot be reached ({type(error).__name__})", "Check that the receiver is running."
                    ) from None
                stated = None
            else:
                if not (waits and answer.status_code in RETRIED):
                    return answer, content
                stated = answer.headers.get("retry-after")
            pause(_wait(stated, waits.pop(0)))

    def _check(self, kind: str, content: bytes, sent: int) -> None:
        """Whether the receiver accepted the whole batch."""
        answer = self.messages.ExportTraceServiceResponse()
        try:
            parsed(answer, kind, content)
        except ValueError as error:
            raise self._error(f"answered with HTTP status 200, but {error}", "Check the address.") from None
        if rejected := answer.partial_success.rejected_spans:
            said = self._said(answer.partial_success.error_message)
            raise self._error(f"rejected {rejected} of {sent} spans of a batch{said}", "", sent - rejected)

    def _refused(self, answer: httpx.Response, content: bytes) -> ReceiverError:
        status, kind = answer.status_code, answer.headers.get("content-type", "")
        said = self._said(content.decode(errors="replace")) if re.search("text/plain|json", kind) else ""
        return self._error(f"answered {status}{said}", _ADVICE.get(status, ""))

    def _said(self, text: str) -> str:
        """The receiver's own words, which may repeat a header."""
        words = " ".join("".join(character if character.isprintable() else " " for character in text).split())
        shown = masked(words, self.to.secrets)[:_SHOWN]
        return f": {shown}" if shown else ""

    def _error(self, what: str, advice: str, more: int = 0) -> ReceiverError:
        done = f"It accepted {self.accepted + more} spans before the failure, and confirmed no other spans."
        return ReceiverError(" ".join(f"The receiver at {self.to.shown} {what}. {done} {advice}".split()))


_ADVICE: Mapping[int, str] = {
    401: "Pass the receiver's key with --header.",
    403: "Pass the receiver's key with --header.",
    404: "Give the receiver's full address for traces, such as http://HOST:PORT/v1/traces, with --endpoint.",
    405: "Give the receiver's full address for traces, such as http://HOST:PORT/v1/traces, with --endpoint.",
}


def _wait(stated: str | None, otherwise: float) -> float:
    """The seconds until the next attempt: those that the receiver stated, within bounds."""
    return min(float(stated), MOST_WAIT_SECONDS) if stated and stated.isdecimal() else otherwise
