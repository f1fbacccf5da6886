"""Source trees in the data folder: ``trees/<SHA-256>.tar.gz``, which tasks of the kind ``repo`` name.

The SHA-256 is that of the files (``archives.contents_sha256``), not of the archive. The archive is deterministic: the
same tree gives the same bytes. Name and licence are in its header. Nothing is unpacked to disk.
"""

from __future__ import annotations

import gzip
import re
import tarfile
from collections.abc import Iterator, Mapping
from functools import lru_cache
from io import BytesIO
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.datasets.archives import contents_sha256
from koderz_core.errors import DataError
from koderz_core.files import keep_file
from koderz_core.input_files import read_member, read_unpacked
from koderz_core.records import SourceTree
from koderz_core.records.trees import is_plain_path

MOST_FILES = 20_000
MOST_BYTES = 64 << 20  # of all files of a tree
MOST_BINARY_BYTES = 1 << 20
MOST_TEXT_BYTES = 8 << 20
_NAME, _LICENCE = "KODERZ.name", "KODERZ.licence"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_RELEASE = re.compile(r"(.+)-(\d[^-]*)")
_KEPT = 64  # trees that stay in memory


def keep_tree(files: Mapping[str, bytes], name: str, licence: str, settings: Settings) -> SourceTree:
    """Write down the files of a tree by path, and return the tree. Raises DataError if koderz does not accept them.

    A tree that is there already keeps its archive, unless its name or licence differ.
    """
    if fault := next(_faults(files), ""):
        raise DataError(f"The tree {name} cannot be stored: {fault}.")
    tree = SourceTree(contents_sha256(files), name, licence, dict(sorted(files.items())))
    keep_file(tree_path(tree.sha256, settings), _packed(tree))
    _loaded.cache_clear()
    return tree


def load_tree(sha256: str, settings: Settings, name: str = "") -> SourceTree:
    """The tree of that SHA-256, read once per process: all its tasks share it. ``name`` is used in messages only.

    Raises DataError if it is missing or damaged.
    """
    if not _SHA256.fullmatch(sha256):
        raise DataError(f"{sha256[:80]!r} is not the SHA-256 of a tree: write 64 hexadecimal digits.")
    path = tree_path(sha256, settings)
    if not path.is_file():
        raise DataError(f"The tree {name or sha256[:12]} is missing from {path.parent}. {_cure(name)}")
    return _loaded(path, name)


def tree_path(sha256: str, settings: Settings) -> Path:
    """Where the tree of that SHA-256 is kept."""
    return settings.home / "trees" / f"{sha256}.tar.gz"


@lru_cache(_KEPT)
def _loaded(path: Path, name: str) -> SourceTree:
    sha256, cure = path.name.removesuffix(".tar.gz"), _cure(name)
    content = read_unpacked(path, cure)
    try:
        with tarfile.open(fileobj=BytesIO(content), mode="r:") as archive:
            files = {member.name: read_member(archive, member) for member in archive if member.isreg()}
            stated = archive.pax_headers
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        raise DataError(f"{path} is damaged ({error}). {cure}") from error
    if contents_sha256(files) != sha256:
        raise DataError(f"{path} was changed: the SHA-256 of its content differs from the SHA-256 in its name. {cure}")
    return SourceTree(sha256, stated.get(_NAME, name), stated.get(_LICENCE, ""), files)


def _cure(name: str) -> str:
    """What restores a missing tree. The name of a commit contains an @, that of a folder has no version."""
    if "@" in name:
        return f"Create the tree again with: koderz prepare-swebench ROWS --clone {name.partition('@')[0]}=FOLDER"
    release = _RELEASE.fullmatch(name)
    source = f"{release[1]}=={release[2]}" if release else "SOURCE"
    return (
        f"Create the tree again with: koderz forge {source} (the same files give the same SHA-256). Or copy the "
        "tree's file from the data folder in which the tasks were made (subfolder `trees`)."
    )


def _faults(files: Mapping[str, bytes]) -> Iterator[str]:
    if not files:
        yield "it has no files"
    if len(files) > MOST_FILES:
        yield f"it has {len(files):,} files, but koderz stores at most {MOST_FILES:,}"
    for path, content in files.items():
        if not is_plain_path(path):
            yield f"{path[:120]!r} is not a relative path inside the tree, or is part of .git"
        binary = b"\0" in content[:8192]
        most = MOST_BINARY_BYTES if binary else MOST_TEXT_BYTES
        if len(content) > most:
            what = "binary file" if binary else "text file"
            yield f"{path[:120]} is too large for a {what} ({len(content):,} bytes; at most {most:,}). Omit this file"
    total = sum(map(len, files.values()))
    if total > MOST_BYTES:
        yield f"its files have {total:,} bytes, but koderz stores at most {MOST_BYTES:,}"


def _packed(tree: SourceTree) -> bytes:
    buffer = BytesIO()
    headers = {_NAME: tree.name, _LICENCE: tree.licence}
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT, pax_headers=headers) as archive:
        for path, content in tree.files.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(content), 0o644
            archive.addfile(member, BytesIO(content))
    return gzip.compress(buffer.getvalue(), mtime=0)
