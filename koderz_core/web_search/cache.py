"""Results of earlier searches on disk, for a limited time and up to a limited number."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from koderz_core.files import kept_names, replace_file

FRESH_SECONDS = 7 * 86_400.0
MOST_FILES = 1_000
"""Each of at most three bounded results, so the cache takes a few megabytes at most."""


class Found(msgspec.Struct, frozen=True):
    """One result: its address and its text. Hostile texts."""

    url: str
    text: str


class _Kept(msgspec.Struct, frozen=True):
    at: float
    found: tuple[Found, ...]


@dataclass(frozen=True)
class Cache:
    """Files in ``folder``, which another process may delete at any time. Errors of the disk only cost a search."""

    folder: Path
    clock: Callable[[], float] = time.time

    def get(self, *key: str) -> tuple[Found, ...] | None:
        """The results that were kept under a key, None if there are none or they are too old."""
        with suppress(OSError, msgspec.DecodeError):
            kept = msgspec.json.decode(self._path(key).read_bytes(), type=_Kept)
            if 0 <= self.clock() - kept.at < FRESH_SECONDS:
                return kept.found
        return None

    def keep(self, found: tuple[Found, ...], *key: str) -> None:
        """Keep results, and delete the oldest files beyond ``MOST_FILES``."""
        with suppress(OSError):
            replace_file(self._path(key), msgspec.json.encode(_Kept(self.clock(), found)), durable=False)
            for path in list(kept_names(self.folder, "*.json").values())[MOST_FILES:]:
                path.unlink(missing_ok=True)

    def _path(self, key: tuple[str, ...]) -> Path:
        return self.folder / f"{hashlib.sha256(msgspec.json.encode(key)).hexdigest()[:32]}.json"
