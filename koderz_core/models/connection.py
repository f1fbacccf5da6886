"""HTTP connections to model servers: base URLs, deadlines, and a transport for many concurrent calls.

A server on this machine is reached without a proxy. The cost of a call does not depend on the number of calls under
way. The settings have checked the URLs before.
"""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, Self
from urllib.parse import urlsplit

from koderz_core.addresses import LOOPBACK, is_loopback, secrets_of, url_of
from koderz_core.config import Settings
from koderz_core.egress import traced
from koderz_core.proxies import proxies
from koderz_core.redaction import MASK

_DEADLINE = "koderz_deadline"
_STREAMED = re.compile(rb'"stream" ?: ?true')  # no text inside JSON contains this: its quotes are escaped
_HERE = ("localhost", "::1", LOOPBACK)
_PORTS = {"http": 80, "https": 443}
# Networks drop connections that are silent for long, as while a model thinks. The values are those of Anthropic's SDK.
_ALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 60, "TCP_KEEPCNT": 5}


def connection(  # Any: a client's keyword arguments
    web: ModuleType,
    url: str,
    seconds: float,
    connect_seconds: float,
    silence_seconds: float,
) -> dict[str, Any]:
    """The arguments of a client of ``web`` (httpx or httpx2) that gets whole answers from ``url`` within ``seconds``.

    A streamed answer may be silent for ``silence_seconds``, before and after its first token. Any other silence has a
    timeout of ``seconds`` of its own, so the last one may end that much later. Not covered: the look-up of a host
    name, and a server that sends the headers of its answer very slowly. Raises ConfigError for an invalid proxy.
    """
    in_time = _in_time(web)

    def begin(request: Any) -> None:  # Any: of either library
        turn = _TURN.get()
        whole = seconds if turn is None else min(seconds, turn.seconds)
        request.extensions[_DEADLINE] = time.monotonic() + whole
        traced(request)
        if request.method == "POST" and _STREAMED.search(request.content):
            request.extensions["timeout"]["read"] = min(whole, silence_seconds)
        elif whole < seconds:
            request.extensions["timeout"]["read"] = whole

    def watch(response: Any) -> None:  # Any: as above
        response.stream = in_time(response.stream, response.request)

    # A transport passed to a client ignores the proxies of the environment: none may see local traffic.
    straight = is_loopback(url) or not proxies()
    return {
        "timeout": web.Timeout(seconds, connect=min(seconds, connect_seconds)),
        "follow_redirects": False,  # only the address that passed the egress gate is asked
        "event_hooks": {"request": [begin], "response": [watch]},
        **({"transport": Transport(web, secure=not url.startswith("http:"))} if straight else {}),
    }


@dataclass(frozen=True, slots=True)
class _Turn:
    seconds: float
    deadline: float


_TURN: ContextVar[_Turn | None] = ContextVar("turn", default=None)


@contextmanager
def turn_limited(seconds: float | None) -> Iterator[None]:
    """Limits the answers that this thread requests inside to ``seconds``, if that is less than the client's limit."""
    turn = None if seconds is None else _Turn(seconds, time.monotonic() + seconds)
    token = _TURN.set(turn)
    try:
        yield
    finally:
        _TURN.reset(token)


def turn_is_over() -> bool:
    """Whether the time of the innermost ``turn_limited`` has passed; False without a limit."""
    turn = _TURN.get()
    return turn is not None and time.monotonic() >= turn.deadline


def times(settings: Settings) -> tuple[float, float, float]:
    """The timeouts in seconds of a whole answer, of connecting, and of a silence in a streamed answer."""
    return settings.timeout, settings.connect_timeout, settings.first_token_timeout


def without_environment(client: Any) -> None:  # Any: a client of OpenAI's or Anthropic's SDK
    """Remove the headers that the SDK took from the environment or from this machine: no server may see them.

    ``OPENAI_CUSTOM_HEADERS`` and ``ANTHROPIC_CUSTOM_HEADERS`` are not settings of koderz. The SDKs have no public way
    to ignore them.
    """
    client._custom_headers = {}
    client.platform_headers = dict  # facts about this machine


def is_silence(error: BaseException) -> bool:
    """Whether an error means that a pause was too long, although the whole answer still had time."""
    if "ReadTimeout" not in type(error).__name__:
        return False
    request = getattr(error, "_request", None)
    return request is not None and time.monotonic() < request.extensions.get(_DEADLINE, 0.0)


@cache
def _in_time(web: ModuleType) -> Any:  # Any: a class of either library's kind
    """The body of an answer, which raises ``web.ReadTimeout`` as soon as data arrives after the deadline.

    The clients see only content. Pings, comments and white space, which keep a call alive, are only seen here.
    """

    class InTime(web.SyncByteStream):  # type: ignore[misc, name-defined] # each library requires its own class
        def __init__(self, stream: Any, request: Any) -> None:  # Any: of either library
            self._stream, self._request = stream, request

        def __iter__(self) -> Iterator[bytes]:
            deadline = self._request.extensions[_DEADLINE]
            for part in self._stream:
                if time.monotonic() > deadline:
                    raise web.ReadTimeout("The answer was not complete within the timeout.", request=self._request)
                yield part

        def close(self) -> None:
            self._stream.close()

    return InTime


def redact(url: str) -> str:
    """A base URL for a message: without user, password and query, and without keys in its path."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{_path(url)}"


def identity(url: str) -> str:
    """One spelling, fit for a message, of all addresses of a server. Text that is not an address stays as it is."""
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
    """Whether an address is a publisher's own: on the host ``home`` or a subdomain. Always False for ""."""
    return bool(home) and f".{urlsplit(url or '').hostname}".endswith(f".{home}")


class Transport:
    """A transport for a client of ``web`` (httpx or httpx2), with a connection for each call under way, and no proxy.

    The pool of these libraries checks all its connections twice per call. Here each connection is in a pool of its own;
    the one that was used last is used next, so that the others expire if they are no longer needed. Thread-safe.
    """

    def __init__(self, web: ModuleType, *, secure: bool = True) -> None:
        """``secure``: certificates may be needed. Reading those that the system trusts takes longer than many calls."""
        self._web = web
        self._context = web.create_ssl_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._all: deque[Any] = deque()  # Any, here and below: of either library
        self._free: deque[Any] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def handle_request(self, request: Any) -> Any:
        connected = self._unused()
        try:
            response = connected.handle_request(request)
        except BaseException:
            self._free.append(connected)
            raise
        response.stream = _returning(self._web)(response.stream, connected, self._free)
        return response

    def close(self) -> None:
        """Close every connection, including those of calls under way."""
        for connected in list(self._all):
            connected.close()

    def _unused(self) -> Any:
        try:
            return self._free.pop()
        except IndexError:
            single = self._web.Limits(max_connections=1)
            connected = self._web.HTTPTransport(verify=self._context, limits=single, socket_options=_options())
            self._all.append(connected)
            return connected


def _options() -> list[tuple[int, int, int]]:
    known = [(getattr(socket, name), value) for name, value in _ALIVE.items() if hasattr(socket, name)]
    return [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), *((socket.IPPROTO_TCP, name, value) for name, value in known)]


@cache
def _returning(web: ModuleType) -> Any:
    """The body of an answer; closing it makes its connection available again."""

    class Returning(web.SyncByteStream):  # type: ignore[misc, name-defined] # each library requires its own class
        def __init__(self, stream: Any, connected: Any, free: deque[Any]) -> None:
            self._stream, self._connected, self._free = stream, [connected], free

        def __iter__(self) -> Iterator[bytes]:
            return iter(self._stream)

        def close(self) -> None:
            try:
                self._stream.close()
            finally:
                self._free.extend(self._connected)
                self._connected = []  # it may be closed twice

    return Returning
