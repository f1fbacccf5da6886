"""How outcomes, numbers and hostile texts look, in a terminal and on a page alike."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from math import isinf, isnan
from typing import TYPE_CHECKING

from koderz_core.analysis.bounds import Cases
from koderz_core.analysis.compared import Compared
from koderz_core.analysis.paired import in_points
from koderz_core.analysis.rates import ClusteredRate, Rate
from koderz_core.records import Outcome
from koderz_core.records.marks import Marks
from koderz_core.records.rows import BenchmarkState, State

if TYPE_CHECKING:  # numpy is slow to import, and most commands need none of it
    from koderz_core.analysis.incidence import Axis

MARKS: Mapping[Outcome | State, str] = {
    "solved": "✓ solved",
    "unsolved": "✗ unsolved",
    "cancelled": "- cancelled",
    "error": "! error",
    "running": "▶ running",
    "paused": "‖ paused",
    "interrupted": "⚡ interrupted",
    "planned": "· waiting",
}
STATES: Mapping[BenchmarkState, str] = {
    "queued": "· queued",
    "running": "▶ running",
    "paused": "‖ paused",
    "stopping": "■ stopping",
    "stopped": "■ stopped",
    "interrupted": "⚡ interrupted",
    "finished": "✓ finished",
}

SHARED = "shared: these tests ran in the program's own process, which could in principle fake what it reports"
"""Said beside a verdict whose tests need values that are not plain data."""


def tier_name(tier: str | None) -> str:
    """``small frontier``; a tier that is not known says so."""
    return "unknown" if tier is None else tier.replace("_", " ")


def isolation(tier: str, self_test: str) -> str:
    """``hardened, self-test 17/17``: what programs ran in, how many checks of it passed; ``limited`` is marked."""
    mark = " ⚠ (programs could read your files and use your network)" if tier == "limited" else ""
    return tier + mark + (f", self-test {self_test}" if self_test else "")


def duration(seconds: float | None) -> str:
    """``12 ms``, ``1.2 s``, ``3 min 05 s``, ``2 h 10 min``; unknown is ``?``."""
    if seconds is None:
        return "?"
    if seconds < 0.1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def day(at: float) -> str:
    """``2026-11-21 14:05 UTC``; ``?`` for what is no time, as a stranger's journal may have it."""
    try:
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError, OSError):
        return "?"


def money(usd: float | None) -> str:
    """Two significant digits and at least cents; unknown is ``unpriced``, never zero; endless is ``∞``, none ``–``."""
    if usd is None:
        return "unpriced"
    if isnan(usd):
        return "–"
    if isinf(usd):
        return "∞"
    if usd == 0 or usd >= 1:
        return f"${usd:.2f}"
    digits = 2
    while usd < 10 ** (1 - digits) and digits < 9:
        digits += 1
    return f"${usd:.{digits}f}"


def rate(value: Rate | ClusteredRate) -> str:
    """``62 % [54, 69]``, the interval at 95 %."""
    return span(value.value, value.low, value.high)


def marked_rate(share: float | None, low: float | None, high: float | None, marks: Marks) -> str:
    """``62 % [54, 69]*``: a share of solved problems, its interval where that is known, and its marks; unknown: ``–``.

    Every rate that may carry a mark is shown by this function.
    """
    if share is None:
        return percent(None)
    return (percent(share) if low is None else span(share, low, high)) + marks.signs


def share(row: Compared) -> str:
    """The share solved with its interval and its marks."""
    low, high = (row.rate.low, row.rate.high) if row.rate else (None, None)
    return marked_rate(row.share, low, high, row.marks)


def span(share: float | None, low: float | None, high: float | None) -> str:
    """A share with its interval, as ``rate`` says it."""
    if share is None or low is None or high is None:
        return "-"
    return f"{share:.0%} [{low * 100:.0f}, {high * 100:.0f}]".replace("%", " %")


def share_cases(found: Cases) -> str:
    """``53 to 95 %``: a share in the worst and in the best case of missing results."""
    worst, best = (f"{100 * one:.0f}" for one in (found.worst, found.best))
    return f"{worst} %" if worst == best else f"{worst} to {best} %"


def bounded(row: Compared) -> str | None:
    """The share that a configuration solved in the worst and in the best case; None where nothing is missing."""
    return share_cases(row.cases) if row.missing and row.cases else None


def point_cases(found: Cases) -> str:
    """``-10 to +31``: a difference in percentage points, in the worst and in the best case of missing results."""
    worst, best = (f"{100 * one:+.0f}" for one in (found.worst, found.best))
    return worst if worst == best else f"{worst} to {best}"


def percent(share: float | None) -> str:
    """``62 %``, nearly all ``>99 %``; unknown is ``–``."""
    if share is None:
        return "–"
    return ">99 %" if 0.995 <= share < 1 else f"{share:.0%}".replace("%", " %")


def points(difference: float | None, low: float | None, high: float | None, apart: bool = False) -> str:
    """``-3 [-8, +2]``: a difference of shares in percentage points, with its interval."""
    if difference is None or low is None or high is None:
        return "-"
    return f"{100 * difference:+.0f} [{', '.join(in_points(low, high, apart))}]"


def chance(value: float | None) -> str:
    """A probability or a p to two digits, never rounded to impossible or certain; unknown is ``-``."""
    if value is None:
        return "-"
    if 0 < value < 0.001:
        return "<0.001"
    if 0.995 <= value < 1:
        return ">0.99"
    return f"{value:.3f}" if 0 < value < 0.01 else f"{value:.2f}"


def money_span(usd: float | None, low: float | None, high: float | None) -> str:
    """``$0.12 [0.09, 0.20]``; the interval only where there is one."""
    said = money(usd)
    if usd is None or isnan(usd) or low is None or high is None:
        return said
    return f"{said} [{money(low).removeprefix('$')}, {money(high).removeprefix('$')}]"


def count(number: int | None) -> str:
    """With thin separators of thousands; unknown is ``?``."""
    return "?" if number is None else f"{number:,}".replace(",", " ")


def numbered(number: int, thing: str) -> str:
    """``1 experiment``, ``2 experiments``."""
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"


def amount(axis: Axis, used: float) -> str:
    """``2 attempts``, ``$0.12``, ``3.0 s``: how much of an axis of curves was used."""
    if axis == "attempts":
        return numbered(round(used), "attempt")
    return money(used) if axis == "usd" else duration(used)


def plain(text: str, limit: int | None = None) -> str:
    """A text from a model, problem or test without anything a terminal would obey; cut at ``limit`` characters."""
    kept = "".join(c if c in "\n\t" or unicodedata.category(c)[0] != "C" else "\N{REPLACEMENT CHARACTER}" for c in text)
    if limit is not None and len(kept) > limit:
        return f"{kept[:limit]}… ({len(kept) - limit} more characters)"
    return kept


def one_line(text: str) -> str:
    """A text as ``plain`` has it, on one line with single spaces."""
    return " ".join(plain(text).split())
