"""What a backup is: a zip of journals, pins, typed problems, settings and memories, and a manifest that tells of each.

The index, caches and weights are left out: koderz makes or fetches them anew.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from koderz_core.errors import DataError

FORMAT = 1
MANIFEST = "manifest.json"
MEMORIES = "cortex.db"
SETTINGS = ("settings.toml", "models.toml")
_NAMES = re.compile(
    r"journals/[A-Za-z0-9_-]{1,100}\.(jsonl|pin)|problems/typed-[0-9a-f]{12}\.jsonl|settings\.toml|models\.toml|cortex\.db",
    re.ASCII,
)
CHUNK_BYTES = 1 << 20
_MOST_MANIFEST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Kept:
    """One file of a backup. ``written_at``: when it was last written to, in seconds since 1970."""

    sha256: str
    size: Annotated[int, msgspec.Meta(ge=0)]
    written_at: Annotated[float, msgspec.Meta(ge=0, le=2**33)]


@dataclass(frozen=True, slots=True)
class Manifest:
    """``files`` by their place in the data folder; ``made_at``: seconds since 1970."""

    format: int
    koderz_version: str
    made_at: float
    files: Mapping[str, Kept]


def read_manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    """What a backup says it holds. Raises DataError if it is none, of a later koderz, or holds anything else."""
    try:
        told = archive.getinfo(MANIFEST)
        if told.file_size > _MOST_MANIFEST_BYTES:
            raise spoiled(path, "its manifest is too long")
        manifest = msgspec.json.decode(archive.read(MANIFEST), type=Manifest)
    except (KeyError, msgspec.DecodeError, UnicodeDecodeError, zipfile.BadZipFile, OSError, RuntimeError) as error:
        raise DataError(f"{path} is no backup of koderz. Name a file that `koderz backup` has written.") from error
    if manifest.format > FORMAT:
        raise DataError(
            f"{path} was written by a later koderz ({manifest.koderz_version}). Upgrade koderz, then restore it."
        )
    names = sorted(one.filename for one in archive.infolist())
    if names != sorted([MANIFEST, *manifest.files]):
        raise spoiled(path, "it holds other files than its manifest says")
    if foreign := [name for name in manifest.files if not _NAMES.fullmatch(name)]:
        raise spoiled(path, f"{foreign[0]!r} belongs into no data folder")
    return manifest


def spoiled(path: Path, why: str) -> DataError:
    """What to tell of a backup that is not as it was written."""
    return DataError(f"The backup {path} is damaged or was changed: {why}. Nothing of it was used. Take another one.")
