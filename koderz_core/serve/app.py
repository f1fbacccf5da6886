"""The application: all endpoints, and who may send requests to them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from secrets import compare_digest
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from koderz_core import __version__
from koderz_core.addresses import is_loopback
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
    Endpoint("GET", "/v1/ping", "Whether the server is there.", ping, str),
    Endpoint("GET", "/metrics", "Metrics in the text format of Prometheus.", metrics, "text/plain"),
    Endpoint("GET", "/openapi.json", "The description of all endpoints.", openapi, dict),
)
"""Everything that the server answers."""


def application(parts: Parts) -> Starlette:
    """The application. It closes ``parts`` when the server ends."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(parts.close)

    app = Starlette(
        routes=[Route(each.path, partial(each.respond, parts), methods=[each.method]) for each in ENDPOINTS],
        middleware=[Middleware(Guard, parts=parts)],
        exception_handlers={404: _not_found, 405: _not_found},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # a client would not send its body again
    return app


class Guard:
    """ASGI middleware that refuses requests of websites and requests without the token.

    A website can send requests to this machine from the browser of its visitor. Such a request has an ``Origin``, or,
    after DNS rebinding, the host name of the website. Source: RFC 6454, section 7.
    """

    def __init__(self, app: ASGIApp, parts: Parts) -> None:
        self._app, self._parts = app, parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                self._check(Headers(scope=scope), on_network=bool(scope.get("client")))
            except RequestError as error:
                await failure(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _check(self, headers: Headers, *, on_network: bool) -> None:
        if "origin" in headers:
            raise RequestError("Websites may not use this server. Send the request without the header Origin.", 403)
        if on_network and not self._parts.is_open and not _names_this_machine(headers.getlist("host")):
            raise RequestError("The header Host does not name this machine. Send the request to 127.0.0.1.", 403)
        if self._parts.token and not _has_token(headers.getlist("authorization"), self._parts.token):
            raise RequestError("The token is missing or wrong. Send the header Authorization: Bearer TOKEN.", 401)


def _names_this_machine(hosts: Sequence[str]) -> bool:
    try:
        return len(hosts) == 1 and is_loopback(f"http://{hosts[0]}")
    except ValueError:  # brackets that hold no address
        return False


def _has_token(given: Sequence[str], token: bytes) -> bool:
    """Compares in constant time, so that the duration of an answer does not reveal how much of a guess is right."""
    scheme, _, sent = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return scheme.lower() == "bearer" and compare_digest(sent.strip().encode("latin-1", "replace"), token)


async def _not_found(
    request: Request, error: Any
) -> Response:  # Any: an HTTPException, which starlette types as Exception
    paths = sorted({f"{each.method} {each.path}" for each in ENDPOINTS})
    what = f"{request.method} {request.url.path[:200]}"
    return failure(RequestError(f"There is no {what}. Endpoints: {', '.join(paths)}.", error.status_code))
