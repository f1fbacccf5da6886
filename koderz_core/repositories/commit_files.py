"""The files of a commit, read from a clone on this machine: nothing is checked out, and no hook or filter runs."""

from __future__ import annotations

import re
import tarfile
from io import BytesIO
from pathlib import Path

from koderz_core.errors import DataError
from koderz_core.repositories.git import GitError, open_git

_COMMIT = re.compile(r"[0-9a-f]{7,64}")


def files_at(folder: Path, commit: str) -> dict[str, bytes]:
    """The regular files of a commit (a hexadecimal id) by path; links and submodules are left out.

    Raises DataError if the folder is no clone that has the commit. Files that ``.gitattributes`` excludes from archives
    (``export-ignore``) are missing.
    """
    if not _COMMIT.fullmatch(commit):
        raise DataError(f"{commit[:80]!r} is not the id of a commit: write 7 to 64 hexadecimal digits")
    git, reason = open_git(folder.resolve())
    if git is None:
        raise DataError(f"{folder} is not a git repository that koderz can read{': ' if reason else ''}{reason}")
    try:
        root = git.run("rev-parse", "--show-toplevel").strip()
        packed = git.run("-C", root, "archive", "--format=tar", commit).encode(errors="surrogateescape")
    except GitError as error:
        raise DataError(f"{folder} cannot give the commit {commit[:12]} ({error}). Fetch it into the clone") from None
    try:
        with tarfile.open(fileobj=BytesIO(packed), mode="r:") as archive:
            return {member.name: _content(archive, member) for member in archive if member.isreg()}
    except (tarfile.TarError, OSError, ValueError) as error:
        raise DataError(f"git wrote an archive of {folder} that cannot be read ({error})") from error


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    return file.read() if file else b""
