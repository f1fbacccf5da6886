"""Writing a file whole or not at all, also when two processes write the same."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from koderz_core.errors import DataError


def replace_file(path: Path, content: bytes) -> None:
    """Put ``content`` in place of what the file held, or make it, and its folder too. Raises OSError.

    Who may read it stays as it was, at first only its owner: keys may stand in it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, name)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)  # there is none left once it has replaced the other


def keep_file(path: Path, content: bytes) -> None:
    """Write it, unless it is there already; a spoiled file is mended by that. Raises DataError."""
    try:
        if path.exists() and path.read_bytes() == content:
            return
        replace_file(path, content)
    except OSError as error:
        raise DataError(f"{path} cannot be written ({error.strerror}). Choose another --data-dir.") from error


def kept_names(folder: Path, pattern: str) -> dict[str, Path]:
    """The kept files of ``folder`` by their names without suffix, the latest first. ``pattern``: as of ``glob``."""
    written = {path: seen for path in folder.glob(pattern) if (seen := _written_at(path)) is not None}
    return {path.stem: path for path in sorted(written, key=lambda path: (-written[path], path.stem))}


def _written_at(path: Path) -> int | None:
    """In ns since the epoch; None if the file is gone or a link to nothing."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None
