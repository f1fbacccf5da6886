"""Writing a backup: whole and verified, or not at all."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from koderz_core.errors import DataError, UsageError
from koderz_core.files import replacement, sync
from koderz_core.upkeep.restore import (
    CHUNK_BYTES,
    FORMAT,
    MANIFEST,
    MEMORIES,
    SETTINGS,
    FileEntry,
    Manifest,
    damaged,
    verify,
)


@dataclass(frozen=True, slots=True)
class Source:
    """What a backup is made of. ``is_secret``: whether a setting must not be in it, by its name and value."""

    home: Path
    memories: Path
    is_secret: Callable[[str, object], bool]


@dataclass(frozen=True, slots=True)
class BackupReport:
    """What stands in ``path`` now; ``left_out``: what could not be read, and why; ``secrets``: settings left out."""

    path: Path
    manifest: Manifest
    size: int
    left_out: tuple[str, ...]
    secrets: tuple[str, ...]


def back_up(source: Source, path: Path, version: str, now: float) -> BackupReport:
    """Write a backup to ``path`` and read it back. ``version``: koderz'; ``now``: seconds since 1970.

    A journal that is being written is in it up to its last whole line. Raises UsageError if the file exists, DataError.
    """
    if path.exists():
        raise UsageError(f"{path} exists, and a backup overwrites nothing. Name another file.")
    made = _Made()
    try:
        with replacement(path, private=False) as whole:
            with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, file in _files(source.home):
                    made.add(archive, name, file)
                made.add_settings(archive, source)
                made.add_memories(archive, source)
                manifest = Manifest(FORMAT, version, now, made.files)
                archive.writestr(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1))
            sync(whole)
            if verify(Path(whole.name)) != manifest:
                raise damaged(Path(whole.name), "it reads otherwise than it was written")
    except (OSError, zipfile.BadZipFile) as error:
        why = getattr(error, "strerror", None) or error
        raise DataError(
            f"The backup {path} cannot be written ({why}). Make room there, or name another file."
        ) from error
    return BackupReport(path, manifest, path.stat().st_size, tuple(made.left_out), tuple(made.secrets))


class _Made:
    """What has been put into a backup so far."""

    def __init__(self) -> None:
        self.files: dict[str, FileEntry] = {}
        self.left_out: list[str] = []
        self.secrets: list[str] = []

    def add(self, archive: zipfile.ZipFile, name: str, file: Path) -> None:
        try:
            content = file.open("rb")
        except OSError as error:
            self.left_out.append(f"{name} ({error.strerror})")
            return
        with content:
            written_at = os.fstat(content.fileno()).st_mtime
            chunks = whole_lines(content) if name.endswith(".jsonl") else iter(lambda: content.read(CHUNK_BYTES), b"")
            self._write(archive, name, chunks, written_at)

    def add_settings(self, archive: zipfile.ZipFile, source: Source) -> None:
        """Without secrets, and without comments, in which an old key may stand."""
        for name in SETTINGS:
            file = source.home / name
            try:
                told = tomllib.loads(file.read_text("utf-8-sig"))
            except FileNotFoundError:
                continue
            except (OSError, ValueError) as error:
                self.left_out.append(f"{name} ({error})")
                continue
            secret = [key for key, value in told.items() if source.is_secret(key, value)]
            self.secrets += secret
            self._write(archive, name, iter([_toml(told, secret)]), file.stat().st_mtime)

    def add_memories(self, archive: zipfile.ZipFile, source: Source) -> None:
        if not source.memories.exists():
            return
        with tempfile.TemporaryDirectory(dir=source.home, prefix="backup-") as folder:
            copy = Path(folder) / MEMORIES
            try:
                _copy_memories(source.memories, copy)
            except sqlite3.Error as error:
                self.left_out.append(f"{MEMORIES} ({error})")
                return
            self.add(archive, MEMORIES, copy)

    def _write(self, archive: zipfile.ZipFile, name: str, chunks: Iterator[bytes], written_at: float) -> None:
        digest, size = hashlib.sha256(), 0
        told = zipfile.ZipInfo(name)
        told.compress_type = zipfile.ZIP_DEFLATED  # what it is told by does not take that from the archive
        with archive.open(told, "w", force_zip64=True) as member:
            for chunk in chunks:
                digest.update(chunk)
                size += member.write(chunk)
        self.files[name] = FileEntry(digest.hexdigest(), size, written_at)


def whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """A journal up to its last whole line now, a stretch at a time."""
    left, rest = os.fstat(file.fileno()).st_size, b""
    while left > 0 and (chunk := file.read(min(CHUNK_BYTES, left))):
        left -= len(chunk)
        whole, newline, rest = (rest + chunk).rpartition(b"\n")
        if newline:
            yield whole + newline


def _files(home: Path) -> Iterator[tuple[str, Path]]:
    for pattern in ("journals/*.jsonl", "journals/*.pin", "problems/typed-*.jsonl"):
        for path in sorted(home.glob(pattern)):
            yield str(path.relative_to(home)), path


def _toml(told: Mapping[str, Any], without: Collection[str]) -> bytes:  # Any: what TOML can hold
    import tomlkit  # noqa: PLC0415 (only who writes needs it)

    return tomlkit.dumps({key: value for key, value in told.items() if key not in without}).encode()


def _copy_memories(memories: Path, copy: Path) -> None:
    """By SQLite's own means, so that servers may go on writing (https://sqlite.org/backup.html)."""
    with closing(sqlite3.connect(memories)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        target.execute("pragma journal_mode = delete")  # one file, without a log beside it
        (verdict,) = target.execute("pragma quick_check(1)").fetchone()
    if verdict != "ok":
        raise sqlite3.DatabaseError(verdict)
