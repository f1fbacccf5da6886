"""Connections to a model server, so that a call costs the same however many are under way."""

from __future__ import annotations

import socket
import ssl
from collections import deque
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any, Self

# A network forgets a connection that is silent for long, as while a model thinks; the values are Anthropic's SDK's.
_ALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 60, "TCP_KEEPCNT": 5}


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
