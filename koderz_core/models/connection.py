"""HTTP connections to model servers: base URLs, deadlines, and a transport for many calls at once.

A server on this machine is reached without a proxy. A call costs the same however many are under way. Settings have
checked the URLs before.
"""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections import deque
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any, Self
from urllib.parse import urlsplit

from koderz_core.addresses import LOOPBACK, is_loopback, secrets_of, url_of
from koderz_core.config import Settings
from koderz_core.redaction import MASK

_DEADLINE = "koderz_deadline"
_STREAMED = re.compile(rb'"stream" ?: ?true')  # no text in JSON holds that: its quotes have backslashes
_HERE = ("localhost", "::1", LOOPBACK)
_PORTS = {"http": 80, "https": 443}
# A network forgets a connection that is silent for long, as while a model thinks; the values are Anthropic's SDK's.
_ALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 60, "TCP_KEEPCNT": 5}


def connection(  # Any: a client's keyword arguments
    web: ModuleType,
    url: str,
    seconds: float,
    connect_seconds: float,
    silence_seconds: float,
) -> dict[str, Any]:
    """The arguments of a client of ``web`` (httpx or httpx2) whose answers from ``url`` are whole within ``seconds``.

    A streamed answer may be silent for ``silence_seconds``, before its first token and after. Any other silence
    is cut off after ``seconds`` of its own, so the last one may end that much later; and not covered are
    the look-up of a host's name and a server that drips the head of its answer.
    """
    in_time = _in_time(web)

    def begin(request: Any) -> None:  # Any: of either library
        request.extensions[_DEADLINE] = time.monotonic() + seconds
        if request.method == "POST" and _STREAMED.search(request.content):
            request.extensions["timeout"]["read"] = min(seconds, silence_seconds)

    def watch(response: Any) -> None:  # Any: as above
        response.stream = in_time(response.stream, response.request)

    # A transport of its own uses no proxy from the environment: none may see what stays on this machine.
    from urllib.request import getproxies  # noqa: PLC0415 (heavy, and on macOS it asks the system)

    straight = is_loopback(url) or not getproxies()
    return {
        "timeout": web.Timeout(seconds, connect=min(seconds, connect_seconds)),
        "follow_redirects": False,  # the address that the egress gate saw is the only one asked
        "event_hooks": {"request": [begin], "response": [watch]},
        **({"transport": Ways(web, secure=not url.startswith("http:"))} if straight else {}),
    }


def times(settings: Settings) -> tuple[float, float, float]:
    """The seconds that a whole answer, making a connection, and a silence in a streamed answer may take."""
    return settings.timeout, settings.connect_timeout, settings.first_token_timeout


def is_silence(error: BaseException) -> bool:
    """Whether an error means that nothing came for long, although there was still time for the whole answer."""
    if "ReadTimeout" not in type(error).__name__:
        return False
    request = getattr(error, "_request", None)
    return request is not None and time.monotonic() < request.extensions.get(_DEADLINE, 0.0)


@cache
def _in_time(web: ModuleType) -> Any:  # Any: a class of either library's kind
    """The body of an answer; it raises ``web.ReadTimeout`` as soon as something comes after the deadline.

    The clients look at what was said, so only here is seen what says nothing and yet keeps a call alive: pings,
    comments, white space.
    """

    class InTime(web.SyncByteStream):  # type: ignore[misc, name-defined] # each library insists on its own class
        def __init__(self, stream: Any, request: Any) -> None:  # Any: of either library
            self._stream, self._request = stream, request

        def __iter__(self) -> Iterator[bytes]:
            deadline = self._request.extensions[_DEADLINE]
            for part in self._stream:
                if time.monotonic() > deadline:
                    raise web.ReadTimeout("The answer takes too long.", request=self._request)
                yield part

        def close(self) -> None:
            self._stream.close()

    return InTime


def redact(url: str) -> str:
    """A base URL fit for a message: no user, password or query, and no key in its path."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{_path(url)}"


def identity(url: str) -> str:
    """The one spelling, fit for a message, of all that mean the same server; what is no address is its own."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return url
    port = None if port == _PORTS.get(parts.scheme) else port
    return url_of(LOOPBACK if host in _HERE else host, port, parts.scheme) + _path(url).rstrip("/")


def _path(url: str) -> str:
    secret = secrets_of(url)
    return "/".join(MASK if part in secret else part for part in urlsplit(url).path.split("/"))


def is_at(url: str | None, home: str) -> bool:
    """Whether an address is a publisher's own: on the host ``home`` or one below it. "" is nobody's home."""
    return bool(home) and f".{urlsplit(url or '').hostname}".endswith(f".{home}")


class Ways:
    """A transport for a client of ``web`` (httpx or httpx2), with a connection for each call under way, and no proxy.

    The libraries' own pool looks at every connection it has, twice for each call. Here each is in a pool of its own;
    the one that was used last is used next, so that those that are not needed any more expire. May be used from any
    thread.
    """

    def __init__(self, web: ModuleType, *, secure: bool = True) -> None:
        """``secure``: certificates may be needed; to read all that the system trusts takes longer than many calls."""
        self._web = web
        self._context = web.create_ssl_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._all: deque[Any] = deque()  # Any, here and below: of either library
        self._free: deque[Any] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def handle_request(self, request: Any) -> Any:
        way = self._taken()
        try:
            response = way.handle_request(request)
        except BaseException:
            self._free.append(way)
            raise
        response.stream = _returning(self._web)(response.stream, way, self._free)
        return response

    def close(self) -> None:
        """Close every connection, also where a call is under way."""
        for way in list(self._all):
            way.close()

    def _taken(self) -> Any:
        try:
            return self._free.pop()
        except IndexError:
            one = self._web.Limits(max_connections=1)
            way = self._web.HTTPTransport(verify=self._context, limits=one, socket_options=_options())
            self._all.append(way)
            return way


def _options() -> list[tuple[int, int, int]]:
    known = [(getattr(socket, name), value) for name, value in _ALIVE.items() if hasattr(socket, name)]
    return [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), *((socket.IPPROTO_TCP, name, value) for name, value in known)]


@cache
def _returning(web: ModuleType) -> Any:
    """The body of an answer; once it is closed, its way is free again."""

    class Returning(web.SyncByteStream):  # type: ignore[misc, name-defined] # each library insists on its own class
        def __init__(self, stream: Any, way: Any, free: deque[Any]) -> None:
            self._stream, self._ways, self._free = stream, [way], free

        def __iter__(self) -> Iterator[bytes]:
            return iter(self._stream)

        def close(self) -> None:
            try:
                self._stream.close()
            finally:
                self._free.extend(self._ways)
                self._ways = []  # it may be closed twice

    return Returning
