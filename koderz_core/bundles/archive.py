"""A bundle as bytes: written so that the same files are always the same bytes, read without trusting any of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from stat import S_IFMT, S_IFREG
from struct import error as struct_error
from typing import NoReturn
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo
from zlib import error as zlib_error

from koderz_core.bundles.contents import BundleFile
from koderz_core.errors import DataError
from koderz_core.input_files import require_file

MOST_FILES = 200_000
MOST_BYTES = 96 << 20  # of one file, unpacked
MOST_BYTES_TOGETHER = 1 << 30
MOST_RATIO = 200  # unpacked to packed: journals reach 15, text that was made to explode 1000
SMALL_BYTES = 1 << 20  # below it no ratio matters
_PIECE = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
_REGULAR = 0o100644 << 16
_DAMAGED = (BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError, struct_error, zlib_error)


def packed(files: Iterable[BundleFile], comment: str) -> bytes:
    """A zip of them in this order; ``comment`` says what it is, to be read without unpacking."""
    made = BytesIO()
    with ZipFile(made, "w") as archive:
        for file in files:
            entry = ZipInfo(file.path)  # the first date that a zip can have, for every file
            entry.create_system, entry.external_attr = 3, _REGULAR  # of POSIX, whatever this system is
            archive.writestr(entry, file.content, ZIP_DEFLATED, compresslevel=9)
        archive.comment = comment.encode()
    return made.getvalue()


def unpacked(path: Path) -> Mapping[str, bytes]:
    """The content of every file by its name. Raises DataError for what no bundle of koderz has, naming the file."""
    require_file(path, "Name a bundle that `koderz bundle` has written.")
    try:
        with ZipFile(path) as archive:
            entries = archive.infolist()
            _check_together(path, entries)
            return {entry.filename: _read(path, archive, entry) for entry in entries}
    except _DAMAGED as fault:
        raise DataError(f"{path.name} cannot be read as a bundle: {fault}. Ask whoever made it for another.") from fault


def _check_together(path: Path, entries: list[ZipInfo]) -> None:
    if len(entries) > MOST_FILES:
        _refuse(path, f"it has {len(entries)} files, more than {MOST_FILES}")
    seen: set[str] = set()
    for entry in entries:
        _check(path, entry)
        if entry.filename.lower() in seen:
            _refuse(path, f"{entry.filename!r} stands in it twice")
        seen.add(entry.filename.lower())
    if (together := sum(entry.file_size for entry in entries)) > MOST_BYTES_TOGETHER:
        _refuse(path, f"unpacked it has {together} bytes, more than {MOST_BYTES_TOGETHER}")


def _check(path: Path, entry: ZipInfo) -> None:
    name, mode = entry.filename, entry.external_attr >> 16
    if not _NAME.fullmatch(name) or name != entry.orig_filename or len(name) > 200:
        _refuse(path, f"{name[:100]!r} in it is no name of a file in a bundle: it could lead elsewhere")
    if S_IFMT(mode) not in (0, S_IFREG):  # nothing said is a plain file
        _refuse(path, f"{name!r} in it is no plain file")
    if entry.flag_bits & 1 or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        _refuse(path, f"{name!r} in it is packed in a way that bundles are not")
    if entry.file_size > MOST_BYTES:
        _refuse(path, f"{name!r} in it has {entry.file_size} bytes, more than {MOST_BYTES}")
    if entry.file_size > max(SMALL_BYTES, MOST_RATIO * entry.compress_size):
        _refuse(path, f"{name!r} in it unpacks to {entry.file_size} bytes out of {entry.compress_size}: a bomb")


def _read(path: Path, archive: ZipFile, entry: ZipInfo) -> bytes:
    """What a zip says of its sizes need not be true, so it is counted."""
    pieces, left = [], entry.file_size
    with archive.open(entry) as file:
        while piece := file.read(_PIECE):
            left -= len(piece)
            if left < 0:
                _refuse(path, f"{entry.filename!r} in it is longer than it says")
            pieces.append(piece)
    return b"".join(pieces)


def _refuse(path: Path, why: str) -> NoReturn:
    raise DataError(f"{path.name} was refused: {why}. Nothing of it was used. Ask whoever made it what it is.")
