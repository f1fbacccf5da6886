"""The parts of OTLP that traces and metrics share: receivers, and the JSON encoding of attributes and times.

64-bit integers are strings, as the encoding requires
(https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from koderz_core.addresses import address, secrets_of
from koderz_core.errors import UsageError
from koderz_core.redaction import SHORTEST

PROTOBUF = "application/x-protobuf"
Attribute = str | bool | int | float | Sequence[str]
Attributes = Mapping[str, Attribute | None]
"""None: unknown, and not written."""
Fields = dict[str, Any]  # Any: a JSON object
_LATEST = 1.8e10  # seconds: the field has 64 bits


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
        """What may be a key in the headers, such as the second word of ``Bearer KEY``, and in the address."""
        words = (word for value in self.headers.values() for word in (value, *value.split()))
        return (*(word for word in words if len(word) >= SHORTEST), *secrets_of(self.url))


@dataclass(frozen=True, slots=True)
class Signal:
    """A kind of data. ``path``: of an address without one. The others: what sets the address and the headers."""

    path: str
    address: str
    headers: str


TRACES = Signal("/v1/traces", "--endpoint", "--header")
METRICS = Signal("/v1/metrics", "KODERZ_METRICS_OTLP", "KODERZ_METRICS_OTLP_HEADERS")


def endpoint_of(url: str, headers: Sequence[str], signal: Signal) -> Endpoint:
    """The receiver of an address, which may lack its path, and of headers ``NAME=VALUE``. Raises UsageError."""
    try:
        parts = address(url)
    except ValueError as error:
        raise UsageError(f"{signal.address} is invalid: {error}.") from None
    if "@" in parts.netloc:
        raise UsageError(
            f"{signal.address} must not contain a user or password. Pass them in a header with {signal.headers}."
        )
    if parts.fragment:
        raise UsageError(f"{signal.address} must not contain a #. Write the address as http://HOST:PORT/PATH.")
    known = dict(_header(text, signal) for text in headers)
    return Endpoint((parts if parts.path else parts._replace(path=signal.path)).geturl(), known)


def _header(text: str, signal: Signal) -> tuple[str, str]:
    """The name and the value. The message never quotes them, because a value may be a key."""
    name, sign, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not (sign and re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name) and re.fullmatch(r"[\x20-\x7e]+", value)):
        raise UsageError(
            f"A header in {signal.headers} is invalid. Write it as NAME=VALUE, with ASCII characters only."
        )
    return name, value


def encoded(attributes: Attributes) -> list[Fields]:
    """Those attributes that are known."""
    return [{"key": name, "value": _value(value)} for name, value in attributes.items() if value is not None]


def nanoseconds(at: float) -> str:
    """A time in seconds since 1970, in nanoseconds."""
    return str(round(min(max(at, 0.0), _LATEST) * 1e9))


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
