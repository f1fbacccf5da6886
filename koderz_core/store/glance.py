"""All benchmarks at a glance, as every page takes it every other second: counted again when a journal says more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from koderz_core.store.benchmarks import Counted
from koderz_core.store.store import Store

Standing = tuple[tuple[str, int], ...]
"""Every journal with its size in bytes: they only grow."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was counted when the journals stood so, and which of them could not be read to their end."""

    standing: Standing
    counted: Counted
    faults: tuple[str, ...]


class Glance:
    """Safe to use from several threads: at worst two of them count the same."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen: Seen | None = None

    def last(self) -> Seen | None:
        """What was counted last, if nothing has been said since and all could be read."""
        seen = self._seen
        if seen is None or seen.faults or not self._store.path.is_file():
            return None
        return seen if seen.standing == self.standing() else None

    def keep(self, seen: Seen) -> None:
        """Believe it until a journal says more."""
        self._seen = seen

    def standing(self) -> Standing:
        """How the journals stand now. Look before they are read: what is said meanwhile is then counted once more."""
        sizes = ((path.name, _size(path)) for path in self._store.journals_dir.glob("*.jsonl"))
        return tuple(sorted(sizes))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # taken away meanwhile
        return -1
