"""Reading a file that a person names: a regular file or a pipe of the shell, of bounded size. The only way to read one.

A device such as ``/dev/zero`` never ends, and opening a pipe that nobody writes to waits for ever; both are decided
before the first byte is read. Bytes that are no text and texts that no file can hold are refused here too.
"""

from __future__ import annotations

import gzip
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, BytesIO
from pathlib import Path

from koderz_core.errors import DataError

MOST_BYTES = 256 << 20
"""Of a dataset or a file of samples, as it is and unpacked. The largest file that koderz fetches unpacks to 8 MB."""
MOST_TEXT_BYTES = 4 << 20
"""Of a file of settings or personas, or the source of a strategy."""

_BOM = b"\xef\xbb\xbf"
_SURROGATE = re.compile("[\ud800-\udfff]")
_DESCRIPTORS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""Where a command finds the pipes that its shell has opened for it: ``| koderz ...`` and ``koderz ... <(...)``."""
_OTHERS = {
    stat.S_IFIFO: "it is a named pipe",
    stat.S_IFDIR: "it is a folder",
    stat.S_IFCHR: "it is a device",
    stat.S_IFBLK: "it is a device",
    stat.S_IFSOCK: "it is a socket",
}


def require_file(path: Path, cure: str) -> None:
    """Raise DataError for all but a regular file, which can be read in any order. ``cure``: what to do."""
    with _opened(path, cure) as file:
        if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            raise DataError(f"{path} cannot be read (it is a pipe). {cure}")


def read_bytes(path: Path, cure: str, most: int = MOST_BYTES) -> bytes:
    """The content of a file or of a pipe that the shell opened, whose end is waited for.

    Raises DataError if it cannot be read, is neither (a named pipe is none), or is longer than ``most``.
    """
    try:
        with _opened(path, cure) as file:
            content = file.read(most + 1)
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}). {cure}") from error
    return _bounded(content, path, most)


def read_unpacked(path: Path, cure: str, most: int = MOST_BYTES) -> bytes:
    """As ``read_bytes``; a file whose name ends with ``.gz`` is unpacked, to at most ``most`` bytes too."""
    content = read_bytes(path, cure, most)
    if path.suffix != ".gz":
        return content
    try:
        with gzip.open(BytesIO(content)) as file:
            return _bounded(file.read(most + 1), path, most)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} is not a whole gzip file ({error}). {cure}") from error


def read_text(path: Path, cure: str) -> str:
    """A short text in UTF-8, without a byte order mark. Raises as ``read_bytes``, and for other bytes."""
    try:
        return read_bytes(path, cure, MOST_TEXT_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text (byte {error.start + 1}). Save it as UTF-8.") from error


def lines_in(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1 on, without a byte order mark before the first."""
    for number, line in enumerate(content.removeprefix(_BOM).split(b"\n"), start=1):
        if line.strip():
            yield number, line


def surrogate_in(text: str) -> str:
    """What is wrong with a text that UTF-8 cannot encode, "" if nothing is: JSON can write half a character."""
    found = _SURROGATE.search(text)
    if found is None:
        return ""
    return f"character {found.start() + 1} is U+{ord(found[0]):04X}, a lone surrogate, which UTF-8 cannot encode"


@contextmanager
def _opened(path: Path, cure: str) -> Iterator[BufferedReader]:
    """A regular file or a pipe of the shell. Opened without waiting for a writer, and read as any other file then."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError) as error:  # the second: a null character in the name
        raise DataError(f"{path} cannot be read ({getattr(error, 'strerror', error)}). {cure}") from error
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    piped = kind == stat.S_IFIFO and str(path.absolute()).startswith(_DESCRIPTORS)
    if kind != stat.S_IFREG and not piped:
        os.close(descriptor)
        raise DataError(f"{path} cannot be read ({_OTHERS.get(kind, 'it is no file')}). {cure}")
    os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "rb") as file:
        yield file


def _bounded(content: bytes, path: Path, most: int) -> bytes:
    if len(content) <= most:
        return content
    raise DataError(f"{path} is too long: at most {most >> 20} MB are read, unpacked. Divide it into several files.")
