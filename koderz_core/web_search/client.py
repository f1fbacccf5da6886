"""Gets JSON from a site that is searched: bounded in time and size, with the pauses that the site asks for.

It follows no redirects, and writes addresses to no log, because they may contain a key.
"""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import msgspec

from koderz_core.addresses import endpoint
from koderz_core.config import Settings
from koderz_core.egress import trace
from koderz_core.errors import ConfigError, SearchError
from koderz_core.proxies import proxy_of

if TYPE_CHECKING:
    import httpx

SECONDS = 15.0
"""The time limit of one request, with its answer."""
MOST_BYTES = 1 << 20
"""Of an answer, before and after decompression."""
WAITS_SECONDS = (1.0, 2.0, 4.0)
"""Before each retry, unless the site asks for another wait."""
LONGEST_WAIT_SECONDS = 60.0
"""The longest wait that a site may ask for; GitHub counts searches per minute."""
RETRIED = frozenset({429, 502, 503, 504})
"""The statuses of a site that is busy."""


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: bytes
    wait_seconds: float | None


@dataclass(slots=True)
class Client:
    """One site. Callers take turns: one request at a time. ``setting``: what names its address."""

    settings: Settings
    base_url: str
    purpose: str
    headers: Mapping[str, str] = field(default_factory=dict)
    pause: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time  # seconds since 1970, as in the headers of a site
    _not_before: dict[str, float] = field(default_factory=dict)  # method -> time on the clock

    def get(self, method: str, path: str, parameters: Mapping[str, str]) -> dict[str, Any]:  # Any: JSON
        """The JSON object at a path. Raises SearchError, which shows no address, and OfflineError.

        ``method``: the site's name for this kind of request, to which its pauses apply.
        """
        self._wait(self._not_before.get(method, 0.0) - self.clock())
        answer = self._patiently(path, parameters)
        if answer.status != HTTPStatus.OK:
            raise SearchError(f"{self._site} answered {answer.status}{_named(answer.body)}.")
        try:
            reply = msgspec.json.decode(answer.body, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            raise SearchError(f"{self._site} did not answer with a JSON object.") from None
        if isinstance(backoff := reply.get("backoff"), int | float):  # Stack Exchange: before the same method again
            self._not_before[method] = self.clock() + backoff
        return reply

    def _patiently(self, path: str, parameters: Mapping[str, str]) -> _Answer:
        """The last answer; a site that is busy gets the same request again."""
        waits = [*WAITS_SECONDS]
        while True:
            answer = self._exchange(path, parameters)
            limited = answer.status == HTTPStatus.FORBIDDEN and answer.wait_seconds is not None  # GitHub's limits
            if not (waits and (answer.status in RETRIED or limited)):
                return answer
            usual = waits.pop(0)
            self._wait(usual if answer.wait_seconds is None else answer.wait_seconds)

    def _wait(self, seconds: float) -> None:
        if seconds > LONGEST_WAIT_SECONDS:
            raise SearchError(f"{self._site} allows no further search for {seconds:.0f} s.")
        if seconds > 0:
            self.pause(seconds)

    def _exchange(self, path: str, parameters: Mapping[str, str]) -> _Answer:
        import httpx  # noqa: PLC0415 (heavy)

        url = f"{self.base_url}/{path}"
        self.settings.check_egress(url, self.purpose)
        extensions = {"timeout": httpx.Timeout(SECONDS).as_dict(), "trace": trace}
        headers = {"User-Agent": "koderz", "Accept-Encoding": "gzip", **self.headers}
        try:  # a transport instead of a client, which would log the address and follow redirects
            request = httpx.Request("GET", url, params=dict(parameters), headers=headers, extensions=extensions)
            with httpx.HTTPTransport(proxy=proxy_of(url)) as transport:
                answer = transport.handle_request(request)
                try:
                    body = self._body(answer)
                finally:
                    answer.close()
        except ConfigError as error:
            raise SearchError(f"{self._site} cannot be searched: {error}") from None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise SearchError(f"{self._site} cannot be searched ({type(error).__name__}).") from None
        return _Answer(answer.status_code, body, _wanted_wait(answer.headers, self.now()))

    def _body(self, answer: httpx.Response) -> bytes:
        compressed = answer.headers.get("content-encoding", "").lower() in ("gzip", "deflate", "x-gzip")
        parts: Iterable[bytes] = answer.iter_raw()
        deadline, raw = self.clock() + SECONDS, bytearray()
        for part in parts:
            raw += part
            if len(raw) > MOST_BYTES:
                raise SearchError(f"{self._site} sent more than {MOST_BYTES:,} bytes.")
            if self.clock() > deadline:
                raise SearchError(f"{self._site} took longer than {SECONDS:g} s.")
        return self._inflated(bytes(raw)) if compressed else bytes(raw)

    def _inflated(self, raw: bytes) -> bytes:
        inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)  # 32: either gzip or zlib
        try:
            body = inflate.decompress(raw, MOST_BYTES)
        except zlib.error:
            raise SearchError(f"{self._site} sent a response that cannot be decompressed.") from None
        if inflate.unconsumed_tail:
            raise SearchError(f"{self._site} sent more than {MOST_BYTES:,} bytes.")
        return body

    @property
    def _site(self) -> str:
        return endpoint(self.base_url)


def _wanted_wait(headers: Mapping[str, str], now: float) -> float | None:
    """The wait in seconds that a site asks for, None if it asks for none. A date is not read.

    GitHub names the time at which its limit is reset instead. The clocks may differ, so this wait is bounded. Source:
    https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api.
    """
    if re.fullmatch(r"\d{1,9}", text := headers.get("retry-after", "")):
        return float(text)
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and re.fullmatch(r"\d{1,12}", reset):
        return min(max(float(reset) - now + 1, 1.0), LONGEST_WAIT_SECONDS)
    return None


def _named(body: bytes) -> str:
    """The site's own word for an error, such as ``throttle_violation``; other texts may quote the request."""
    match = re.search(rb'"error_name" ?: ?"([a-z_]{1,40})"', body[:MOST_BYTES])
    return f" ({match[1].decode()})" if match else ""
