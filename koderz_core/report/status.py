"""The states of benchmarks, experiments and models in words, what to do about them, and search by words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from koderz_core.records import Allowance, StopReason
from koderz_core.records.progress import AllowanceChange, BenchmarkProgress, MemoryShortage, ModelTrouble
from koderz_core.records.rows import BenchmarkRow, ExperimentRow
from koderz_core.report.formats import STATES, count, duration, money, money_spent, numbered, plain
from koderz_core.report.registration import decided
from koderz_core.times import local_second, second

STALE_SECONDS, QUIET_SECONDS = 10.0, 60.0  # since it was read, and since the last event of a running benchmark
MOST_CHARACTERS = 500  # of a cause
BEAT_SECONDS = 2.0  # between two drawings of a page
REST_SECONDS, PER_SECOND = 0.1, 20_000  # between two messages with news; the number of experiments that are sent
MANY, SLOW_BEAT_SECONDS = 10_000, 5.0  # more experiments than that take long to read
BLIP_SECONDS = 2.0  # shorter trouble is not shown
SHOWN_SECONDS = 15.0  # how long a recovery is shown
ENDED_SECONDS = 60.0  # how long a failure is shown that no call waits for

Tone = Literal["info", "warning", "error"]
"""How serious a remark is."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence of koderz."""

    tone: Tone
    text: str


@dataclass(frozen=True, slots=True)
class Cause:
    """Why experiments ended with an error: a message, which is hostile text, and their number."""

    message: str
    experiments: int


def benchmark_remark(progress: BenchmarkProgress) -> Remark | None:
    """A benchmark's state and what to do about it; None if the name of the state says everything."""
    row = progress.benchmark
    unpaid = (experiment.shown == "cancelled" and experiment.reason == "budget" for experiment in progress.experiments)
    if row.state == "stopped" and any(unpaid):
        command = f"koderz resume {row.id} --max-cost"
        return Remark(
            "warning",
            "Stopped, because the budget is used up. Finished calls and tests are kept. To continue, add a larger "
            f"budget to this command and run it in a terminal: `{command}`",
        )
    if row.decision and not row.under_way:
        return Remark("info", decided(row.decision, row.decided_by or 0, row.problems))
    if row.state == "finished" and row.errors:
        cure = "" if row.imported is not None else " Fix the cause, then retry these experiments."
        return Remark(
            "warning",
            f"{state(row).capitalize()}. Experiments that ended with an error have no result, so all rates exclude "
            f"them.{cure}",
        )
    return _REMARKS.get(row.state)


def state(row: BenchmarkRow) -> str:
    """``running``, ``finished``, ``finished early: the configuration matches the baseline``, ...

    ``ended without a result: 6 errors``. Only a decided sequential benchmark finishes early.
    """
    if row.state == "finished" and row.errors and row.errors == row.planned:
        return f"ended without a result: {numbered(row.errors, 'error')}"
    early = row.decision if row.state == "finished" else None
    name: str = "finished early" if early else row.state
    name += f" with {numbered(row.errors, 'error')}" if row.errors and not row.under_way else ""
    return f"{name}: {_EARLY[early]}" if early else name


def marked_state(row: BenchmarkRow) -> str:
    """``state`` with its mark; a benchmark that finished with errors has the mark of an error."""
    mark = "!" if row.state == "finished" and row.errors else STATES[row.state].split()[0]
    return f"{mark} {state(row)}"


def causes(rows: Iterable[ExperimentRow]) -> tuple[Cause, ...]:
    """Why experiments ended with an error, the most frequent cause first."""
    times = Counter(plain(row.error or "", MOST_CHARACTERS) for row in rows if row.shown == "error")
    return tuple(Cause(message, number) for message, number in times.most_common())


def freshness(progress: BenchmarkProgress, now: float, heard_at: float | None = None, *, here: bool = True) -> Remark:
    """The age of what is shown, and whether a running benchmark makes progress; ``now``: seconds since 1970.

    ``heard_at``: when one of its models last wrote text, None if none is writing. ``here``: whether this process runs
    it; text that models write in another process is not known, so then no event is not a reason to warn.
    """
    row, read = progress.benchmark, now - progress.at
    if read > STALE_SECONDS:
        return Remark("warning", f"Stale: the results cannot be read now. The page shows results from {ago(read)}.")
    news_at = max((at for at in (progress.news_at, heard_at) if at is not None), default=None)
    kind = "event" if news_at == progress.news_at else "text"
    news = "" if news_at is None else f" · newest {kind} {ago(now - news_at)}"
    if row.state == "running" and news_at is not None and now - news_at > QUIET_SECONDS:
        process = f"process {row.holder}" if row.holder else "the process of the benchmark"
        quiet = f"No call or test has been completed for {_rough(now - news_at)}; {process} is still running."
        return Remark("warning" if here else "info", quiet)
    slow = f" · refreshed every {SLOW_BEAT_SECONDS:.0f} s, because the benchmark is large" if row.planned > MANY else ""
    return Remark("info", f"Updated {ago(read)}{news}{slow}")


def beat_seconds(row: BenchmarkRow | None) -> float:
    """How often a page about a benchmark is drawn again without news."""
    return SLOW_BEAT_SECONDS if row and row.planned > MANY else BEAT_SECONDS


def rest_seconds(planned: int) -> float:
    """How long at least a page about a benchmark with this number of experiments stays the same."""
    return SLOW_BEAT_SECONDS if planned > MANY else max(REST_SECONDS, planned / PER_SECOND)


def spent(row: BenchmarkRow) -> str:
    """``$0.12 of $2.50``: its cost so far and its budget."""
    unpriced = f"unknown ({numbered(row.unpriced, 'call')} without a known price)"
    cost = unpriced if row.unpriced else money_spent(row.cost_usd, row.cached)
    return cost if row.budget_usd is None else f"{cost} of {money(row.budget_usd)}"


def at_work(row: BenchmarkRow) -> str:
    """``2 of 4``: how many experiments run, and how many may run at the same time."""
    return count(row.running) if row.concurrency is None else f"{row.running} of {row.concurrency}"


def changed(change: AllowanceChange) -> str:
    """``13:05:12 UTC: budget $5.00 → $2.50 (process 71)``."""
    before, after = change.before, change.after
    changes = [] if before.usd == after.usd else [f"budget {_usd(before)} → {_usd(after)}"]
    if before.concurrency != after.concurrency:
        changes.append(f"concurrency {before.concurrency} → {after.concurrency}")
    return f"{second(change.at)}: {', '.join(changes)} (process {change.by})"


def ago(seconds: float) -> str:
    """``under 1 s ago``, ``2 s ago``, ``3 min ago``."""
    return "under 1 s ago" if seconds < 1 else f"{_rough(seconds)} ago"


_EARLY = {
    "matches": "the configuration matches the baseline",
    "falls short": "the configuration falls short of the baseline",
    "hopeless": "the comparison would probably stay undecided",
}
_REMARKS = {
    "queued": Remark(
        "info",
        "Queued: no experiment is running yet. The benchmark waits until other experiments end or a model is ready.",
    ),
    "paused": Remark("info", "Paused: each experiment waits before its next call or test. Press Resume to continue."),
    "stopping": Remark(
        "info",
        "Stopping: running experiments end after their current call or test. Finished calls and tests are kept.",
    ),
    "stopped": Remark(
        "info",
        "Stopped before the benchmark was complete. Finished calls and tests are kept. Press Resume to continue.",
    ),
    "interrupted": Remark(
        "warning",
        "Interrupted: the process of the benchmark ended before the benchmark was complete. Finished calls and "
        "tests are kept. Press Resume to continue.",
    ),
}


def _usd(allowance: Allowance) -> str:
    return "none" if allowance.usd is None else money(allowance.usd)


def _rough(seconds: float) -> str:
    """In whole units, at least two of them."""
    for unit, size in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


@dataclass(frozen=True, slots=True)
class ExperimentRemark:
    """The state of an experiment: koderz' words ``text``, the recorded error (hostile text), and a command for it.

    ``resumable``: no process runs it, and its benchmark can be resumed. Imported results can neither be resumed nor
    retried.
    """

    tone: Tone
    icon: str
    text: str
    recorded: str = ""
    command: str = ""
    resumable: bool = False


EXPERIMENT_REMARKS: Mapping[str, tuple[Tone, str, str]] = {
    "error": (
        "error",
        "⚠️",
        "The experiment has no result, because koderz, the machine or a provider failed. The model is not the cause.",
    ),
    "cancelled": (
        "info",
        "⏹️",
        "The experiment was stopped before it had a result. Finished calls and tests are kept.",
    ),
    "interrupted": (
        "warning",
        "⚡",
        "The process of the experiment ended before the experiment had a result. Finished calls and tests are kept.",
    ),
    "paused": (
        "info",
        "⏸️",
        "The experiment is paused before its next call or test. Resume it on the Live page of its benchmark.",
    ),
    "planned": ("info", "⏳", "The experiment has not started."),
}
LIMITS: Mapping[StopReason | None, str] = {
    "budget": "The budget per experiment is used up, so the result is the best program so far.",
    "context": "A prompt did not fit into the context window of its model, so the result is the best program so far.",
}
"""Why a limit of the configuration ended the strategy."""
RESUMED = frozenset({"cancelled", "interrupted", "planned"})
"""The states that resuming runs again; errors are run again only with ``--retry-errors``."""


def experiment_remark(row: ExperimentRow, benchmark: BenchmarkRow) -> ExperimentRemark | None:
    """None for an experiment that ended on its own, and for one that runs."""
    if row.shown in ("solved", "unsolved") and row.reason in LIMITS:
        return ExperimentRemark("info", "✋", LIMITS[row.reason], row.error or "")
    if row.shown not in EXPERIMENT_REMARKS:
        return None
    idle = benchmark.imported is None and not benchmark.under_way
    recorded = row.error or "" if row.shown in ("error", "cancelled") else ""
    command = f"koderz resume {row.benchmark} --retry-errors" if row.shown == "error" and idle else ""
    return ExperimentRemark(*EXPERIMENT_REMARKS[row.shown], recorded, command, resumable=idle and row.shown in RESUMED)


def benchmarks_of(rows: Sequence[BenchmarkRow], words: str) -> Sequence[BenchmarkRow]:
    """The benchmarks whose name, id, state, dataset or models contain every one of these words."""
    wanted = words.casefold().split()
    return [row for row in rows if _has(wanted, row.name, row.id, row.state, row.dataset, *row.models)]


def experiments_of(rows: Sequence[ExperimentRow], words: str) -> Sequence[ExperimentRow]:
    """The experiments whose problem, label, outcome or state, failure or id contain every one of these words."""
    wanted = words.casefold().split()
    return [row for row in rows if _has(wanted, row.problem, row.label, row.shown, row.failure or "", row.id)]


def _has(wanted: Sequence[str], *texts: str) -> bool:
    text = "\n".join(texts).casefold() if wanted else ""
    return all(word in text for word in wanted)


Stage = Literal["retrying", "closed", "failed", "recovered", "low", "critical"]
"""A call is retried; the circuit breaker blocks calls; no call is retried; the model works again.

Too little memory: no experiment starts; running experiments are paused too.
"""
MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class TroubleNotice:
    """One line about one model, or about the memory."""

    model: str
    stage: Stage
    text: str


def trouble_notices(troubles: Sequence[ModelTrouble | MemoryShortage], now: float) -> list[TroubleNotice]:
    """A line per model that fails or has just recovered, and one about memory; ``now``: seconds since 1970."""
    notices: list[TroubleNotice] = []
    for trouble in troubles:
        if isinstance(trouble, MemoryShortage):
            notices += _about_memory(trouble, now)
            continue
        stage = _stage(trouble, now)
        if stage is not None:
            notices.append(TroubleNotice(trouble.model, stage, f"{plain(trouble.model)}: {_text(trouble, stage, now)}"))
    return notices


def _about_memory(shortage: MemoryShortage, now: float) -> Iterator[TroubleNotice]:
    free, wanted = f"{shortage.free_bytes / 1e9:.2f} GB", f"{shortage.wanted_bytes / 1e9:.2f} GB"
    if shortage.ended_at is not None:
        if now - shortage.ended_at <= SHOWN_SECONDS:
            lasted = _whole(shortage.ended_at - shortage.since)
            yield TroubleNotice(
                MEMORY, "recovered", f"After {lasted}, {free} of memory are free again. Experiments continue."
            )
        return
    since, cause = _whole(now - shortage.since), f"Memory is {shortage.level}: only {free} were free."
    does = "No new experiment starts, and no model is loaded"
    if shortage.level == "critical":
        does = "No new experiment starts, running experiments are paused, and models that no call uses are unloaded"
    cure = f"koderz continues when {wanted} are free: close other programs, or lower the concurrency."
    yield TroubleNotice(MEMORY, shortage.level, f"{cause} {does}. The shortage has lasted {since} so far. {cure}")


def _stage(trouble: ModelTrouble, now: float) -> Stage | None:
    if trouble.answered_at is not None:
        lasted = trouble.answered_at - trouble.begun_at >= BLIP_SECONDS
        return "recovered" if lasted and now - trouble.answered_at <= SHOWN_SECONDS else None
    if now - trouble.begun_at < BLIP_SECONDS:
        return None
    if trouble.closed_until is not None:
        return "closed"
    if trouble.waiting:
        return "retrying"
    return "failed" if now - trouble.failed_at <= ENDED_SECONDS else None


def _text(trouble: ModelTrouble, stage: Stage, now: float) -> str:
    if stage == "recovered":
        lasted = _whole((trouble.answered_at or now) - trouble.begun_at)
        return f"The model answers again, after {numbered(trouble.failures, 'failed call')} in {lasted}."
    seconds = trouble.failed_at - trouble.begun_at
    times = "once" if trouble.failures == 1 else f"{count(trouble.failures)} times in {_whole(seconds)}"
    return f"{plain(trouble.cause)} ({times}). {_next(trouble, stage, now)}"


def _next(trouble: ModelTrouble, stage: Stage, now: float) -> str:
    """What happens next."""
    if stage == "closed":
        return _closed(trouble.closed_until or now, now)
    if stage == "failed":
        used = (
            f"The maximum number of retries ({trouble.retries}) is reached"
            if trouble.retries
            else "Calls with this error are not retried"
        )
        return f"{used}: the experiment ends with an error."
    most = "" if trouble.retries is None else f" of {trouble.retries}"
    retries = "retry" if not most and trouble.retries_used == 1 else "retries"
    used = f"{trouble.retries_used}{most} {retries} used."
    if trouble.next_at is None:
        return f"A call is in progress; {used}"
    if trouble.next_at <= now:
        return f"The next call starts as soon as the provider's limits allow it; {used}"
    return f"Next call in {_whole(trouble.next_at - now)}; {used}"


def _closed(until: float, now: float) -> str:
    wait = "The circuit breaker is open: experiments with this provider wait"
    if until <= now:
        return f"{wait} for the outcome of one call, which starts now."
    return f"{wait} until {local_second(until)} (in {_whole(until - now)})."


def _whole(seconds: float) -> str:
    return duration(seconds) if seconds >= 100 else f"{max(1, round(seconds))} s"
