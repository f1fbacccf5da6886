"""A forecast beside what it came to, in words."""

from __future__ import annotations

from collections.abc import Callable

from koderz_core.export.formats import duration, money
from koderz_core.records.forecasts import Range, Receipt

LAST_RUN = "The last run"
"""What a receipt is called that is shown later: the benchmark may have been resumed, and cost more in total."""


def receipt(came_to: Receipt, run: str = "It") -> str:
    """What the last run came to, beside what was told before; the sentence calls it ``run``."""
    cost, took = f"{run} cost {money(came_to.cost_usd)}", duration(came_to.seconds)
    told = came_to.forecast
    if told is None or not told.tells:
        return f"{cost} and took {took}."
    if came_to.seconds is None:
        return f"{cost} (forecast: {between(told.cost_usd, money)}); it rested in between, so no time is told."
    return (
        f"{cost} (forecast: {between(told.cost_usd, money)}) "
        f"and took {took} (forecast: {between(told.seconds, duration)})."
    )


def between(expected: Range | None, shown: Callable[[float], str]) -> str:
    """Both ends of a range, or that it is unknown."""
    if expected is None:
        return "unknown"
    return f"about {shown(expected.p50)}, in 9 of 10 cases at most {shown(expected.p90)}"
