"""A folder of what koderz can compute anew: one JSON file per record, named by a hash of what it was computed from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

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
        """Keep a record if there is room for it, and hand it through: on a full disk it is computed anew next time."""
        path = self._path(parts)
        part = path.with_suffix(".part")  # what a killed process left has the same name, so that it goes with this one
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(msgspec.json.encode(record))
            part.replace(path)  # two at once may spoil it, and then it is computed once more
        return record

    def _path(self, parts: Sequence[object]) -> Path:
        return self._folder / f"{hashlib.sha256(msgspec.json.encode(parts)).hexdigest()}.json"
