"""What takes long, computed beside whatever else goes on, and kept until somebody wants it anew."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

Answer = TypeVar("Answer")
_LOG = logging.getLogger("koderz")
MOST_KEPT = 4
NAME = "background"  # of its threads


@dataclass(frozen=True, slots=True)
class Computed(Generic[Answer]):
    """An answer to what was asked ``at`` (seconds since 1970), when the journals stood at ``state``."""

    answer: Answer
    at: float
    state: str


class Background(Generic[Answer]):
    """Safe to use from several threads. Computes one answer at a time, and never keeps a process from ending."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """``clock``: seconds since 1970."""
        self._clock = clock
        self._guard = threading.Lock()  # guards _begun and _ended
        self._turn = threading.Lock()  # held by who computes: side by side all would be slower
        self._begun: dict[Hashable, float] = {}
        self._ended: OrderedDict[Hashable, Computed[Answer] | Exception] = OrderedDict()

    def begin(self, key: Hashable, state: str, compute: Callable[[], Answer]) -> None:
        """Compute it, unless that goes on already; the answer of before stays until then."""
        with self._guard:
            if key in self._begun:
                return
            self._begun[key] = at = self._clock()
        threading.Thread(target=self._run, args=(key, state, at, compute), name=NAME, daemon=True).start()

    def since(self, key: Hashable) -> float | None:
        """Since when it has been computed, in seconds since 1970; None if it is not being computed."""
        with self._guard:
            return self._begun.get(key)

    def last(self, key: Hashable) -> Computed[Answer] | None:
        """The newest answer, None without any. Raises what broke its computation, once; then it can be begun again."""
        with self._guard:
            found = self._ended.get(key)
            if isinstance(found, Exception):
                del self._ended[key]
                raise found
            return found

    def _run(self, key: Hashable, state: str, at: float, compute: Callable[[], Answer]) -> None:
        found: Computed[Answer] | Exception
        try:
            with self._turn:
                found = Computed(compute(), at, state)
        except Exception as error:  # noqa: BLE001 (the edge of a thread: who asks next is told)
            _LOG.warning("What was computed in the background broke off: %s", error)
            found = error
        with self._guard:
            del self._begun[key]
            self._ended[key] = found
            self._ended.move_to_end(key)
            while len(self._ended) > MOST_KEPT:
                self._ended.popitem(last=False)
