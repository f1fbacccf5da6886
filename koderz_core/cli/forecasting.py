"""A forecast in words: before anything is paid, and beside what it came to."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from koderz_core.analysis.power import can_show
from koderz_core.export.formats import count, duration, money, plain
from koderz_core.records import Plan
from koderz_core.records.forecasts import Forecast, Range


def forecast_lines(forecast: Forecast) -> Iterator[str]:
    """What will be taken; nothing where that is not known, or nothing is left to do."""
    if forecast.experiments and not forecast.unknown:
        calls = _between(forecast.calls, lambda number: count(round(number)))
        yield f"Left to do: {forecast.experiments} experiments; calls: {calls}."
        yield f"Price: {_between(forecast.cost_usd, money)}. Time: {_between(forecast.seconds, duration)}."
        yield f"Told from {forecast.past} experiments; what is harder or slower than these takes more."


def showing(plan: Plan) -> str:
    """How large a difference the plan can show, in the words that Launch has too."""
    return can_show(len(plan.problems), plan.repeats, len(plan.configurations))


def warnings(forecast: Forecast, plan: Plan) -> Iterator[str]:
    """What a person should know of the price before anything is asked."""
    for model in forecast.unpriced:
        yield f"No price is known of {plain(model)}: what it costs is told nowhere, and no budget holds it."
    usd, expected = plan.budget.usd, forecast.cost_usd
    if usd is not None and expected is not None and expected.p90 > usd:
        yield f"The budget of {money(usd)} for all of it, what is spent already included, may not be enough."


def receipt(forecast: Forecast | None, cost_usd: float | None, seconds: float) -> str:
    """What it came to, beside what was told before; None: that was about something else."""
    if forecast is None or forecast.unknown or not forecast.experiments:
        return f"It cost {money(cost_usd)} and took {duration(seconds)}."
    return (
        f"It cost {money(cost_usd)} (forecast: {_between(forecast.cost_usd, money)}) "
        f"and took {duration(seconds)} (forecast: {_between(forecast.seconds, duration)})."
    )


def _between(expected: Range | None, shown: Callable[[float], str]) -> str:
    if expected is None:
        return "unknown"
    return f"about {shown(expected.p50)}, in 9 of 10 cases at most {shown(expected.p90)}"
