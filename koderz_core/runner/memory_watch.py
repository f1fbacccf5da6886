"""The memory watchdog of a process: it pauses benchmarks before the machine swaps, and resumes them.

Two levels: while memory is *low*, no experiment starts and no model is loaded; while it is *critical*, running
experiments pause too, before their next call or test, and models without a call are unloaded. The samples of the last
minutes are kept for display.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from koderz_core.models.free_memory import Memory
from koderz_core.models.residency import Residency
from koderz_core.records.progress import MemoryLevel

SAMPLE_SECONDS = 1.0
KEPT_SECONDS = 600.0
CRITICAL_SHARE = 0.5  # of the reserve: with less free memory it is critical
RELIEF = 1.25  # times a threshold: only with more free memory its level ends, so that levels do not alternate

SEVERITY: Mapping[MemoryLevel, int] = {"enough": 0, "low": 1, "critical": 2}
"""A level does at least what a milder level does."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One reading. ``at``: seconds since 1970. ``models_bytes``: the estimated memory of the models koderz loaded.

    ``gpu_used_bytes`` and ``gpu_total_bytes``: of all NVIDIA GPUs together, None if they are not measured.
    """

    at: float
    memory: Memory
    level: MemoryLevel
    models_bytes: int
    gpu_used_bytes: int | None = None
    gpu_total_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class MemoryState:
    """A level with the free memory, and the free memory at which it ends (both in bytes)."""

    level: MemoryLevel
    free_bytes: int
    wanted_bytes: int


Obey = Callable[[MemoryState], None]
"""Carries a change of the level out and records it. Called from the thread of the watch."""
Gpu = Callable[[], tuple[int, int] | None]
"""Reads the used and the total memory of the GPUs in bytes; None: there are none, or they cannot be read."""


def level_after(before: MemoryLevel, free_bytes: int, reserve_bytes: int) -> MemoryLevel:
    """The level with this free memory. A level ends only with some more memory than the threshold at which it began."""
    thresholds: tuple[tuple[MemoryLevel, float], ...] = (
        ("critical", reserve_bytes * CRITICAL_SHARE),
        ("low", float(reserve_bytes)),
    )
    for level, threshold in thresholds:
        if free_bytes < threshold * (RELIEF if SEVERITY[before] >= SEVERITY[level] else 1.0):
            return level
    return "enough"


class MemoryWatch:
    """Samples the memory in a thread of its own, from the first use until ``close``. Thread-safe."""

    def __init__(
        self,
        read: Callable[[], Memory | None],
        reserve: Callable[[int], int],
        residency: Residency,
        gpu: Gpu = lambda: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """``reserve``: maps the total memory to the memory to leave free (bytes; 0: never pause)."""
        self._read, self._reserve, self._residency = read, reserve, residency
        self._gpu, self._clock = gpu, clock
        self._samples: deque[Sample] = deque(maxlen=int(KEPT_SECONDS / SAMPLE_SECONDS))
        self._state = MemoryState("enough", 0, 0)
        self._followers: list[Obey] = []
        self._guard = threading.Lock()  # guards all of these
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Start to sample, unless the watch does so already or has been closed."""
        with self._guard:
            if self._thread is None and not self._over.is_set():
                self._thread = threading.Thread(target=self._run, name="memory watch", daemon=True)
                self._thread.start()

    def samples(self) -> tuple[Sample, ...]:
        """The samples of the last minutes, the oldest first."""
        with self._guard:
            return tuple(self._samples)

    @contextmanager
    def followed(self, obey: Obey) -> Iterator[None]:
        """Call ``obey`` inside at every change of the level, and now unless there is enough memory."""
        self.begin()
        with self._guard:
            self._followers.append(obey)
            if self._state.level != "enough":
                obey(self._state)
        try:
            yield
        finally:
            with self._guard:
                self._followers.remove(obey)

    def sample(self) -> None:
        """Read the memory once, and act if its level has changed."""
        memory = self._read()
        if memory is None:
            return
        reserve, before = self._reserve(memory.total_bytes), self._state.level
        level = level_after(before, memory.free_bytes, reserve)
        share = {"enough": 0.0, "low": 1.0, "critical": CRITICAL_SHARE}[level]
        used, total = self._gpu() or (None, None)
        models = sum(loaded.needed_bytes or 0 for loaded in self._residency.loaded())
        with self._guard:
            self._state = MemoryState(level, memory.free_bytes, int(reserve * RELIEF * share))
            self._samples.append(Sample(self._clock(), memory, level, models, used, total))
            if level != before:
                self._residency.hold(held=level != "enough")
                for obey in self._followers:
                    obey(self._state)
        if level == "critical":
            self._residency.unload_idle()

    def close(self) -> None:
        """Stop to sample. Idempotent."""
        self._over.set()
        if self._thread:
            self._thread.join()

    def _run(self) -> None:
        while True:
            self.sample()
            if self._over.wait(SAMPLE_SECONDS):
                return
