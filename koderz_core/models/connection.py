"""How every model server is connected to: straight where it is on this machine, without detours, and in time."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

from koderz_core.addresses import is_loopback
from koderz_core.config import Settings
from koderz_core.models.ways import Ways

_DEADLINE = "koderz_deadline"
_STREAMED = re.compile(rb'"stream" ?: ?true')  # no text in JSON holds that: its quotes have backslashes


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
