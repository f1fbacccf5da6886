"""Files of experiments into a folder, or into one zip."""

from __future__ import annotations

import os
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from koderz_core.errors import DataError
from koderz_core.export.dump import DumpFile


def write(files: Iterable[DumpFile], folder: Path) -> None:
    """Write them into ``folder``, which is made if need be; what has one of their names there is replaced.

    Raises DataError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            _replace(folder / file.name, file.content)
    except OSError as error:
        raise DataError(
            f"The files cannot be written into {folder} ({error.strerror}). Make room there, or give another folder."
        ) from error


def zipped(files: Iterable[DumpFile]) -> bytes:
    """A zip of them; of the same files always the same bytes."""
    made = BytesIO()
    with ZipFile(made, "w") as archive:
        for file in files:
            archive.writestr(ZipInfo(file.name), file.content, ZIP_DEFLATED)
    return made.getvalue()


def _replace(path: Path, content: bytes) -> None:
    """Whole or not at all; a link of that name is replaced, not followed to somebody's file."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        with part.open("xb") as file:
            file.write(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)  # there is none left once it has replaced the other
