"""How long a benchmark will still take, judged by what has ended."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from koderz_core.records.rows import ExperimentRow


def seconds_left(rows: Sequence[ExperimentRow], now: float) -> float | None:
    """Seconds until all experiments of a benchmark have a result; None while none has. ``now``: seconds since 1970.

    Each that waits takes as long as those of its configuration with a result took on average (or all, if none of it
    has one), each that runs what is left of that; as many as run now share the work. Those that ended without a result
    count as waiting: who goes on with a benchmark takes them up again, and nothing here tells which have had their
    turn. An extrapolation, not a promise: problems differ, and the last ones leave threads idle.
    """
    took: dict[str, list[float]] = {}
    for row in rows:
        if _has_result(row) and row.seconds is not None:
            took.setdefault(row.configuration, []).append(row.seconds)
    if not took:
        return None
    overall = fmean(seconds for ended in took.values() for seconds in ended)
    means = {configuration: fmean(ended) for configuration, ended in took.items()}
    running, left = 0, 0.0
    for row in (row for row in rows if not _has_result(row)):
        elapsed = 0.0
        if row.state == "running" and row.started_at is not None:
            running, elapsed = running + 1, now - row.started_at
        left += max(0.0, means.get(row.configuration, overall) - elapsed)
    return left / max(1, running)


def _has_result(row: ExperimentRow) -> bool:
    return row.outcome in ("solved", "unsolved")  # these are final, so no experiment that runs has one
