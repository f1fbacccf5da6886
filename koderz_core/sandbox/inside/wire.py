"""Frames, the only form of messages between judge and candidate: JSON, never pickle.

A frame is four bytes with a length and a JSON text of this length in bytes; ``values`` defines the encoding of values.
Answers to calls that came in one frame are lines instead, so that one read returns all that have arrived.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

MAX_FRAME_BYTES = 16 << 20
Json = Any
"""A JSON value. If it comes from a hostile process, check its type before using it."""
Message = dict[str, Json]


class WireError(Exception):
    """The data that arrived is not a frame of this wire."""


class FrameTooLargeError(Exception):
    """A message of ``size_bytes`` is larger than a frame may be."""

    def __init__(self, size_bytes: int) -> None:
        super().__init__(f"{size_bytes / 1e6:.0f} MB of data, at most {MAX_FRAME_BYTES / 1e6:.0f} MB are taken")
        self.size_bytes = size_bytes


_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False).encode  # values has no cycles
_decode = json.JSONDecoder().decode
_READ_BYTES = 1 << 16


class Channel:
    """One end of a two-way stream of JSON messages over two file descriptors."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self.read_fd = read_fd
        self.write_fd = write_fd
        self._ahead = b""  # bytes after the last frame

    def send(self, message: Message) -> None:
        """Send a frame. Raises FrameTooLargeError before anything is written, OSError if the other end is gone."""
        self.send_text(_encode(message))

    def send_text(self, message: str) -> None:
        """As ``send``, for JSON in ASCII."""
        body = _bounded(message)
        self._write(len(body).to_bytes(4, "big") + body)

    def send_line(self, message: Message) -> None:
        """As ``send``, for ``lines``."""
        self._write(_bounded(_encode(message)) + b"\n")

    def receive(self) -> Message:
        """The next message. Raises EOFError if the other end is gone, WireError for anything but a JSON object."""
        size_bytes = int.from_bytes(self._read(4), "big")
        if size_bytes > MAX_FRAME_BYTES:
            raise WireError(f"a message of {size_bytes / 1e6:.0f} MB")
        return _object(_parsed(self._read(size_bytes)))

    def lines(self) -> Iterator[Message]:
        """The messages of all lines that have arrived, at least one. They raise as ``receive`` after the valid ones."""
        lines = self._read_lines()
        try:
            messages = iter(_parsed(b"[%b]" % b",".join(lines)))
        except WireError:
            messages = map(_parsed, lines)
        return map(_object, messages)

    def close(self) -> None:
        for fd in {self.read_fd, self.write_fd}:
            os.close(fd)

    def _read(self, size_bytes: int) -> bytes:
        """Most frames are short, so that one read returns the length and the whole message."""
        parts, missing = [self._ahead], size_bytes - len(self._ahead)
        while missing > 0:
            part = os.read(self.read_fd, max(missing, _READ_BYTES))
            if not part:
                raise EOFError
            parts.append(part)
            missing -= len(part)
        whole = b"".join(parts)
        self._ahead = whole[size_bytes:]
        return whole[:size_bytes]

    def _read_lines(self) -> list[bytes]:
        parts, size_bytes = [self._ahead], len(self._ahead)
        while b"\n" not in parts[-1]:
            if size_bytes > MAX_FRAME_BYTES:
                raise WireError(f"a message of more than {MAX_FRAME_BYTES / 1e6:.0f} MB")
            parts.append(os.read(self.read_fd, _READ_BYTES))
            if not parts[-1]:
                raise EOFError
            size_bytes += len(parts[-1])
        lines = b"".join(parts).split(b"\n")
        self._ahead = lines.pop()
        return lines

    def _write(self, message: bytes) -> None:
        rest = memoryview(message)
        while rest:
            rest = rest[os.write(self.write_fd, rest) :]


def _bounded(message: str) -> bytes:
    if len(message) > MAX_FRAME_BYTES:
        raise FrameTooLargeError(len(message))
    return message.encode("ascii")


def _parsed(text: bytes) -> Json:
    try:
        return _decode(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise WireError(f"a message that is not JSON ({type(error).__name__})") from None


def _object(message: Json) -> Message:
    if not isinstance(message, dict):
        raise WireError("a message that is not an object")
    return message
