"""Answers that pages ask for again and again: believed until a journal says more, or another process writes one."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from koderz_core.store.benchmarks import Writers
from koderz_core.store.store import Store

MOST_KEPT = 48  # answers: 500 experiments take some 300 kB, those of a watched benchmark are shared with ``Followed``


@dataclass(frozen=True, slots=True)
class Moment:
    """Every journal with its size in bytes and when it was last written (they only grow), and who writes which."""

    journals: tuple[tuple[str, int, int], ...]
    writers: frozenset[tuple[str, int]]


class Glance:
    """Safe to use from several threads: at worst two of them ask the store the same."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._guard = threading.Lock()  # guards _kept
        self._kept: OrderedDict[Hashable, tuple[Moment, Any]] = OrderedDict()  # Any: what was asked says of which type

    def last(self, question: Hashable, now: Moment) -> Any:
        """What was answered last, if nothing has happened since; else None."""
        if not self._store.path.is_file():
            return None
        with self._guard:
            then, answer = self._kept.get(question, (None, None))
        return answer if then == now else None

    def keep(self, question: Hashable, then: Moment, answer: Any) -> None:
        """Believe it as long as all is as it was ``then``, before it was asked."""
        with self._guard:
            self._kept.pop(question, None)
            self._kept[question] = then, answer
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)

    def moment(self, writers: Writers) -> Moment:
        """How all stands now. Look before the journals are read: what is said meanwhile is then asked for once more."""
        return Moment(tuple(sorted(self._journals())), writers.present)

    def state(self, faults: Sequence[str]) -> str:
        """A digest of how long all journals are, and of what of them cannot be read."""
        journals = sorted((name, size) for name, size, _ in self._journals())
        return sha256(repr((journals, faults)).encode()).hexdigest()

    def _journals(self) -> list[tuple[str, int, int]]:
        found = []
        for path in self._store.journals_dir.glob("*.jsonl"):
            try:
                known = path.stat()
            except OSError:  # taken away meanwhile
                found.append((path.name, -1, -1))
            else:
                found.append((path.name, known.st_size, known.st_mtime_ns))
        return found
