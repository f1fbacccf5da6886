"""The parts of OTLP that traces and metrics share: receivers and their answers, the JSON of attributes and times.

64-bit integers are strings, as the encoding requires
(https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult

from koderz_core.addresses import address, secrets_of
from koderz_core.redaction import SHORTEST
from koderz_core.times import clamp

if TYPE_CHECKING:
    import httpx

_PROTOBUF = "application/x-protobuf"
_PIECES = 16  # of an answer's body, which has a few bytes
Attribute = str | bool | int | float | Sequence[str]
Attributes = Mapping[str, Attribute | None]
"""None: unknown, and not written."""
Fields = dict[str, Any]  # Any: a JSON object


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A receiver. ``url``: its address for one kind of data. ``headers`` may be secret."""

    url: str
    headers: Mapping[str, str] = field(repr=False)

    @property
    def shown(self) -> str:
        """The address without its path and query, which may contain keys."""
        parts = address(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What may be a key in the headers and in the address."""
        return (*secret_words(self.headers.values()), *secrets_of(self.url))


def secret_words(values: Iterable[str]) -> tuple[str, ...]:
    """What may be a key in the values of headers, such as the second word of ``Bearer KEY``."""
    words = (word for value in values for word in (value, *value.split()))
    return tuple(word for word in words if len(word) >= SHORTEST)


def receiver(text: str) -> SplitResult:
    """The parts of the address of a receiver. Raises ValueError, which does not quote it."""
    parts = address(text)
    if "@" in parts.netloc:
        raise ValueError("the address must not contain a user name or a password. Pass both in a header")
    if parts.fragment:
        raise ValueError("the address must not contain a #. Write it as http://HOST:PORT/PATH")
    return parts


def receiver_address(text: str) -> str:
    """The address of a receiver, "" for none. Raises ValueError."""
    return receiver(text).geturl() if text.strip() else ""


def header(text: str) -> tuple[str, str]:
    """The name and the value in ``NAME=VALUE``. Raises ValueError, which does not quote it: a value may be a key."""
    name, sign, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not (sign and re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name) and re.fullmatch(r"[\x20-\x7e]+", value)):
        raise ValueError("a header is invalid. Write it as NAME=VALUE, with ASCII characters only")
    return name, value


def endpoint(parts: SplitResult, path: str, headers: Iterable[tuple[str, str]]) -> Endpoint:
    """The receiver of one kind of data. ``path``: that of an address without one."""
    return Endpoint((parts if parts.path else parts._replace(path=path)).geturl(), dict(headers))


def exchange(
    transport: httpx.HTTPTransport, to: Endpoint, body: bytes, seconds: float, trace: Callable[..., None]
) -> tuple[httpx.Response, bytes]:
    """Post a message once; the answer and the beginning of its body. Raises HTTPError if there is no answer.

    ``trace`` receives the events of the connection. The transport, unlike a client, logs no address and follows no
    redirect.
    """
    import httpx  # noqa: PLC0415 (heavy)

    headers = httpx.Headers({"User-Agent": "koderz", **to.headers})
    headers["Content-Type"] = _PROTOBUF
    extensions = {"timeout": httpx.Timeout(seconds).as_dict(), "trace": trace}
    request = httpx.Request("POST", to.url, headers=headers, content=body, extensions=extensions)
    answer = transport.handle_request(request)
    content = b"".join(islice(answer.iter_bytes(), _PIECES))
    answer.close()
    return answer, content


def parsed(answer: Any, kind: str, content: bytes) -> None:  # Any: a generated message
    """Read the answer of a receiver into its message. An empty answer accepts everything. Raises ValueError."""
    from google.protobuf.json_format import Parse, ParseError  # noqa: PLC0415 (optional, heavy)
    from google.protobuf.message import DecodeError  # noqa: PLC0415 (as above)

    try:
        if "json" in kind:
            Parse(content, answer, ignore_unknown_fields=True)
        elif content and "protobuf" not in kind:
            raise DecodeError
        else:
            answer.ParseFromString(content)
    except (DecodeError, ParseError, ValueError, RecursionError):
        raise ValueError("its answer is not a valid OTLP response") from None


def encoded(attributes: Attributes) -> list[Fields]:
    """Those attributes that are known."""
    return [{"key": name, "value": _value(value)} for name, value in attributes.items() if value is not None]


def nanoseconds(at: float) -> str:
    """A time in seconds since 1970, in nanoseconds."""
    return str(round(clamp(at) * 1e9))


def _value(value: Attribute) -> Fields:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value if math.isfinite(value) else str(value)}
        case str():
            return {"stringValue": value}
    return {"arrayValue": {"values": [_value(item) for item in value]}}
