"""The slopes of the samples of ``soak_service.py``: per hour, with a confidence interval and a verdict."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from koderz_core.analysis.rates import student

HOUR = 3600.0
BLOCK_SECONDS = 300.0
LEAST_BLOCKS = 6
GROWS = "GROWS"
TOLERATED: Mapping[str, float] = {
    "anonymous_mb": 5.0,
    "rss_mb": 5.0,
    "peak_rss_mb": 5.0,
    "mb": 5.0,
    "descriptors": 1.0,
    "threads": 1.0,
    "processes": 1.0,
    "files": 1.0,
}
"""The growth per hour that still counts as flat, by measure. Others, which depend on the machine's load, are shown."""


@dataclass(frozen=True, slots=True)
class Slope:
    """Growth per hour and its 95 % interval, None if there are too few samples. ``first``, ``last``: fitted levels."""

    samples: int
    first: float
    last: float
    per_hour: float | None
    low: float | None
    high: float | None

    def verdict(self, tolerated: float | None) -> str:
        if tolerated is None:
            return "not judged"
        if self.low is None or self.high is None:
            return "too few samples"
        return GROWS if self.low > tolerated else "flat" if self.high <= tolerated else "unclear"


def slope(seconds: Sequence[float], values: Sequence[float]) -> Slope:
    """The least-squares line through the means of blocks of 5 minutes.

    Neighbouring blocks are correlated, so the interval uses the effective number of blocks, n (1 - r) / (1 + r), with
    the lag-1 autocorrelation r of the residuals: Santer et al., Journal of Geophysical Research 105 (2000) 7337-7356.
    """
    times, means = _blocks(seconds, values)
    n = len(times)
    if n < 2:
        return Slope(len(values), means[0] if means else math.nan, means[-1] if means else math.nan, None, None, None)
    middle, level = fmean(times), fmean(means)
    spread = sum((at - middle) ** 2 for at in times)
    steep = sum((at - middle) * (mean - level) for at, mean in zip(times, means, strict=True)) / spread
    rests = [mean - level - steep * (at - middle) for at, mean in zip(times, means, strict=True)]
    first, last = (level + steep * (at - middle) for at in (times[0], times[-1]))
    squares = sum(rest**2 for rest in rests)
    repeated = sum(item * two for item, two in pairwise(rests)) / squares if squares > 1e-18 else 0.0
    effective = n * (1 - max(0.0, repeated)) / (1 + max(0.0, repeated))
    if n < LEAST_BLOCKS or effective <= 2.5:
        return Slope(len(values), first, last, steep * HOUR, None, None)
    reach = student(0.975, effective - 2) * math.sqrt(squares / (effective - 2) / spread)
    return Slope(len(values), first, last, steep * HOUR, (steep - reach) * HOUR, (steep + reach) * HOUR)


def read(file: Path) -> dict[tuple[str, str], tuple[list[float], list[float]]]:
    """The times (s) and values of each subject's measures."""
    found: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
    with file.open(newline="") as lines:
        for row in csv.DictReader(lines):
            times, values = found.setdefault((row["subject"], row["measure"]), ([], []))
            times.append(float(row["at"]))
            values.append(float(row["value"]))
    return found


def table(file: Path, warm_up: float) -> tuple[str, int]:
    """Markdown, a line per measure after ``warm_up`` seconds; and the number of measures that grow."""
    lines = [
        "| subject | measure | samples | from | to | per hour (95 % interval) | trend |",
        "|---|---|--:|--:|--:|--:|---|",
    ]
    growing = 0
    for (subject, measure), (times, values) in sorted(read(file).items()):
        kept = [(at, value) for at, value in zip(times, values, strict=True) if at >= warm_up]
        found = slope([at for at, _ in kept], [value for _, value in kept])
        verdict = found.verdict(TOLERATED.get(measure))
        growing += verdict == GROWS
        cells = (
            subject,
            measure,
            str(found.samples),
            f"{found.first:.1f}",
            f"{found.last:.1f}",
            _interval(found),
            verdict,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines), growing


def _interval(found: Slope) -> str:
    if found.per_hour is None:
        return "unknown"
    if found.low is None or found.high is None:
        return f"{found.per_hour:+.2f} (unknown)"
    return f"{found.per_hour:+.2f} ({found.low:+.2f} to {found.high:+.2f})"


def _blocks(seconds: Sequence[float], values: Sequence[float]) -> tuple[list[float], list[float]]:
    blocks: dict[int, list[tuple[float, float]]] = {}
    for at, value in zip(seconds, values, strict=True):
        blocks.setdefault(int(at // BLOCK_SECONDS), []).append((at, value))
    kept = [blocks[number] for number in sorted(blocks)]
    return [fmean(at for at, _ in block) for block in kept], [fmean(value for _, value in block) for block in kept]
