"""The state of a benchmark or of an experiment in words, what can be done about it, and search by words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from koderz_core.records import Allowance, StopReason
from koderz_core.records.progress import AllowanceChange, BenchmarkProgress
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.report.formats import STATES, count, money, numbered, plain
from koderz_core.times import second

STALE_SECONDS, QUIET_SECONDS = 10.0, 60.0  # since it was read, and since anything happened in what runs
MOST_CHARACTERS = 500  # of a cause
MANY, BEAT_SECONDS, SLOW_BEAT_SECONDS = 10_000, 0.6, 5.0  # more experiments than that take long to read

Tone = Literal["info", "warning", "error"]
"""How much something matters."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence of ours."""

    tone: Tone
    text: str


@dataclass(frozen=True, slots=True)
class Cause:
    """Why so many experiments ended as error: a message that may quote anything, and how many they are."""

    message: str
    experiments: int


def standing(progress: BenchmarkProgress) -> Remark | None:
    """What there is to know of a benchmark's state, and to do about it; None where its name says all."""
    row = progress.benchmark
    unpaid = (experiment.shown == "cancelled" and experiment.reason == "budget" for experiment in progress.experiments)
    if row.state == "stopped" and any(unpaid):
        return Remark("warning", f"Stopped, since its budget is used up. {_more(row)} Every finished step is kept.")
    if row.state == "finished" and row.errors:
        return Remark("warning", f"{state(row).capitalize()}. {_UNCOUNTED} {_RETRY}")
    return _STANDING.get(row.state)


def state(row: BenchmarkRow) -> str:
    """``running``, ``finished``, ``finished with 4 errors``, ``ended: 6 of 6 errors, no result``."""
    if row.state == "finished" and row.errors and row.errors == row.planned:
        return f"ended: {count(row.errors)} of {count(row.planned)} errors, no result"
    return f"{row.state} with {numbered(row.errors, 'error')}" if row.errors and not row.under_way else row.state


def marked_state(row: BenchmarkRow) -> str:
    """``state`` with its mark; what finished with errors has that of an error."""
    mark = "!" if row.state == "finished" and row.errors else STATES[row.state].split()[0]
    return f"{mark} {state(row)}"


def causes(rows: Iterable[ExperimentRow]) -> tuple[Cause, ...]:
    """Why experiments ended as error, the most frequent cause first."""
    times = Counter(plain(row.error or "", MOST_CHARACTERS) for row in rows if row.shown == "error")
    return tuple(Cause(message, number) for message, number in times.most_common())


def freshness(progress: BenchmarkProgress, now: float, heard_at: float | None = None, *, here: bool = True) -> Remark:
    """How old what is shown is, and whether anything has happened in what runs; ``now``: seconds since 1970.

    ``heard_at``: when a model of it last wrote something, None if none is writing. ``here``: whether this process runs
    it; what models write in another one is not known, so its silence is no reason to warn.
    """
    row, read = progress.benchmark, now - progress.at
    if read > STALE_SECONDS:
        return Remark("warning", f"Stale: the results cannot be read now. This is what was known {ago(read)}.")
    news_at = max((at for at in (progress.news_at, heard_at) if at is not None), default=None)
    kind = "event" if news_at == progress.news_at else "text"
    news = "" if news_at is None else f" · newest {kind} {ago(now - news_at)}"
    if row.state == "running" and news_at is not None and now - news_at > QUIET_SECONDS:
        quiet = f"No completed step for {_rough(now - news_at)}; {_who(row)} is still running."
        return Remark("warning" if here else "info", quiet)
    slow = f" · read every {SLOW_BEAT_SECONDS:.0f} s, since it is large" if row.planned > MANY else ""
    return Remark("info", f"Updated {ago(read)}{news}{slow}")


def beat_seconds(row: BenchmarkRow | None) -> float:
    """How often a benchmark is read again while somebody watches it."""
    return SLOW_BEAT_SECONDS if row and row.planned > MANY else BEAT_SECONDS


def spent(row: BenchmarkRow) -> str:
    """``$0.12 of $2.50``: what it has cost, and may cost in all."""
    cost = money(row.cost_usd) if row.unpriced == 0 else f"{row.unpriced} calls unpriced"
    return cost if row.budget_usd is None else f"{cost} of {money(row.budget_usd)}"


def at_work(row: BenchmarkRow) -> str:
    """``2 of 4``: how many experiments somebody is at, and how many may be at once."""
    return count(row.running) if row.concurrency is None else f"{row.running} of {row.concurrency}"


def changed(change: AllowanceChange) -> str:
    """``13:05:12 UTC: budget $5.00 → $2.50 (process 71)``."""
    before, after = change.before, change.after
    told = [] if before.usd == after.usd else [f"budget {_usd(before)} → {_usd(after)}"]
    if before.concurrency != after.concurrency:
        told.append(f"experiments at once {before.concurrency} → {after.concurrency}")
    return f"{second(change.at)}: {', '.join(told)} (process {change.by})"


def ago(seconds: float) -> str:
    """``just now``, ``2 s ago``, ``3 min ago``."""
    return "just now" if seconds < 1 else f"{_rough(seconds)} ago"


_UNCOUNTED = "Experiments that ended as an error have no result, so no rate counts them."
_RETRY = "Fix the cause, then retry them."
_STANDING = {
    "queued": Remark("info", "Begun, and nothing of it runs yet: it waits for a place or for a model."),
    "paused": Remark("info", "Paused: it waits before its next step. Resume goes on."),
    "stopping": Remark("info", "Stopping: what runs ends at its next step. Every finished step is kept."),
    "stopped": Remark("info", "Stopped before it was done. Every finished step is kept; Resume goes on."),
    "interrupted": Remark(
        "warning", "Interrupted: its process ended before it was done. Every finished step is kept; Resume goes on."
    ),
}


def _more(row: BenchmarkRow) -> str:
    return f"In a terminal `koderz resume {row.id} --max-cost` with a larger one goes on."


def _who(row: BenchmarkRow) -> str:
    return f"process {row.holder}" if row.holder else "its process"


def _usd(allowance: Allowance) -> str:
    return "none" if allowance.usd is None else money(allowance.usd)


def _rough(seconds: float) -> str:
    """In whole units, of which there are two at least."""
    for unit, size in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


@dataclass(frozen=True, slots=True)
class Standing:
    """How an experiment stands: our words ``said``, what was recorded (hostile text), and a command that goes on.

    ``resumable``: nobody is at it, and its benchmark can be taken up again.
    """

    tone: Tone
    icon: str
    said: str
    recorded: str = ""
    command: str = ""
    resumable: bool = False


SAID: Mapping[str, tuple[Tone, str, str]] = {
    "error": ("error", "⚠️", "It ended without a result: koderz, the machine or a provider failed, not the model."),
    "cancelled": ("info", "⏹️", "It was stopped before it came to a result. Each step that was taken is kept."),
    "interrupted": ("warning", "⚡", "The process that ran it ended in the middle. Each step that was taken is kept."),
    "paused": ("info", "⏸️", "It is paused and waits before its next step. The page of its benchmark lets it go on."),
    "planned": ("info", "⏳", "It has not begun."),
}
LIMITS: Mapping[StopReason | None, str] = {
    "budget": "It used up the budget of one experiment, so the best program tested by then is its result.",
    "context": "A prompt did not fit the context of its model, so the best program tested by then is its result.",
}
"""Why a strategy was ended, by limits that are part of its configuration."""
TAKEN_UP = frozenset({"cancelled", "interrupted", "planned"})
"""What a resumption does again; what ended as error keeps that result unless somebody asks for more."""


def experiment_standing(row: ExperimentRow, benchmark: BenchmarkRow) -> Standing | None:
    """None for what came to its own end, and for what simply goes on."""
    if row.shown in ("solved", "unsolved") and row.reason in LIMITS:
        return Standing("info", "✋", LIMITS[row.reason], row.error or "")
    if row.shown not in SAID:
        return None
    idle, recorded = not benchmark.under_way, row.error or "" if row.shown in ("error", "cancelled") else ""
    command = f"koderz resume {row.benchmark} --retry-errors" if row.shown == "error" and idle else ""
    return Standing(*SAID[row.shown], recorded, command, resumable=idle and row.shown in TAKEN_UP)


def benchmarks_of(rows: Sequence[BenchmarkRow], words: str) -> Sequence[BenchmarkRow]:
    """Those in whose name, id, state, dataset or models every one of these words occurs, in their order."""
    wanted = words.casefold().split()
    return [row for row in rows if _has(wanted, row.name, row.id, row.state, row.dataset, *row.models)]


def experiments_of(rows: Sequence[ExperimentRow], words: str) -> Sequence[ExperimentRow]:
    """Those in whose problem, label, outcome or state, failure or id every one of these words occurs."""
    wanted = words.casefold().split()
    return [row for row in rows if _has(wanted, row.problem, row.label, row.shown, row.failure or "", row.id)]


def _has(wanted: Sequence[str], *told: str) -> bool:
    said = "\n".join(told).casefold() if wanted else ""
    return all(word in said for word in wanted)
