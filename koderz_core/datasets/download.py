"""Fetching published files into the folder of datasets: only a file with the right SHA-256 gets its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from koderz_core.config import Settings
from koderz_core.datasets.sources import Source, placed
from koderz_core.download import alone, download
from koderz_core.errors import DataError, DownloadError, OfflineError
from koderz_core.files import sha256_of

Tell = Callable[[int], None]


def fetch(source: Source, settings: Settings, tell: Tell = lambda _done: None) -> Path:
    """The released file, downloaded if it is not there; an interrupted download goes on where it stopped.

    ``tell`` is told the bytes so far; what it raises comes through. Of several processes one downloads and the others
    wait. Raises DataError, with what to do by hand.
    """
    there = placed(source, settings)
    if there is not None:
        return _sound(there, source)
    target = settings.published_dir / source.file
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with alone(target.with_suffix(".lock"), lambda: None):
            there = placed(source, settings)  # who held the lock before may have brought it
            return _fetched(source, target, settings, tell) if there is None else _sound(there, source)
    except OSError as error:
        raise DataError(
            f"{source.file} cannot be written to {target.parent}: {error.strerror or error}. Make that folder "
            "writable, or let KODERZ_DATASETS_DIR name another."
        ) from error


def _fetched(source: Source, target: Path, settings: Settings, tell: Tell) -> Path:
    if not source.sha256:
        raise DataError(_by_hand(source, target, "koderz knows no SHA-256 that it could check the file by"))
    part = target.with_suffix(".part")
    try:
        download(
            source.url,
            source.size_bytes,
            part,
            lambda url: settings.check_egress(url, f"the file of {source.dataset}"),
            tell,
        )
    except (DownloadError, OfflineError) as error:
        raise DataError(_by_hand(source, target, str(error).rstrip("."))) from error
    got = sha256_of(part)
    if got != source.sha256:
        part.unlink()
        raise DataError(_by_hand(source, target, f"what came is another file (SHA-256 {got}); it was deleted"))
    return part.replace(target)


def _sound(path: Path, source: Source) -> Path:
    """A file that is there under the released name is taken for the released one only if it is."""
    if path.name == source.file and source.sha256 and sha256_of(path) != source.sha256:
        raise DataError(
            f"{path} is there, but is not {source.version} as released (its SHA-256 is not {source.sha256}). It can be "
            "used as it is; to have the released one, move it away and fetch again."
        )
    return path


def _by_hand(source: Source, target: Path, reason: str) -> str:
    known = f" ({source.size_bytes} bytes, SHA-256 {source.sha256})" if source.sha256 else ""
    return (
        f"{source.dataset} cannot be fetched from {source.url}: {reason}. By hand: get {source.file}{known} from there "
        f"or from {source.page}, and put it into {target.parent}, or let KODERZ_DATASETS_DIR name the folder that "
        "has it."
    )
