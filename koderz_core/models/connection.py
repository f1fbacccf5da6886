"""How every model server is connected to: straight where it is on this machine, without detours, and in time."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from koderz_core.addresses import is_loopback
from koderz_core.config import Settings

_DEADLINE = "koderz_deadline"


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
    # A transport of its own uses no proxy from the environment: none may see what stays on this machine.
    straight = {"transport": web.HTTPTransport(limits=web.Limits(max_keepalive_connections=None))}

    def begin(request: Any) -> None:  # Any: of either library
        request.extensions[_DEADLINE] = time.monotonic() + seconds
        if _is_streamed(request):
            request.extensions["timeout"]["read"] = min(seconds, silence_seconds)

    def watch(response: Any) -> None:  # Any: as above
        response.stream = _in_time(web, response)

    return {
        "timeout": web.Timeout(seconds, connect=min(seconds, connect_seconds)),
        "follow_redirects": False,  # the address that the egress gate saw is the only one asked
        "event_hooks": {"request": [begin], "response": [watch]},
        **(straight if is_loopback(url) else {}),
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


def _is_streamed(request: Any) -> bool:  # Any: of either library
    if request.method != "POST":
        return False
    asked = json.loads(request.content)
    return isinstance(asked, dict) and asked.get("stream") is True


def _in_time(web: ModuleType, response: Any) -> Any:  # Any: of either library
    """The body of an answer; it raises ``web.ReadTimeout`` as soon as something comes after the deadline.

    The clients look at what was said, so only here is seen what says nothing and yet keeps a call alive: pings,
    comments, white space.
    """
    stream, request = response.stream, response.request

    class InTime(web.SyncByteStream):  # type: ignore[misc, name-defined] # each library insists on its own class
        def __iter__(self) -> Iterator[bytes]:
            for part in stream:
                if time.monotonic() > request.extensions[_DEADLINE]:
                    raise web.ReadTimeout("The answer takes too long.", request=request)
                yield part

        def close(self) -> None:
            stream.close()

    return InTime()
