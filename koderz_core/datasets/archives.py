"""The files of a published archive (``.tar.gz``), read in memory: nothing is unpacked to disk.

An archive that a server makes from a repository differs from day to day in its compression and its order. koderz
therefore identifies the files that it uses, not the archive, by a SHA-256.
"""

from __future__ import annotations

import hashlib
import re
import tarfile
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import Path

from koderz_core.errors import DataError
from koderz_core.input_files import read_bytes, read_member, unpacked

MOST_FILES = 5_000  # that are used; Exercism has 817
MOST_FILE_BYTES = 1 << 20
_FOLDER = re.compile(r"(?:\./)?(?:[^/]+/)?")
"""What may precede the path of a file: archives of GitHub have a folder that is named after the commit."""

Files = Mapping[str, bytes]


def read_archive(path: Path, wanted: str, cure: str) -> Files:
    """The files whose whole path matches the pattern ``wanted``, by path; a folder around all of them is ignored.

    Other members, links and devices are ignored. Raises DataError if the archive cannot be read, contains no such file,
    one of them twice, too many of them or a large one.
    """
    files: dict[str, bytes] = {}
    pattern = re.compile(f"{_FOLDER.pattern}({wanted})")
    for name, content in members(read_bytes(path, cure), path, cure, lambda name: bool(pattern.fullmatch(name))):
        found = pattern.fullmatch(name)
        assert found is not None, "only such members are read"
        if found[1] in files:
            raise DataError(_unexpected(path, name, cure))
        files[found[1]] = content
    if not files:
        raise DataError(f"{path} contains none of the expected files. {cure}")
    return files


def members(
    packed: bytes, path: Path, cure: str, wanted: Callable[[str], bool] = lambda _name: True
) -> Iterator[tuple[str, bytes]]:
    """The paths and contents of the files in an archive whose paths are wanted and stay inside it.

    Links, devices and folders are ignored. Raises DataError, which names ``path``, for a broken archive, too many files
    or a large one.
    """
    number = 0
    try:
        with tarfile.open(fileobj=BytesIO(_tar(packed, path, cure)), mode="r:") as archive:
            for member in archive:
                if not (member.isreg() and wanted(member.name) and _stays_inside(member.name)):
                    continue
                if member.size > MOST_FILE_BYTES or number == MOST_FILES:
                    raise DataError(_unexpected(path, member.name, cure))
                number += 1
                yield member.name.removeprefix("./"), read_member(archive, member)
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        raise DataError(f"{path} is not a complete archive ({error}). {cure}") from error


def _stays_inside(name: str) -> bool:
    return not name.startswith("/") and ".." not in name.split("/") and "\\" not in name


def _unexpected(path: Path, name: str, cure: str) -> str:
    return f"{path} differs from the published archive (in the file {name!r}). {cure}"


def _tar(content: bytes, path: Path, cure: str) -> bytes:
    return unpacked(content, path, cure) if content.startswith(b"\x1f\x8b") else content


def contents_sha256(files: Files) -> str:
    """The SHA-256 (hex) of files: of path, size and content of each, in the order of the paths.

    Path and size end with a zero byte: ``sha256(b"a.py\\x005\\x00x = 1...")``.
    """
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path}\0{len(files[path])}\0".encode())
        digest.update(files[path])
    return digest.hexdigest()


def text_of(files: Files, path: str) -> str:
    """The text of a file, lines ending in ``\\n``. Raises DataError if it is missing or is not UTF-8."""
    if path not in files:
        raise DataError(f"file {path} is missing")
    try:
        return files[path].decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise DataError(f"file {path} is not UTF-8 text") from error
