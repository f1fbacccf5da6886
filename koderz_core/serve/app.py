"""The application: all endpoints, and who may send requests to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from secrets import compare_digest

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import Receive, Scope, Send

from koderz_core import __version__
from koderz_core.addresses import name_this_machine
from koderz_core.errors import RequestError
from koderz_core.metrics.metrics import MEDIA_TYPE
from koderz_core.serve import grading, results
from koderz_core.serve.endpoint import HEADERS, Call, Endpoint, failure
from koderz_core.serve.openapi import document
from koderz_core.serve.parts import Parts
from koderz_core.serve.records import StatusAnswer


async def ping(_parts: Parts, _call: Call) -> str:
    return "pong"


async def status(parts: Parts, _call: Call) -> StatusAnswer:
    queue = parts.grading
    return StatusAnswer(__version__, parts.tier, queue.pending, queue.accepted, queue.refused)


async def metrics(parts: Parts, _call: Call) -> Response:
    return Response(parts.monitoring.metrics.text(), headers=HEADERS, media_type=MEDIA_TYPE)


async def openapi(_parts: Parts, _call: Call) -> object:
    return document(ENDPOINTS)


ENDPOINTS: Sequence[Endpoint] = (
    *grading.ENDPOINTS,
    *results.ENDPOINTS,
    Endpoint("GET", "/v1/status", "The state of the server.", status, StatusAnswer),
    Endpoint("GET", "/v1/ping", "Whether the server is running.", ping, str),
    Endpoint("GET", "/metrics", "Metrics in the text format of Prometheus.", metrics, "text/plain"),
    Endpoint("GET", "/openapi.json", "The description of all endpoints.", openapi, dict),
)
"""Everything that the server answers."""
REFUSED = "none"
"""The label of requests that no endpoint receives: refused for their headers, or there is no such endpoint."""


class Application:
    """The ASGI application. It refuses requests of websites and requests without the token.

    A website can send requests to this machine from the browser of its visitor. Such a request has an ``Origin``, or,
    after DNS rebinding, the host name of the website. Source: RFC 6454, section 7. There is no middleware and no
    router of Starlette, because they double the time of a request.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts, self._requests = parts, parts.monitoring.metrics.requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request, name = Request(scope, receive), REFUSED
        try:
            self._check(request.headers, on_network=bool(scope.get("client")))
            endpoint = _endpoint(request)
            name = f"{endpoint.method} {endpoint.path}"
            response = await endpoint.respond(self._parts, request)
        except RequestError as error:
            response = failure(error)
        self._requests.labels(name, response.status_code).inc()
        await response(scope, receive, send)

    def _check(self, headers: Headers, *, on_network: bool) -> None:
        if "origin" in headers:
            raise RequestError("Websites may not use this server. Send the request without the header Origin.", 403)
        if on_network and not self._parts.is_open and not name_this_machine(*headers.getlist("host")):
            raise RequestError("The header Host does not name this machine. Send the request to 127.0.0.1.", 403)
        if self._parts.token and not _has_token(headers.getlist("authorization"), self._parts.token):
            raise RequestError("The token is missing or wrong. Send the header Authorization: Bearer TOKEN.", 401)


def _has_token(given: Sequence[str], token: bytes) -> bool:
    """Compares in constant time, so that the duration of an answer does not reveal how much of a guess is right."""
    scheme, _, sent = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return scheme.lower() == "bearer" and compare_digest(sent.strip().encode("latin-1", "replace"), token)


def _endpoint(request: Request) -> Endpoint:
    """The endpoint of a request, whose parameters in the path are then known. Raises RequestError."""
    method, path = "GET" if request.method == "HEAD" else request.method, request.scope["path"]
    if found := _FIXED.get((method, path)):
        return found
    matches = [(each, match) for each, pattern in _PATTERNS if (match := pattern.match(path))]
    for each, match in matches:
        if each.method == method:
            request.scope["path_params"] = match.groupdict()
            return each
    known = ", ".join(sorted(f"{each.method} {each.path}" for each in ENDPOINTS))
    raise RequestError(f"There is no endpoint {method[:20]} {path[:200]}. Endpoints: {known}.", 405 if matches else 404)


_FIXED: Mapping[tuple[str, str], Endpoint] = {
    (each.method, each.path): each for each in ENDPOINTS if not each.parameters
}
_PATTERNS = [(each, compile_path(each.path)[0]) for each in ENDPOINTS]
