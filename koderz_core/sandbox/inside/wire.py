"""Frames: all that ever crosses between judge and candidate, as JSON, never pickle.

A frame is four bytes of length and that many bytes of JSON; what values look like in it, ``values`` says.
"""

from __future__ import annotations

import json
import os
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
        body = _encode(message).encode("ascii")
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
            message = _decode(self._read(size_bytes).decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise WireError(f"a message that is not JSON ({type(error).__name__})") from None
        if not isinstance(message, dict):
            raise WireError("a message that is not an object")
        return message

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
