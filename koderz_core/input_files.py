"""Reads a file that the user names: a regular file or a pipe of the shell, of bounded size.

All such files are read here. A device such as ``/dev/zero`` never ends, and opening a pipe without a writer blocks
forever; both are refused before the first byte is read. Undecodable bytes and unencodable texts are refused as well.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import stat
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from koderz_core.errors import DataError

if TYPE_CHECKING:
    import tarfile

MOST_BYTES = 256 << 20
"""Limit for a dataset or a file of samples, packed and unpacked. The largest file that koderz downloads unpacks to
8 MB."""
MOST_TEXT_BYTES = 4 << 20
"""Limit for a file of settings or personas, or the source of a strategy."""

MOST_FAULTS = 20  # of one file, in a message

_BOM = b"\xef\xbb\xbf"
_SURROGATE = re.compile("[\ud800-\udfff]")
_DESCRIPTORS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")
"""The paths of pipes that the shell opens for a command: ``| koderz ...`` and ``koderz ... <(...)``."""
_OTHERS = {
    stat.S_IFIFO: "it is a named pipe",
    stat.S_IFDIR: "it is a folder",
    stat.S_IFCHR: "it is a device",
    stat.S_IFBLK: "it is a device",
    stat.S_IFSOCK: "it is a socket",
}


def expand_home(path: str | Path) -> Path:
    """The path with the home folder of a user instead of ``~``; unchanged if there is no such user."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 (Path.expanduser raises RuntimeError for an unknown user)


def require_file(path: Path, cure: str) -> None:
    """Raise DataError for everything but a regular file, which can be read in any order. ``cure``: what to do."""
    with _opened(path, cure) as file:
        if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            raise DataError(f"{path} cannot be read (it is a pipe). {cure}")


def read_bytes(path: Path, cure: str, most: int = MOST_BYTES) -> bytes:
    """The content of a file, or of a pipe of the shell up to its end.

    Raises DataError for anything else (such as a named pipe), for an unreadable file and for more than ``most`` bytes.
    """
    try:
        with _opened(path, cure) as file:
            content = file.read(most + 1)
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}). {cure}") from error
    return _bounded(content, path, most)


def read_unpacked(path: Path, cure: str, most: int = MOST_BYTES) -> bytes:
    """As ``read_bytes``; a file whose name ends with ``.gz`` is unpacked, also to at most ``most`` bytes."""
    content = read_bytes(path, cure, most)
    return unpacked(content, path, cure, most) if path.suffix == ".gz" else content


def read_member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    """The content of a regular file in an archive."""
    file = archive.extractfile(member)
    return file.read() if file else b""


def unpacked(content: bytes, path: Path, cure: str, most: int = MOST_BYTES) -> bytes:
    """The unpacked content of a gzip file, at most ``most`` bytes. Raises DataError, which names ``path``."""
    try:
        with gzip.open(BytesIO(content)) as file:
            return _bounded(file.read(most + 1), path, most)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} is not a complete gzip file ({error}). {cure}") from error


def read_text(path: Path, cure: str) -> str:
    """A short text in UTF-8, without its byte order mark. Raises as ``read_bytes``, and for another encoding."""
    return decoded(read_bytes(path, cure, MOST_TEXT_BYTES), path)


def decoded(content: bytes, path: Path) -> str:
    """The text of a file in UTF-8, without its byte order mark. Raises DataError for another encoding."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text (byte {error.start + 1} is invalid). Save it as UTF-8.") from error


def lines_in(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1 on. A byte order mark before the first is removed."""
    for number, line in enumerate(content.removeprefix(_BOM).split(b"\n"), start=1):
        if line.strip():
            yield number, line


def json_object(line: bytes) -> dict[str, Any]:  # Any: JSON
    """A line that holds a JSON object. Raises DataError, without the number of the line, if it is something else."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON: {error}") from error
    if not isinstance(row, dict):
        raise DataError("not a JSON object")
    return row


def listed_faults(faults: Sequence[str]) -> str:
    """The first faults of a file, each on a line of its own, and the number of all others."""
    shown = "".join(f"\n  {fault}" for fault in faults[:MOST_FAULTS])
    return shown + (f"\n  … and {len(faults) - MOST_FAULTS} more" if len(faults) > MOST_FAULTS else "")


def surrogate_in(text: str) -> str:
    """Why UTF-8 cannot encode a text, "" if it can. Such texts come from JSON, which allows half a character."""
    match = _SURROGATE.search(text)
    if match is None:
        return ""
    return f"character {match.start() + 1} is U+{ord(match[0]):04X}, a lone surrogate, which UTF-8 cannot encode"


@contextmanager
def _opened(path: Path, cure: str) -> Iterator[BufferedReader]:
    """Open a regular file or a pipe of the shell, without waiting for a writer."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError) as error:  # the second: a null character in the name
        raise DataError(f"{path} cannot be read ({getattr(error, 'strerror', error)}). {cure}") from error
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    piped = kind == stat.S_IFIFO and str(path.absolute()).startswith(_DESCRIPTORS)
    if kind != stat.S_IFREG and not piped:
        os.close(descriptor)
        raise DataError(f"{path} cannot be read ({_OTHERS.get(kind, 'it is not a file')}). {cure}")
    os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "rb") as file:
        yield file


def _bounded(content: bytes, path: Path, most: int) -> bytes:
    if len(content) <= most:
        return content
    raise DataError(
        f"{path} is too large: koderz reads at most {most >> 20} MB (for gzip files: after unpacking). Split the file."
    )
