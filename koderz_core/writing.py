"""Writing a file whole or not at all, also when two processes write the same."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path


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
