"""Unpacks the zip of an untrusted log within limits, and packs what was read into a new one."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from struct import error as struct_error
from typing import NoReturn
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo
from zlib import error as zlib_error

from koderz_core.errors import DataError
from koderz_core.imports.fields import cut

MOST_FILES = 200_000
MOST_BYTES = 64 << 20  # of one file, unpacked
MOST_BYTES_TOGETHER = 1 << 30
_ZSTANDARD = 93  # newer versions of Inspect; the package teaches zipfile to read it
_METHODS = (ZIP_STORED, ZIP_DEFLATED, _ZSTANDARD)
_DAMAGED = (BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError, struct_error, zlib_error)


def repack(path: Path, content: bytes, copy: Path) -> None:
    """Write a zip with the files of ``content`` to ``copy``. ``path``: for messages. Raises DataError."""
    try:
        with ZipFile(BytesIO(content)) as archive, ZipFile(copy, "w", ZIP_DEFLATED, compresslevel=1) as made:
            entries = archive.infolist()
            if len(entries) > MOST_FILES:
                _refuse(path, f"it has {len(entries)} files, and at most {MOST_FILES} are allowed")
            if len({entry.filename for entry in entries}) < len(entries):
                _refuse(path, "it contains two files with the same name")
            left = MOST_BYTES_TOGETHER
            for entry in entries:
                left -= _move(path, archive, entry, made, min(MOST_BYTES, left))
    except _DAMAGED as fault:
        raise DataError(
            f"{path} is not a complete zip file, so it cannot be read as a log of Inspect: {fault}. Ask its author for "
            "another copy."
        ) from fault


def _move(path: Path, archive: ZipFile, entry: ZipInfo, made: ZipFile, most: int) -> int:
    """Copy a file, and return its size. The sizes in a zip may be false, so its bytes are counted."""
    if entry.compress_type not in _METHODS or entry.flag_bits & 1:
        _refuse(path, f"{cut(entry.filename)!r} is encrypted, or compressed with a method that Inspect does not use")
    with archive.open(entry) as file:
        content = file.read(most + 1)
    if len(content) > most:
        _refuse(
            path,
            f"it is too large when unpacked: at most {MOST_BYTES >> 20} MB in one file and "
            f"{MOST_BYTES_TOGETHER >> 20} MB in all files together are allowed",
        )
    try:
        json.loads(content)  # 100 kB of nested lists need tens of GB in the parser of Inspect; this one refuses them
    except (ValueError, RecursionError) as error:
        _refuse(path, f"{cut(entry.filename)!r} is not valid JSON: {error}")
    made.writestr(entry.filename, content)
    return len(content)


def _refuse(path: Path, why: str) -> NoReturn:
    raise DataError(f"{path} was refused: {why}. Ask its author for a valid or smaller log.")
