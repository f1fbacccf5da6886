"""Restoring a backup, and the format of a backup: a zip of files with a manifest that describes each.

It holds journals, pins, typed problems, settings and memories; the index, caches and weights are left out, as koderz
makes or fetches them anew. Every file is checked before the first one is put into place; nothing is overwritten.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from koderz_core.config import PROGRAMS
from koderz_core.errors import DataError, UsageError
from koderz_core.files import sha256_of, sync
from koderz_core.input_files import require_file

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
class FileEntry:
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
    files: Mapping[str, FileEntry]


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """Names of what was put into the data folder, and of what was there already, byte for byte."""

    manifest: Manifest
    put: tuple[str, ...]
    there: tuple[str, ...]


def verify(path: Path) -> Manifest:
    """Read a whole backup; what its manifest says. Raises DataError if any byte of it is wrong."""
    with _opened(path) as archive:
        manifest = read_manifest(archive, path)
        for name, kept in manifest.files.items():
            _check(archive, name, kept, path)
    return manifest


def restore(path: Path, home: Path, memories: Path) -> RestoreReport:
    """Put what a backup holds into the data folder ``home``; its memories become the file ``memories``.

    Raises UsageError if something else stands there already, DataError; then nothing was put there.
    """
    try:
        with _opened(path) as archive:
            manifest = read_manifest(archive, path)
            targets = {name: memories if name == MEMORIES else home / name for name in manifest.files}
            there = [name for name, kept in manifest.files.items() if _is_there(targets[name], kept)]
            _refuse({name: target for name, target in targets.items() if name not in there and target.exists()})
            home.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=home, prefix="restore-") as folder:
                put = {name: kept for name, kept in manifest.files.items() if name not in there}
                for name, kept in manifest.files.items():
                    _check(archive, name, kept, path, Path(folder) / name if name in put else None)
                _refuse_programs(Path(folder) / "settings.toml", path)
                for name in put:
                    _put(Path(folder) / name, targets[name])
    except OSError as error:
        raise DataError(
            f"{path} cannot be restored into {home} ({error.strerror or error}). Make room there, or name another "
            "--data-dir, then restore again: what is there already is passed over."
        ) from error
    return RestoreReport(manifest, tuple(put), tuple(there))


def _opened(path: Path) -> zipfile.ZipFile:
    require_file(path, "Name a file that `koderz backup` has written.")
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} cannot be read as a backup ({error}). Take another one.") from error


def _is_there(target: Path, kept: FileEntry) -> bool:
    if not target.is_file() or target.stat().st_size != kept.size:
        return False
    return sha256_of(target) == kept.sha256


def _refuse(conflicts: dict[str, Path]) -> None:
    if conflicts:
        named = ", ".join(list(conflicts)[:5]) + (f" and {len(conflicts) - 5} more" if len(conflicts) > 5 else "")
        raise UsageError(
            f"Something else is there already: {named}. Nothing was restored, for nothing is ever overwritten. Restore "
            "into an empty folder with --data-dir, or move what is there away."
        )


def _refuse_programs(settings: Path, path: Path) -> None:
    """A backup that somebody else has made must not choose a program that koderz starts."""
    try:
        told = tomllib.loads(settings.read_text("utf-8-sig")) if settings.exists() else {}
    except ValueError as error:
        raise damaged(path, f"settings.toml is not valid TOML ({error})") from error
    if named := sorted(PROGRAMS.intersection(told)):
        raise damaged(path, f"its settings.toml sets {named[0]}, a program, which no backup does")


def _check(archive: zipfile.ZipFile, name: str, kept: FileEntry, path: Path, copy: Path | None = None) -> None:
    """Read one file to its end, into ``copy`` if that is given. Raises DataError for a byte too many, few or wrong."""
    digest, size = hashlib.sha256(), 0
    try:
        with _writing(copy) as write:
            for chunk in _chunks(archive, name):
                size += len(chunk)
                if size > kept.size:
                    break
                digest.update(chunk)
                write(chunk)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise damaged(path, f"{name} cannot be read ({error})") from error
    if size != kept.size or digest.hexdigest() != kept.sha256:
        raise damaged(path, f"{name} is not what its manifest says")
    if copy:
        os.utime(copy, (kept.written_at, kept.written_at))


def _chunks(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    with archive.open(name) as member:
        while chunk := member.read(CHUNK_BYTES):
            yield chunk


@contextmanager
def _writing(copy: Path | None) -> Iterator[Callable[[bytes], object]]:
    """What is given goes into a new file, or nowhere; it is on the disk when this is over."""
    if copy is None:
        yield len
        return
    copy.parent.mkdir(parents=True, exist_ok=True)
    with copy.open("xb") as file:
        yield file.write
        sync(file)


def _put(copy: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():  # it came there meanwhile
        raise UsageError(f"{target} has just been made by somebody else. Restore again: what is there is passed over.")
    shutil.move(copy, target)  # memories may be kept on another disk


def read_manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    """What a backup says it holds. Raises DataError if it is none, of a later koderz, or holds anything else."""
    try:
        told = archive.getinfo(MANIFEST)
        if told.file_size > _MOST_MANIFEST_BYTES:
            raise damaged(path, "its manifest is too long")
        manifest = msgspec.json.decode(archive.read(MANIFEST), type=Manifest)
    except (KeyError, msgspec.DecodeError, UnicodeDecodeError, zipfile.BadZipFile, OSError, RuntimeError) as error:
        raise DataError(f"{path} is no backup of koderz. Name a file that `koderz backup` has written.") from error
    if manifest.format > FORMAT:
        raise DataError(
            f"{path} was written by a later koderz ({manifest.koderz_version}). Upgrade koderz, then restore it."
        )
    names = sorted(one.filename for one in archive.infolist())
    if names != sorted([MANIFEST, *manifest.files]):
        raise damaged(path, "it holds other files than its manifest says")
    if foreign := [name for name in manifest.files if not _NAMES.fullmatch(name)]:
        raise damaged(path, f"{foreign[0]!r} belongs into no data folder")
    return manifest


def damaged(path: Path, why: str) -> DataError:
    """What to tell of a backup that is not as it was written."""
    return DataError(f"The backup {path} is damaged or was changed: {why}. Nothing of it was used. Take another one.")
