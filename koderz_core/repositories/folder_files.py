"""The files of a folder: which there are, and their contents, without following links or leaving the folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from koderz_core.errors import DataError
from koderz_core.input_files import read_bytes
from koderz_core.records.repositories import Omitted
from koderz_core.repositories.git import Git, GitError, listed_files

MOST_FILES = 20_000
MOST_BYTES = 1 << 20
"""Of one file that is read. A larger file is listed with its size, without its lines."""
MOST_OMITTED = 200
SKIPPED = {
    *(".git", ".hg", ".svn", ".tox", ".nox", ".venv", ".eggs", ".mypy_cache", ".pytest_cache", ".ruff_cache"),
    *("__pycache__", "node_modules"),
}
"""Folders that are not entered if git does not list the files, beside environments of Python."""
_CURE = "Check its permissions."


@dataclass(frozen=True, slots=True)
class Listing:
    """The regular files of a folder with their sizes in bytes, sorted by path. ``left_out``: files beyond the limit."""

    sizes: dict[str, int]
    omitted: tuple[Omitted, ...]
    left_out: int


def list_files(root: Path, git: Git | None) -> Listing:
    """The files that git lists, else all files except those in folders of caches and environments.

    Links, sockets, submodules and other things that are no regular files are omitted, never opened.
    """
    paths = _from_git(git)
    found = iter(paths) if paths else _walked(root)
    sizes: dict[str, int] = {}
    omitted: list[Omitted] = []
    left_out = 0
    for path in found:
        reason = ""
        try:
            status = os.lstat(root / path)
            reason = _why_not(root, path, status.st_mode)
        except FileNotFoundError:
            continue  # git still lists a deleted file
        except OSError as error:
            reason = f"cannot be read ({error.strerror})"
        if reason:
            omitted.append(Omitted(path, reason))
        elif len(sizes) == MOST_FILES:
            left_out += 1
        else:
            sizes[path] = status.st_size
    return Listing(dict(sorted(sizes.items())), tuple(sorted(omitted, key=lambda it: it.path)[:MOST_OMITTED]), left_out)


def read_file(root: Path, path: str) -> bytes | None:
    """The content of a listed file; None if it is too large or cannot be read."""
    try:
        if _why_not(root, path, os.lstat(root / path).st_mode):  # it may have changed since it was listed
            return None
        return read_bytes(root / path, _CURE, MOST_BYTES)
    except (DataError, OSError, ValueError):
        return None


def text_of(content: bytes) -> str | None:
    """A text in UTF-8, in which invalid bytes are replaced; None if it is not text."""
    return None if b"\0" in content[:8192] else content.decode("utf-8-sig", errors="replace")


def _from_git(git: Git | None) -> list[str]:
    """None at all also means: an outer repository ignores the whole folder."""
    try:
        return listed_files(git) if git else []
    except GitError:
        return []


def _why_not(root: Path, path: str, mode: int) -> str:
    """Why a path must not be opened, "" if it may."""
    if stat.S_ISLNK(mode):
        return "is a link"
    if stat.S_ISDIR(mode):
        return "is a separate repository"
    if not stat.S_ISREG(mode):
        return "is not a regular file"
    if not (root / path).is_relative_to(root):  # the index of a hostile repository can name any path
        return "is outside of the folder"
    parent = (root / path).parent
    return "" if os.path.realpath(parent) == str(parent) else "is in a linked folder"


def _walked(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        place = Path(folder)
        links = [name for name in folders if (place / name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in links and not _skipped(place / name))
        yield from ((place / name).relative_to(root).as_posix() for name in sorted([*files, *links]))


def _skipped(folder: Path) -> bool:
    return folder.name in SKIPPED or (folder / "pyvenv.cfg").is_file()
