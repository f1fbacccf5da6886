"""Samples of running processes and of a data folder, written to a CSV file: ``at,subject,measure,value``."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from process_tree import descendants, pss_bytes

EVERY_SECONDS = 30.0
Value = tuple[str, str, float]
"""Subject, measure, value."""


class Samples:
    """Appends to a CSV file; may be used from any thread."""

    def __init__(self, file: Path) -> None:
        self._file, self._began, self._guard = file, time.monotonic(), threading.Lock()
        file.write_text("at,subject,measure,value\n")

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def add(self, *values: Value) -> None:
        at = self.seconds
        lines = [f"{at:.1f},{subject},{measure},{value:.4f}\n" for subject, measure, value in values]
        with self._guard, self._file.open("a") as file:
            file.write("".join(lines))

    def watch(self, roots: Mapping[str, int], folders: Callable[[], Iterator[Value]], stop: threading.Event) -> None:
        """Sample the processes and the folders until ``stop``."""
        while not stop.wait(EVERY_SECONDS):
            self.add(*(value for name, pid in roots.items() for value in of_tree(name, pid)), *folders())


def of_tree(name: str, pid: int) -> Iterator[Value]:
    """Of a process, and of all processes that it started together."""
    yield from _of_processes(name, [pid])
    children = [process.pid for process in descendants(pid) if process.state != "Z"]
    if children:
        yield from _of_processes(f"{name}: children", children)
    yield f"{name}: children", "processes", len(children)


def of_data(home: Path, temporary: Path) -> Iterator[Value]:
    """Megabytes of the parts of a data folder, and files that were left in the folder for temporary files."""
    parts = {
        "journals": [home / "journals"],
        "index": [*home.glob("koderz.duckdb*")],
        "memory": [*home.glob("cortex.db*"), *home.glob("mirror*")],
    }
    named = {path for paths in parts.values() for path in paths}
    parts["other files"] = [path for path in home.iterdir() if path not in named]
    for part, paths in parts.items():
        yield f"data folder: {part}", "mb", sum(_size(path) for path in paths) / 1e6
    yield "temporary files", "mb", _size(temporary) / 1e6
    yield "temporary files", "files", sum(1 for _ in temporary.iterdir())
    yield "/dev/shm", "files", sum(1 for _ in Path("/dev/shm").iterdir())


def _of_processes(name: str, pids: list[int]) -> Iterator[Value]:
    descriptors = threads = rss = own = 0
    for pid in pids:
        with suppress(OSError):  # it has just ended
            process = Path(f"/proc/{pid}")
            own += pss_bytes(pid, "Pss_Anon") or 0
            descriptors += sum(1 for _ in (process / "fd").iterdir())
            threads += sum(1 for _ in (process / "task").iterdir())
            rss += int((process / "statm").read_text().split()[1]) * 4096
    yield name, "anonymous_mb", own / 1e6
    yield name, "rss_mb", rss / 1e6
    yield name, "descriptors", descriptors
    yield name, "threads", threads


def _size(path: Path) -> int:
    with suppress(OSError):
        if path.is_dir():
            return sum(_size(entry) for entry in path.iterdir())
        return path.stat().st_size
    return 0
