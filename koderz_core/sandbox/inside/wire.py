"""Frames: all that ever crosses between judge and candidate, as JSON, never pickle.

A frame is four bytes of length and that many bytes of JSON; what values look like in it, ``values`` says. Answers to
calls that came in one frame are lines instead: those that are there are read all at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

MAX_FRAME_BYTES = 16 << 20


class WireError(Exception):
    """What arrived is not a frame of this wire."""


class FrameTooLargeError(Exception):
    """A message is larger than a frame may be; ``size_bytes`` says how large."""

    def __init__(self, size_bytes: int) -> None:
        super().__init__(f"{size_bytes / 1e6:.0f} MB of data, at most {MAX_FRAME_BYTES / 1e6:.0f} MB are taken")
        self.size_bytes = size_bytes


_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False).encode  # values has none
_decode = json.JSONDecoder().decode
_READ_BYTES = 1 << 16


class Channel:
    """One end of a two-way stream of JSON messages over two file descriptors."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self.read_fd = read_fd
        self.write_fd = write_fd
        self._ahead = b""  # what was read beyond a frame

    def send(self, message: dict[str, Any]) -> None:  # Any: JSON
        """Raise FrameTooLargeError before anything is written, OSError if the other end is gone."""
        self.send_text(_encode(message))

    def send_text(self, message: str) -> None:
        """As ``send``, of JSON in ASCII."""
        body = _bounded(message)
        self._write(len(body).to_bytes(4, "big") + body)

    def send_line(self, message: dict[str, Any]) -> None:  # Any: JSON
        """As ``send``, for ``lines``."""
        self._write(_bounded(_encode(message)) + b"\n")

    def receive(self) -> dict[str, Any]:  # Any: JSON of a hostile process; look before using it
        """The next message. Raise EOFError if the other end is gone, WireError for anything but a JSON object."""
        size_bytes = int.from_bytes(self._read(4), "big")
        if size_bytes > MAX_FRAME_BYTES:
            raise WireError(f"a message of {size_bytes / 1e6:.0f} MB")
        return _object(_parsed(self._read(size_bytes)))

    def lines(self) -> Iterator[dict[str, Any]]:  # Any: as above
        """The messages of all lines that are there, at least one. Raise as ``receive``, after those before it."""
        lines = self._read_lines()
        try:
            messages = iter(_parsed(b"[%b]" % b",".join(lines)))
        except WireError:
            messages = map(_parsed, lines)
        yield from map(_object, messages)

    def close(self) -> None:
        for fd in {self.read_fd, self.write_fd}:
            os.close(fd)

    def _read(self, size_bytes: int) -> bytes:
        """Most frames are short: one look brings the length and all of the message."""
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


def _parsed(text: bytes) -> Any:  # Any: JSON of a hostile process
    try:
        return _decode(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise WireError(f"a message that is not JSON ({type(error).__name__})") from None


def _object(message: Any) -> dict[str, Any]:  # Any: as above
    if not isinstance(message, dict):
        raise WireError("a message that is not an object")
    return message
