"""Traces that programs could leave on this machine, counted before and after them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from process_tree import descendants, pss_bytes

MOST_HOST_MEGABYTES = 30.0
MOST_WORKERS_MEGABYTES = 20.0
"""What memory may grow by from a tenth of the programs to all of them; workers all together."""


@dataclass(frozen=True, slots=True)
class State:
    """``shared``: files of /dev/shm and System V objects of the whole machine, by name."""

    processes: int
    threads: int
    descriptors: int
    host_rss_mb: float
    host_pss_mb: float
    workers_pss_mb: float
    temporary_files: int
    shared: frozenset[str]


def state() -> State:
    family = descendants(os.getpid())
    parts = [pss_bytes(process.pid) or 0 for process in family if process.state != "Z"]
    own = Path("/proc/self")
    return State(
        processes=len(family),
        threads=len(list((own / "task").iterdir())),
        descriptors=len(list((own / "fd").iterdir())),
        host_rss_mb=int((own / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6,
        host_pss_mb=(pss_bytes(os.getpid()) or 0) / 1e6,
        workers_pss_mb=sum(parts) / 1e6,
        temporary_files=sum(1 for _ in Path(tempfile.gettempdir()).iterdir()),
        shared=frozenset(_shared()),
    )


HEADINGS = {
    "before": "before the first program",
    "a tenth": "after a tenth of the programs",
    "all": "after all programs",
    "closed": "after the grader was closed",
}


def table(states: Mapping[str, State]) -> str:
    """Markdown, a column per state."""
    rows = [
        ("descendant processes of the script", [f"{state.processes}" for state in states.values()]),
        ("threads of the host process", [f"{state.threads}" for state in states.values()]),
        ("file descriptors of the host process", [f"{state.descriptors}" for state in states.values()]),
        ("RSS of the host process, MB", [f"{state.host_rss_mb:.1f}" for state in states.values()]),
        ("PSS of the host process, MB", [f"{state.host_pss_mb:.1f}" for state in states.values()]),
        ("PSS of all workers, MB", [f"{state.workers_pss_mb:.1f}" for state in states.values()]),
        ("temporary files", [f"{state.temporary_files}" for state in states.values()]),
        (
            "files in /dev/shm and System V objects on the machine",
            [f"{len(state.shared)}" for state in states.values()],
        ),
    ]
    head = [f"| | {' | '.join(HEADINGS[name] for name in states)} |", "|---|" + "---|" * len(states)]
    return "\n".join([*head, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows)])


def what_is_left(before: State, a_tenth: State, all: State, closed: State) -> Iterator[str]:  # noqa: A002 (a column)
    for name in ("processes", "threads", "descriptors", "temporary_files"):
        first, last = getattr(before, name), getattr(closed, name)
        if last > first:
            yield f"{last - first} {name.replace('_', ' ')} are left"
    for name in sorted(closed.shared - before.shared):
        yield f"left on the machine: {name}"
    if all.host_rss_mb - a_tenth.host_rss_mb > MOST_HOST_MEGABYTES:
        yield f"the host grew by {all.host_rss_mb - a_tenth.host_rss_mb:.0f} MB"
    if all.workers_pss_mb - a_tenth.workers_pss_mb > MOST_WORKERS_MEGABYTES:
        yield f"the workers grew by {all.workers_pss_mb - a_tenth.workers_pss_mb:.0f} MB"


def _shared() -> Iterator[str]:
    for path in Path("/dev/shm").iterdir():
        yield str(path)
    for kind in ("shm", "sem", "msg"):
        listed = Path("/proc/sysvipc", kind)
        lines = listed.read_text().splitlines()[1:] if listed.exists() else []
        yield from (f"System V {kind} {line.split()[1]}" for line in lines)
