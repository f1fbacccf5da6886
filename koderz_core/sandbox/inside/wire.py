"""Plain data and frames: all that ever crosses between judge and candidate, as JSON, never pickle.

A frame is four bytes of length and that many bytes of JSON. Values are tagged, so that ``(1,)`` does not come back as
``[1]``; what is not plain data crosses as the name of its type only, and is then equal to nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from typing import Any

MAX_FRAME_BYTES = 16 << 20
MAX_DEPTH = 100
_INT64 = 1 << 63


class WireError(Exception):
    """What arrived is not a frame of this wire."""


class FrameTooLargeError(Exception):
    """A message is larger than a frame may be; ``size_bytes`` says how large."""

    def __init__(self, size_bytes: int) -> None:
        super().__init__(f"{size_bytes / 1e6:.0f} MB of data, at most {MAX_FRAME_BYTES / 1e6:.0f} MB are taken")
        self.size_bytes = size_bytes


class Channel:
    """One end of a two-way stream of JSON messages over two file descriptors."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self.read_fd = read_fd
        self.write_fd = write_fd

    def send(self, message: dict[str, Any]) -> None:  # Any: JSON
        """Raise FrameTooLargeError before anything is written, OSError if the other end is gone."""
        body = json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii")
        if len(body) > MAX_FRAME_BYTES:
            raise FrameTooLargeError(len(body))
        rest = memoryview(len(body).to_bytes(4, "big") + body)
        while rest:
            rest = rest[os.write(self.write_fd, rest) :]

    def receive(self) -> dict[str, Any]:  # Any: JSON of a hostile process; look before using it
        """The next message. Raise EOFError if the other end is gone, WireError for anything but a JSON object."""
        size_bytes = int.from_bytes(self._read(4), "big")
        if size_bytes > MAX_FRAME_BYTES:
            raise WireError(f"a message of {size_bytes / 1e6:.0f} MB")
        try:
            message = json.loads(self._read(size_bytes))
        except (ValueError, RecursionError) as error:
            raise WireError(f"a message that is not JSON ({type(error).__name__})") from None
        if not isinstance(message, dict):
            raise WireError("a message that is not an object")
        return message

    def _read(self, size_bytes: int) -> bytes:
        parts, missing = [], size_bytes
        while missing:
            part = os.read(self.read_fd, min(missing, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)


class Opaque:
    """Stands for a value that is not plain data. Equal to nothing, different from nothing, neither true nor false."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError(f"the program returned an object of type {self.kind}, which tests cannot look into")

    def __repr__(self) -> str:
        return f"<object of type {self.kind}>"


def encode(value: object, depth: int = 0) -> Any:  # Any: JSON
    """A value as JSON; subclasses of plain types become the plain type, anything else an opaque value.

    The methods are taken from the plain types, so that what a subclass says about itself does not count.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, float, complex)):
        return _encode_number(value)
    if isinstance(value, bytes):
        return {"bytes": bytes.hex(value)}
    return _encode_container(value, depth + 1)


def _encode_number(value: complex) -> Any:  # Any: JSON
    if isinstance(value, int):
        plain = int.__int__(value)
        return plain if -_INT64 <= plain < _INT64 else {"int": hex(plain)}
    if isinstance(value, float):
        return _encode_float(float.__float__(value))
    both = complex.__pos__(value)
    return {"complex": [_encode_float(both.real), _encode_float(both.imag)]}


def _encode_container(value: object, depth: int) -> Any:  # Any: JSON
    if isinstance(value, Opaque):
        return {"beyond": value.kind}
    if depth > MAX_DEPTH:
        return {"beyond": type(value).__name__[:100]}
    if isinstance(value, list):
        return _encode_items(list.__iter__(value), depth)
    if isinstance(value, dict):
        return {"dict": [[encode(key, depth), encode(item, depth)] for key, item in dict.items(value)]}
    return _encode_others(value, depth)


def _encode_others(value: object, depth: int) -> Any:  # Any: JSON
    if isinstance(value, tuple):
        return {"tuple": _encode_items(tuple.__iter__(value), depth)}
    if isinstance(value, set):
        return {"set": _encode_items(set.__iter__(value), depth)}
    if isinstance(value, frozenset):
        return {"frozenset": _encode_items(frozenset.__iter__(value), depth)}
    return {"opaque": type(value).__name__[:100]}


def _encode_items(items: Iterable[object], depth: int) -> list[Any]:  # Any: JSON
    return [encode(item, depth) for item in items]


def _encode_float(value: float) -> Any:  # Any: JSON
    finite = value - value == 0.0  # nan and the infinities have no JSON
    return value if finite else {"float": repr(value)}


def holds(encoded: Any, tag: str) -> bool:  # Any: JSON that encode made
    """Whether some part of an encoded value has this tag.

    ``opaque``: it was never plain data. ``beyond``: it came over a wire as opaque, or is nested too deeply.
    """
    if isinstance(encoded, dict):
        return tag in encoded or any(holds(content, tag) for content in encoded.values())
    return isinstance(encoded, list) and any(holds(item, tag) for item in encoded)


def decode(value: Any) -> object:  # Any: JSON of a hostile process
    """The value that ``encode`` was given, flattened. Raise WireError if it is not a value of this wire."""
    try:
        return _decode(value)
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        raise WireError(f"a value that cannot be read ({type(error).__name__})") from None


def _decode(value: Any) -> Any:  # Any: as above, and what came of it
    if isinstance(value, list):
        return [_decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    return _READERS[tag](content)


# Comprehensions, not set(...): adding hostile, colliding members one by one lets the deadline's signal in.
_READERS: dict[str, Callable[[Any], object]] = {  # Any: as above
    "int": lambda text: int(text, 16),
    "float": float,
    "bytes": bytes.fromhex,
    "complex": lambda parts: complex(_decode(parts[0]), _decode(parts[1])),
    "tuple": lambda items: tuple([_decode(item) for item in items]),
    "dict": lambda pairs: {_decode(key): _decode(item) for key, item in pairs},
    "set": lambda items: {_decode(item) for item in items},
    "frozenset": lambda items: frozenset({_decode(item) for item in items}),
    "opaque": lambda kind: Opaque(str(kind)[:100]),
    "beyond": lambda kind: Opaque(str(kind)[:100]),
}
