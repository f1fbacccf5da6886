"""Backups: a zip of files with a manifest that describes each file; writing, checking and restoring one.

A backup contains journals, labels, pins, problems of the user with the trees of repositories, fitted selectors,
settings and memories. It leaves out the index, caches, published datasets and weights, which koderz can rebuild or
download. It is written and verified as a whole or not at all. A restore checks every file before it puts the first one
into place, and never overwrites a file.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sqlite3
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, BinaryIO

import msgspec

from koderz_core.errors import DataError, UsageError
from koderz_core.files import TEMPORARY, replacement, sha256_of, sync
from koderz_core.input_files import require_file
from koderz_core.settings_fields import PROGRAMS

FORMAT = 1
MANIFEST = "manifest.json"
MEMORIES = "cortex.db"
SETTINGS = ("settings.toml", "models.toml")
_NAMES = re.compile(
    r"(workbench/)?journals/[A-Za-z0-9_-]{1,100}\.(jsonl|pin)|labels/[A-Za-z0-9_-]{1,100}\.jsonl|"
    r"problems/(typed-[0-9a-f]{12}\.jsonl|(fix|ask)-[0-9a-f]{12}\.json)|datasets/own-[A-Za-z0-9_-]{1,60}\.jsonl|"
    r"trees/[0-9a-f]{64}\.tar\.gz|selectors/[A-Za-z0-9][A-Za-z0-9._-]{0,59}@[0-9a-f]{12}\.json|"
    r"settings\.toml|models\.toml|cortex\.db",
    re.ASCII,
)
_PATTERNS = (
    *("journals/*.jsonl", "journals/*.pin", "labels/*.jsonl", "problems/typed-*.jsonl"),
    *("workbench/journals/*.jsonl", "problems/fix-*.json", "problems/ask-*.json"),
    *("datasets/own-*.jsonl", "trees/*.tar.gz", "selectors/*@*.json"),
)
_APPENDED = ("journals/", "workbench/journals/", "labels/")
"""Folders of files that may grow during a backup. A user's own dataset does not, and may end without a newline."""
_WANTED = "Give the path of a file that `koderz backup` has written."
_CHUNK_BYTES = 1 << 20
_MOST_MANIFEST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a backup. ``written_at``: the time of its last change, in seconds since 1970."""

    sha256: str
    size: Annotated[int, msgspec.Meta(ge=0)]
    written_at: Annotated[float, msgspec.Meta(ge=0, le=2**33)]


@dataclass(frozen=True, slots=True)
class Manifest:
    """``files``: by their path in the data folder; ``made_at``: seconds since 1970."""

    format: int
    koderz_version: str
    made_at: float
    files: Mapping[str, FileEntry]


@dataclass(frozen=True, slots=True)
class Source:
    """The data folder and the memory file. ``is_secret``: whether to leave out a setting, by name and value."""

    home: Path
    memories: Path
    is_secret: Callable[[str, object], bool]


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A written backup. ``left_out``: files left out, each with the reason; ``secrets``: settings left out."""

    path: Path
    manifest: Manifest
    size: int
    left_out: tuple[str, ...]
    secrets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """The names of the files that were restored, and of those that were already there unchanged."""

    manifest: Manifest
    restored: tuple[str, ...]
    already_there: tuple[str, ...]


def back_up(source: Source, path: Path, version: str, now: float) -> BackupReport:
    """Write a backup to ``path`` and read it back. ``version``: of koderz; ``now``: seconds since 1970.

    Of a journal that is being written, the backup contains all complete lines. Raises UsageError if the file exists,
    DataError.
    """
    if path.exists():
        raise UsageError(f"{path} already exists, and a backup never overwrites a file. Choose another file name.")
    writer = _Writer()
    try:
        with replacement(path, private=False) as whole:
            with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
                for pattern in _PATTERNS:
                    for file in sorted(source.home.glob(pattern)):
                        writer.add(archive, str(file.relative_to(source.home)), file)
                writer.add_settings(archive, source)
                writer.add_memories(archive, source)
                manifest = Manifest(FORMAT, version, now, writer.files)
                archive.writestr(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1))
            sync(whole)
            if _verify(Path(whole.name)) != manifest:
                raise DataError(
                    f"The backup {path} was not written: the new file cannot be read back correctly. Check the disk, "
                    "or choose another file."
                )
    except (OSError, zipfile.BadZipFile) as error:
        why = getattr(error, "strerror", None) or error
        raise DataError(
            f"The backup {path} cannot be written ({why}). Check the permissions of its folder and the free space on "
            "its disk, or choose another file."
        ) from error
    return BackupReport(path, manifest, path.stat().st_size, tuple(writer.left_out), tuple(writer.secrets))


def restore(path: Path, home: Path, memories: Path) -> RestoreReport:
    """Restore a backup into the data folder ``home``; its memories become the file ``memories``.

    Raises UsageError if a different file, or the log of an earlier memory file, is there already, and DataError; then
    no file was restored.
    """
    try:
        with _open_archive(path) as archive:
            manifest = _read_manifest(archive, path)
            targets = {name: memories if name == MEMORIES else home / name for name in manifest.files}
            there = [name for name, entry in manifest.files.items() if _is_there(targets[name], entry)]
            new = [name for name in manifest.files if name not in there]
            logs = _logs_beside(memories) if MEMORIES in new else []
            _refuse_conflicts([*logs, *(name for name in new if targets[name].exists())])
            home.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=home, prefix=f"{TEMPORARY}restore-") as folder:
                for name, entry in manifest.files.items():
                    _check(archive, name, entry, path, Path(folder) / name if name in new else None)
                _refuse_programs(Path(folder) / "settings.toml", path)
                for name in new:
                    _put(Path(folder) / name, targets[name])
    except OSError as error:
        raise DataError(
            f"{path} cannot be restored into {home} ({error.strerror or error}). Check the permissions of this "
            "folder and the free space on its disk, or choose another --data-dir. Then restore again: koderz skips "
            "files that are already restored."
        ) from error
    return RestoreReport(manifest, tuple(new), tuple(there))


class _Writer:
    """Adds files to an archive, and records them and what was left out."""

    def __init__(self) -> None:
        self.files: dict[str, FileEntry] = {}
        self.left_out: list[str] = []
        self.secrets: list[str] = []

    def add(self, archive: zipfile.ZipFile, name: str, file: Path) -> None:
        if not _NAMES.fullmatch(name):
            self.left_out.append(f"{name} (koderz does not use files with this name)")
            return
        try:
            content = file.open("rb")
        except OSError as error:
            self.left_out.append(f"{name} ({error.strerror})")
            return
        with content:
            written_at = os.fstat(content.fileno()).st_mtime
            appended = name.endswith(".jsonl") and name.startswith(_APPENDED)
            chunks = _complete_lines(content) if appended else _chunks(content)
            self._write(archive, name, chunks, written_at)

    def add_settings(self, archive: zipfile.ZipFile, source: Source) -> None:
        """Add the settings without secrets, and without comments, which may contain an old key."""
        import tomlkit  # noqa: PLC0415 (needed only to write)

        for name in SETTINGS:
            file = source.home / name
            try:
                settings = tomllib.loads(file.read_text("utf-8-sig"))
            except FileNotFoundError:
                continue
            except (OSError, ValueError) as error:
                self.left_out.append(f"{name} ({error})")
                continue
            public = {key: value for key, value in settings.items() if not source.is_secret(key, value)}
            self.secrets += [key for key in settings if key not in public]
            self._write(archive, name, iter([tomlkit.dumps(public).encode()]), file.stat().st_mtime)

    def add_memories(self, archive: zipfile.ZipFile, source: Source) -> None:
        if not source.memories.exists():
            return
        with tempfile.TemporaryDirectory(dir=source.home, prefix=f"{TEMPORARY}backup-") as folder:
            copy = Path(folder) / MEMORIES
            try:
                _copy_memories(source.memories, copy)
            except sqlite3.Error as error:
                self.left_out.append(f"{MEMORIES} ({error})")
                return
            self.add(archive, MEMORIES, copy)

    def _write(self, archive: zipfile.ZipFile, name: str, chunks: Iterator[bytes], written_at: float) -> None:
        digest, size = hashlib.sha256(), 0
        info = zipfile.ZipInfo(name)
        info.compress_type = zipfile.ZIP_DEFLATED  # a ZipInfo does not take it from the archive
        with archive.open(info, "w", force_zip64=True) as member:
            for chunk in chunks:
                digest.update(chunk)
                size += member.write(chunk)
        self.files[name] = FileEntry(digest.hexdigest(), size, written_at)


def _complete_lines(file: BinaryIO) -> Iterator[bytes]:
    """The complete lines that a journal has now, in chunks."""
    left, rest = os.fstat(file.fileno()).st_size, b""
    while left > 0 and (chunk := file.read(min(_CHUNK_BYTES, left))):
        left -= len(chunk)
        lines, newline, rest = (rest + chunk).rpartition(b"\n")
        if newline:
            yield lines + newline


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK_BYTES):
        yield chunk


def _copy_memories(memories: Path, copy: Path) -> None:
    """Copy with SQLite, so that servers may write in the meantime (https://sqlite.org/backup.html)."""
    with closing(sqlite3.connect(memories)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        target.execute("pragma journal_mode = delete")  # one file, without a log beside it
        (verdict,) = target.execute("pragma quick_check(1)").fetchone()
    if verdict != "ok":
        raise sqlite3.DatabaseError(verdict)


def _verify(path: Path) -> Manifest:
    """Read a whole backup and return its manifest. Raises DataError if any byte is wrong."""
    with _open_archive(path) as archive:
        manifest = _read_manifest(archive, path)
        for name, entry in manifest.files.items():
            _check(archive, name, entry, path)
    return manifest


def _open_archive(path: Path) -> zipfile.ZipFile:
    require_file(path, _WANTED)
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} cannot be read as a backup ({error}). Use another backup.") from error


def _read_manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    """Raises DataError if the file is not a backup, is of a later koderz, or contains files it does not list."""
    try:
        if archive.getinfo(MANIFEST).file_size > _MOST_MANIFEST_BYTES:
            raise _damaged(path, "its manifest is too long")
        manifest = msgspec.json.decode(archive.read(MANIFEST), type=Manifest)
    except (KeyError, msgspec.DecodeError, UnicodeDecodeError, zipfile.BadZipFile, OSError, RuntimeError) as error:
        raise DataError(f"{path} is not a backup of koderz. {_WANTED}") from error
    if manifest.format > FORMAT:
        raise DataError(
            f"{path} was written by a later version of koderz ({manifest.koderz_version}). Upgrade koderz, then "
            "restore the backup."
        )
    if sorted(member.filename for member in archive.infolist()) != sorted([MANIFEST, *manifest.files]):
        raise _damaged(path, "its files differ from the files that its manifest lists")
    if foreign := [name for name in manifest.files if not _NAMES.fullmatch(name)]:
        raise _damaged(path, f"it contains {foreign[0]!r}, which does not belong in a data folder")
    return manifest


def _check(archive: zipfile.ZipFile, name: str, entry: FileEntry, path: Path, copy: Path | None = None) -> None:
    """Read one file to its end, and copy it to ``copy`` if given. Raises DataError if any byte is wrong."""
    digest, size = hashlib.sha256(), 0
    try:
        with _writing(copy) as write, archive.open(name) as member:
            for chunk in _chunks(member):
                size += len(chunk)
                if size > entry.size:
                    break
                digest.update(chunk)
                write(chunk)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise _damaged(path, f"{name} cannot be read ({error})") from error
    if size != entry.size or digest.hexdigest() != entry.sha256:
        raise _damaged(path, f"{name} differs from its entry in the manifest")
    if copy:
        os.utime(copy, (entry.written_at, entry.written_at))


@contextmanager
def _writing(copy: Path | None) -> Iterator[Callable[[bytes], object]]:
    """A function that writes into the new file ``copy``, which is on the disk at the end; None: it discards."""
    if copy is None:
        yield len
        return
    copy.parent.mkdir(parents=True, exist_ok=True)
    with copy.open("xb") as file:
        yield file.write
        sync(file)


def _is_there(target: Path, entry: FileEntry) -> bool:
    return target.is_file() and target.stat().st_size == entry.size and sha256_of(target) == entry.sha256


def _logs_beside(memories: Path) -> list[str]:
    """The names of the logs beside the memory file. SQLite would apply those of an earlier file to a restored one."""
    logs = (memories.with_name(f"{memories.name}{suffix}") for suffix in ("-wal", "-journal"))
    return [log.name for log in logs if log.exists()]


def _refuse_conflicts(names: list[str]) -> None:
    if names:
        named = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        raise UsageError(
            f"These files already exist and are not the same as in the backup: {named}. Nothing was restored, because "
            "a restore never overwrites a file. Restore into an empty folder with --data-dir, or move these files away."
        )


def _refuse_programs(settings: Path, path: Path) -> None:
    """Raise DataError if the settings name a program: the backup of another person must not start one."""
    try:
        names = set(tomllib.loads(settings.read_text("utf-8-sig"))) if settings.exists() else set[str]()
    except ValueError as error:
        raise _damaged(path, f"settings.toml is not valid TOML ({error})") from error
    if programs := sorted(PROGRAMS & names):
        raise _damaged(
            path,
            f"its settings.toml contains {programs[0]}, but a backup never contains settings that name a program to "
            "run",
        )


def _put(copy: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        raise UsageError(
            f"{target} was created during the restore. Run the restore again: koderz skips files that are already "
            "restored."
        )
    shutil.move(copy, target)  # the memories may be on another disk


def _damaged(path: Path, why: str) -> DataError:
    return DataError(f"The backup {path} is damaged or was changed: {why}. Nothing was restored. Use another backup.")
