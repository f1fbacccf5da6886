"""An endpoint: which records check its request, and the answer to every request that fails."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from koderz_core.errors import InfrastructureError, KoderzError, RequestError, UnknownNameError, UsageError
from koderz_core.serve.records import ErrorAnswer, NoQuery, Sent

MOST_BYTES = 32 << 20
BODY_SECONDS = 30.0
"""The time in which the body of a request must arrive."""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
JSON = "application/json"
CLIENT = "x-koderz-client"
"""The header by which programs on one machine give themselves different names."""
_CLIENT_NAME = re.compile(r"[\w.-]{1,64}", re.ASCII)
_PARAMETER = re.compile(r"\{(\w+)")
_encode = msgspec.json.Encoder(enc_hook=str).encode
_LOG = logging.getLogger("koderz")


@dataclass(frozen=True, slots=True)
class Call:
    """A checked request. ``path``: the parameters in the path. ``client``: who sent it, for limits."""

    client: str
    path: Mapping[str, str]
    query: Any  # Any: of the type ``Endpoint.query``
    body: Any  # Any: of the type ``Endpoint.body``


@dataclass(frozen=True, slots=True)
class Endpoint:
    """``query`` and ``body``: the records that check a request; ``answer``: the type of a successful answer.

    ``handle`` receives the parts of the server, and returns an answer or a whole response.
    """

    method: Literal["GET", "POST"]
    path: str
    summary: str
    handle: Callable[[Any, Call], Awaitable[object]]  # Any: ``parts.Parts``, which this file need not know
    answer: Any  # Any: a type or a generic alias; a media type for an answer that is not JSON
    body: type[Sent] | None = None
    query: type[Sent] = NoQuery
    status: int = 200
    _decoder: list[msgspec.json.Decoder[Any]] = field(default_factory=list, compare=False)

    @property
    def parameters(self) -> Sequence[str]:
        """The names of the parameters in the path."""
        return _PARAMETER.findall(self.path)

    async def respond(self, parts: Any, request: Request) -> Response:  # Any: as above
        """The edge where every error becomes an answer."""
        try:
            answer = await self.handle(parts, await self._call(request))
            return answer if isinstance(answer, Response) else as_json(answer, self.status)
        except Exception as error:  # noqa: BLE001 (the edge of a request: each error is answered, bugs are logged)
            return failure(error)

    async def _call(self, request: Request) -> Call:
        query = self._query(request)
        body = self._decoded(await _body(request)) if self.body else None
        return Call(client_of(request), request.path_params, query, body)

    def _query(self, request: Request) -> Sent:
        if not request.scope["query_string"]:
            return self.query()
        given: dict[str, list[str]] = {}
        for name, value in request.query_params.multi_items():
            given.setdefault(name, []).append(value)
        several = {found.name for found in msgspec.structs.fields(self.query) if found.default == ()}
        for name, values in given.items():
            if len(values) > 1 and name not in several:
                raise RequestError(f"The query parameter {name[:100]!r} is given {len(values)} times. Give it once.")
        single = {name: values if name in several else values[0] for name, values in given.items()}
        try:
            return msgspec.convert(single, self.query, strict=False)
        except msgspec.ValidationError as error:
            known = ", ".join(found.name for found in msgspec.structs.fields(self.query)) or "none"
            raise RequestError(f"The query is invalid: {error}. Parameters: {known}. See /openapi.json.") from None

    def _decoded(self, body: bytes) -> Sent:
        if not self._decoder:
            self._decoder.append(msgspec.json.Decoder(self.body))
        try:
            decoded: Sent = self._decoder[0].decode(body)
        except msgspec.ValidationError as error:
            raise RequestError(
                f"The request is invalid: {error}. See /openapi.json for the valid fields and values."
            ) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise RequestError(f"The body is not valid JSON: {error}. Send a JSON object in UTF-8.", 400) from None
        return decoded


def client_of(request: Request) -> str:
    """The address that a request came from, and the name that the client gave itself."""
    address = request.client.host if request.client else "socket"
    name = request.headers.get(CLIENT)
    if name is None:
        return address
    if not _CLIENT_NAME.fullmatch(name):
        raise RequestError(
            f"The header {CLIENT} is invalid. Use 1 to 64 letters, digits, dots, hyphens and underscores.", 400
        )
    return f"{address} {name}"


def as_json(answer: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer; not a number and infinity are null in it."""
    return Response(_encode(answer), status, {**HEADERS, **headers} if headers else HEADERS, JSON)


def failure(error: Exception) -> Response:
    """The answer to a request that failed. Only the log has the details of a bug."""
    if not isinstance(error, KoderzError):
        _LOG.error("A request failed because of a bug in koderz. Please report it.", exc_info=error)
        error = RequestError(
            "The request failed because of a bug in koderz. The log of the server contains the details.", 500
        )
    status, headers = _status(error), {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, RequestError) and error.retry_after_seconds is not None:
        headers["Retry-After"] = str(error.retry_after_seconds)
    return as_json(ErrorAnswer(str(error), status), status, headers)


def _status(error: KoderzError) -> int:
    if isinstance(error, RequestError):
        return error.status
    if isinstance(error, UnknownNameError):
        return 404
    if isinstance(error, UsageError):
        return 422
    return 503 if isinstance(error, InfrastructureError) else 409


async def _body(request: Request) -> bytes:
    """The body. Raises RequestError if it is too large, late, compressed or not JSON by its header."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise RequestError(f"The body must be JSON. Send the header Content-Type: {JSON}.", 415)
    if request.headers.get("content-encoding", "identity") != "identity":
        raise RequestError("The body must not be compressed. Send it without Content-Encoding.", 415)
    too_large = RequestError(f"The body is larger than {MOST_BYTES >> 20} MB. Send several smaller requests.", 413)
    if int(request.headers.get("content-length", 0)) > MOST_BYTES:
        raise too_large
    parts, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size > MOST_BYTES:
                    raise too_large
                parts.append(part)
    except TimeoutError:
        raise RequestError(f"The body did not arrive within {BODY_SECONDS:g} s. Send it again.", 408) from None
    except ClientDisconnect:
        raise RequestError("The client closed the connection before the body was complete.", 400) from None
    return b"".join(parts)
