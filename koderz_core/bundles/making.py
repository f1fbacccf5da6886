"""Making a bundle of a journal: redacted, packed, checked, and only then put where it was wanted."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from koderz_core.bundles.archive import packed
from koderz_core.bundles.checking import checked_bundle
from koderz_core.bundles.contents import MANIFEST, BundleFile, contents, document
from koderz_core.bundles.identities import Identities
from koderz_core.bundles.kpi import KPI_VERSION
from koderz_core.bundles.levels import Level
from koderz_core.bundles.manifest import MANIFEST_VERSION, manifest
from koderz_core.bundles.redaction import redacted
from koderz_core.errors import DataError, JournalError
from koderz_core.journal import read_all
from koderz_core.verification.records import Verified
from koderz_core.verification.tally import tally

CAP_BYTES = 64 << 20  # of one file: what is longer is cut, and marked


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
        with (folder / f".{benchmark}.lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise DataError(f"{benchmark} is being bundled by another process. Wait for it.") from None
            yield
    except OSError as error:
        raise DataError(f"Nothing can be written in {folder}: {error.strerror}. Make room there.") from error


def _put(path: Path, content: bytes) -> Verified:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
        part = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            verified = checked_bundle(part).verified
            if not verified.holds:
                raise DataError(
                    f"The bundle was not kept, since it does not hold: {verified.differences[0].said}. Look at the "
                    f"journal with `koderz verify {path.stem.partition('-')[0]}`."
                )
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror}. Make room there, or give --out.") from error
    return verified
