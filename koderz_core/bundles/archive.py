"""A bundle as a zip file: the same files always give the same bytes, and reading does not trust any of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from stat import S_IFMT, S_IFREG
from struct import error as struct_error
from typing import NoReturn
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo
from zlib import error as zlib_error

from koderz_core.errors import DataError
from koderz_core.input_files import require_file

MOST_FILES = 200_000
MOST_BYTES = 96 << 20  # of one file, unpacked
MOST_BYTES_TOGETHER = 1 << 30
MOST_RATIO = 200  # unpacked to packed: journals reach 15, zip bombs 1000
SMALL_BYTES = 1 << 20  # up to this size any ratio is allowed
_PIECE = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
_REGULAR = 0o100644 << 16
_DAMAGED = (BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError, struct_error, zlib_error)


@dataclass(frozen=True, slots=True)
class BundleFile:
    """A file in a bundle. ``full_size``: its size before it was truncated. ``is_code``: it belongs to a program."""

    path: str
    content: bytes
    full_size: int
    is_code: bool = False

    @property
    def truncated(self) -> bool:
        return len(self.content) < self.full_size


def packed(files: Sequence[BundleFile], comment: str) -> bytes:
    """A zip of the files in this order. ``comment``: a description that can be read without unpacking.

    Raises DataError for files that are too large or too many for ``unpacked``.
    """
    _require_limits(files)
    written = BytesIO()
    with ZipFile(written, "w") as archive:
        for file in files:
            entry = ZipInfo(file.path)  # the first date that a zip can have, for every file
            entry.create_system, entry.external_attr = 3, _REGULAR  # POSIX, on every system
            archive.writestr(entry, file.content, ZIP_DEFLATED, compresslevel=9)
        archive.comment = comment.encode()
    return written.getvalue()


def _require_limits(files: Sequence[BundleFile]) -> None:
    largest, together = max(len(file.content) for file in files), sum(len(file.content) for file in files)
    if len(files) > MOST_FILES or largest > MOST_BYTES or together > MOST_BYTES_TOGETHER:
        raise DataError(
            f"The benchmark is too large for a bundle: it would have {len(files)} files with {together} bytes, the "
            f"largest with {largest} bytes. At most {MOST_FILES} files, {MOST_BYTES_TOGETHER} bytes, and {MOST_BYTES} "
            "bytes in one file are allowed. Bundles with the privacy level public_safe have the fewest files. To share "
            "the benchmark without a bundle, share its journal. Unlike a bundle, a journal contains all texts unmasked."
        )


def unpacked(path: Path) -> Mapping[str, bytes]:
    """The content of every file by its name. Raises DataError, with the file's name, for content no bundle can have."""
    require_file(path, "Give the path of a bundle that `koderz bundle` created.")
    try:
        with ZipFile(path) as archive:
            entries = archive.infolist()
            _check_together(path, entries)
            return {entry.filename: _read(path, archive, entry) for entry in entries}
    except _DAMAGED as fault:
        raise DataError(f"{path.name} cannot be read as a bundle: {fault}. Ask its author for another copy.") from fault


def _check_together(path: Path, entries: list[ZipInfo]) -> None:
    if len(entries) > MOST_FILES:
        _refuse(path, f"it has {len(entries)} files; at most {MOST_FILES} are allowed")
    seen: set[str] = set()
    for entry in entries:
        _check(path, entry)
        if entry.filename.lower() in seen:
            _refuse(path, f"it contains {entry.filename!r} twice")
        seen.add(entry.filename.lower())
    if (together := sum(entry.file_size for entry in entries)) > MOST_BYTES_TOGETHER:
        _refuse(path, f"its files have {together} bytes when unpacked; at most {MOST_BYTES_TOGETHER} are allowed")


def _check(path: Path, entry: ZipInfo) -> None:
    name, mode = entry.filename, entry.external_attr >> 16
    if not _NAME.fullmatch(name) or name != entry.orig_filename or len(name) > 200:
        why = "because a file with this name could be unpacked outside the target folder"
        _refuse(path, f"the file name {name[:100]!r} is not valid in a bundle, {why}")
    if S_IFMT(mode) not in (0, S_IFREG):  # no type means a regular file
        _refuse(path, f"{name!r} is not a regular file")
    if entry.flag_bits & 1 or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        _refuse(path, f"{name!r} is encrypted, or compressed with a method that bundles do not use")
    if entry.file_size > MOST_BYTES:
        _refuse(path, f"{name!r} has {entry.file_size} bytes; at most {MOST_BYTES} are allowed")
    if entry.file_size > max(SMALL_BYTES, MOST_RATIO * entry.compress_size):
        _refuse(path, f"{name!r} expands from {entry.compress_size} to {entry.file_size} bytes: it may be a zip bomb")


def _read(path: Path, archive: ZipFile, entry: ZipInfo) -> bytes:
    """Read a file and count its bytes, because the sizes in a zip may be false."""
    pieces, left = [], entry.file_size
    with archive.open(entry) as file:
        while piece := file.read(_PIECE):
            left -= len(piece)
            if left < 0:
                _refuse(path, f"{entry.filename!r} is longer than its stated size")
            pieces.append(piece)
    return b"".join(pieces)


def _refuse(path: Path, why: str) -> NoReturn:
    raise DataError(f"{path.name} was refused: {why}. Ask the author for a valid bundle.")
