"""The bundles in the data folder: which there are, which stay, and which make room for newer ones."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from koderz_core.errors import DataError

KEPT = 20


@dataclass(frozen=True, slots=True)
class KeptBundle:
    """A bundle in the data folder. ``made_at``: seconds since 1970. ``pinned``: nothing removes it by itself."""

    path: Path
    size: int
    made_at: float
    pinned: bool


def kept(folder: Path) -> list[KeptBundle]:
    """All there are, the newest first."""
    found = []
    for path in folder.glob("bench_*.zip"):
        with suppress(FileNotFoundError):  # somebody else removed it meanwhile
            told = path.stat()
            found.append(KeptBundle(path, told.st_size, told.st_mtime, _pin(path).exists()))
    return sorted(found, key=lambda one: (-one.made_at, one.path.name))


def pin(path: Path) -> None:
    """Let nothing but a person remove it. Raises DataError."""
    try:
        _pin(path).touch()
    except OSError as error:
        raise DataError(f"{path.name} cannot be pinned: {error.strerror}. Make room in {path.parent}.") from error


def make_room(folder: Path, most: int = KEPT) -> int:
    """Remove all but the newest ``most`` of those that are not pinned; how many."""
    surplus = [one for one in kept(folder) if not one.pinned][most:]
    for one in surplus:
        try:
            one.path.unlink(missing_ok=True)
        except OSError as error:
            raise DataError(f"{one.path} cannot be removed: {error.strerror}. Is it yours?") from error
    return len(surplus)


def _pin(path: Path) -> Path:
    return path.with_name(f"{path.name}.pin")
