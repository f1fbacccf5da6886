"""Only the dashboard's own pages may talk to it: a request that names another origin is refused."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

REFUSED = "This origin is not the dashboard's own. Open the dashboard at its own address.\n"


class SameOrigin:
    """ASGI middleware that answers 403 to every request whose ``Origin`` is not the host and port it was sent to.

    It stands before Streamlit's own check, which accepts ``localhost`` on any port and, for any other origin, asks an
    outside server for this machine's public address and then trusts the answer. Browsers always name the origin of a
    WebSocket; programs need not. The host itself is checked by Streamlit (``server.allowedHosts``), which stops DNS
    rebinding. A reverse proxy has to pass the ``Host`` header on. Source: RFC 6454 and RFC 6455, section 10.2.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or _is_own(Headers(scope=scope)):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)  # before it was accepted, which the server says as 403
        else:
            await PlainTextResponse(REFUSED, status_code=403)(scope, receive, send)


def _is_own(headers: Headers) -> bool:
    origins, hosts = headers.getlist("origin"), headers.getlist("host")
    if not origins:
        return True
    return len(origins) == len(hosts) == 1 and _host_of(origins[0]) == hosts[0].lower()


def _host_of(origin: str) -> str | None:
    """Host and port of an ``http`` or ``https`` origin in the form of a ``Host`` header; None for any other."""
    try:
        parts = urlsplit(origin)
    except ValueError:  # brackets that hold no address
        return None
    return parts.netloc.lower() if parts.scheme in ("http", "https") else None
