"""A folder of what koderz can compute anew: one JSON file per record, named by a hash of what it was computed from."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from koderz_core.errors import DataError

Record = TypeVar("Record")


class Kept:
    """The folder may be removed at any time. Safe to use from several threads and processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, parts: Sequence[object], kind: type[Record]) -> Record | None:
        """What was kept under these parts; None if there is nothing yet, or it was spoiled."""
        try:
            return msgspec.json.decode(self._path(parts).read_bytes(), type=kind)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def put(self, parts: Sequence[object], record: Record) -> Record:
        """Keep a record, and hand it through. Raises DataError if it cannot be written."""
        path = self._path(parts)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, msgspec.json.encode(record))
        except OSError as error:
            raise DataError(f"{path} cannot be written ({error.strerror}). Choose another --data-dir.") from error
        return record

    def _path(self, parts: Sequence[object]) -> Path:
        return self._folder / f"{hashlib.sha256(msgspec.json.encode(parts)).hexdigest()}.json"


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all, also when two processes write the same."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)  # there is none left once it has replaced the other
