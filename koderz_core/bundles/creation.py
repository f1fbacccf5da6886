"""Bundles: making one of a journal, those kept in the data folder, and opening one in a dashboard.

A bundle is redacted, packed and checked before it is put where it was wanted. An opened bundle is a data folder of its
own, in which nothing is run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from koderz_core.bundles.archive import packed
from koderz_core.bundles.checks import checked_bundle
from koderz_core.bundles.contents import KPI_VERSION, MANIFEST, BundleFile, contents, document
from koderz_core.bundles.manifest import MANIFEST_VERSION, manifest
from koderz_core.bundles.redaction import Identities, Level, redacted
from koderz_core.errors import DataError, JournalError, UsageError
from koderz_core.events.tally import tally
from koderz_core.files import Lock, replacement
from koderz_core.journal import read_all
from koderz_core.verification.journals import Verified

CAP_BYTES = 64 << 20  # of one file: what is longer is cut, and marked
KEPT = 20
MARK = "opened-bundle.json"
_READ_ONLY = "This dashboard shows a bundle, which can only be looked at. Run it with `koderz ui`, without --open."


@dataclass(frozen=True, slots=True)
class Made:
    """A bundle that was written and checked. ``truncated``: the names of what was cut."""

    path: Path
    level: Level
    size: int
    truncated: tuple[str, ...]
    verified: Verified


@dataclass(frozen=True, slots=True)
class Wanted:
    """``whose``: what is masked. ``version``: of the koderz that makes it. ``cap``: the most bytes of one file."""

    level: Level
    whose: Identities
    version: str
    cap: int = CAP_BYTES


def make(journal: Path, wanted: Wanted, path: Path) -> Made:
    """Bundle what ``journal`` holds now into ``path``, whole or not at all. Raises DataError, JournalError.

    Of the same journal at the same level always the same bytes.
    """
    level = wanted.level
    entries = redacted(read_all(journal), level, wanted.whose)
    told = tally(entries)
    if not told.opened:
        raise JournalError(f"The journal {journal.name} does not say what was planned, so nothing can be bundled.")
    files = contents(entries, told, level, wanted.cap)
    listed = document(manifest(told, level, files, wanted.version))
    comment = (
        f"koderz {told.opened[-1].benchmark}; privacy={level}; schema=kpi@{KPI_VERSION},manifest@{MANIFEST_VERSION}"
    )
    content = packed((BundleFile(MANIFEST, listed, len(listed)), *files), comment)
    verified = _put(path, content)
    return Made(path, level, len(content), tuple(file.path for file in files if file.truncated), verified)


@contextmanager
def locked(folder: Path, benchmark: str) -> Iterator[None]:
    """One process at a time bundles a benchmark. Raises DataError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with Lock(folder / f".{benchmark}.lock") as lock:
            if not lock.acquire():
                raise DataError(f"{benchmark} is being bundled by another process. Wait for it.")
            yield
    except OSError as error:
        raise DataError(f"Nothing can be written in {folder}: {error.strerror}. Make room there.") from error


def _put(path: Path, content: bytes) -> Verified:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacement(path) as file:
            file.write(content)
            file.flush()
            verified = checked_bundle(Path(file.name)).verified
            if not verified.holds:
                raise DataError(
                    f"The bundle was not kept, since it does not hold: {verified.differences[0].said}. Look at the "
                    f"journal with `koderz verify {path.stem.partition('-')[0]}`."
                )
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}. Make room there, or give --out.") from error
    return verified


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
    surplus = [bundle for bundle in kept(folder) if not bundle.pinned][most:]
    for one in surplus:
        try:
            one.path.unlink(missing_ok=True)
        except OSError as error:
            raise DataError(f"{one.path} cannot be removed: {error.strerror}. Is it yours?") from error
    return len(surplus)


def _pin(path: Path) -> Path:
    return path.with_name(f"{path.name}.pin")


def open_bundle(path: Path, home: Path) -> None:
    """Make ``home`` a data folder with what the bundle holds, which is checked first. Raises DataError."""
    found = checked_bundle(path)
    if not found.verified.holds:
        first = found.verified.differences[0].said
        raise DataError(f"{path.name} was refused: {first}. See all of it with: koderz verify {path.name}")
    journals = home / "journals"
    journals.mkdir(parents=True)
    (journals / f"{found.run_id}.jsonl").write_bytes(found.journal)
    (home / MARK).write_text(json.dumps({"run_id": found.run_id, "privacy_level": found.level}), encoding="utf-8")


def opened_level(home: Path) -> str | None:
    """The privacy level of the bundle that a data folder shows, None if it is one of the user's own."""
    try:
        return str(json.loads((home / MARK).read_text(encoding="utf-8"))["privacy_level"])
    except (FileNotFoundError, NotADirectoryError):  # what is wrong with the folder is said by who writes there
        return None


def require_own(home: Path) -> None:
    """Raise UsageError where a bundle is shown."""
    if opened_level(home) is not None:
        raise UsageError(_READ_ONLY)
