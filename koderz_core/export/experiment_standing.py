"""What to say of an experiment that has no result (yet) or met a limit, and what can be done about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from koderz_core.export.standing import Tone
from koderz_core.records import StopReason
from koderz_core.records.rows import BenchmarkRow, ExperimentRow


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


def standing(row: ExperimentRow, benchmark: BenchmarkRow) -> Standing | None:
    """None for what came to its own end, and for what simply goes on."""
    if row.shown in ("solved", "unsolved") and row.reason in LIMITS:
        return Standing("info", "✋", LIMITS[row.reason], row.error or "")
    if row.shown not in SAID:
        return None
    idle, recorded = not benchmark.under_way, row.error or "" if row.shown in ("error", "cancelled") else ""
    command = f"koderz resume {row.benchmark} --retry-errors" if row.shown == "error" and idle else ""
    return Standing(*SAID[row.shown], recorded, command, resumable=idle and row.shown in TAKEN_UP)
