"""Trouble with models while a benchmark runs, and what happens next: the words for the terminal and for Live."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from koderz_core.records.progress import ModelTrouble
from koderz_core.report.formats import count, duration, numbered, plain
from koderz_core.times import local_second

BLIP_SECONDS = 2.0  # trouble that is over sooner is not shown
SHOWN_SECONDS = 15.0  # for so long a recovery is shown
ENDED_SECONDS = 60.0  # for so long a failure is shown that no call waits for

Stage = Literal["retrying", "closed", "failed", "recovered"]
"""A call is tried again; the circuit breaker lets none through; no call is tried again; the model works again."""


@dataclass(frozen=True, slots=True)
class TroubleNotice:
    """One line about one model."""

    model: str
    stage: Stage
    text: str


def trouble_notices(troubles: Sequence[ModelTrouble], now: float) -> list[TroubleNotice]:
    """One line per model that is in trouble now or has just recovered; ``now``: seconds since 1970."""
    notices = []
    for trouble in troubles:
        stage = _stage(trouble, now)
        if stage is not None:
            notices.append(TroubleNotice(trouble.model, stage, f"{plain(trouble.model)}: {_said(trouble, stage, now)}"))
    return notices


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


def _said(trouble: ModelTrouble, stage: Stage, now: float) -> str:
    if stage == "recovered":
        lasted = _whole((trouble.answered_at or now) - trouble.begun_at)
        return f"it answers again, after {numbered(trouble.failures, 'failed attempt')} in {lasted}."
    seconds = trouble.failed_at - trouble.begun_at
    times = "once" if trouble.failures == 1 else f"{count(trouble.failures)} times in {_whole(seconds)}"
    return f"{plain(trouble.cause)} ({times}). {_next(trouble, stage, now)}"


def _next(trouble: ModelTrouble, stage: Stage, now: float) -> str:
    """What happens next."""
    if stage == "closed":
        return _closed(trouble.closed_until or now, now)
    if stage == "failed":
        used = f"All {trouble.retries} retries are used" if trouble.retries else "This is not retried"
        return f"{used}: the experiment ends as error."
    most = "" if trouble.retries is None else f" of {trouble.retries}"
    used = f"{trouble.retries_used}{most} retries used."
    if trouble.next_at is None:
        return f"An attempt is under way; {used}"
    if trouble.next_at <= now:
        return f"The next attempt begins as soon as there is room; {used}"
    return f"Next attempt in {_whole(trouble.next_at - now)}; {used}"


def _closed(until: float, now: float) -> str:
    wait = "The circuit breaker is open: experiments with this provider wait"
    if until <= now:
        return f"{wait} for one attempt, which is due now."
    return f"{wait} until {local_second(until)} (in {_whole(until - now)})."


def _whole(seconds: float) -> str:
    return duration(seconds) if seconds >= 100 else f"{max(1, round(seconds))} s"
