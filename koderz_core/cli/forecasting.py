"""A forecast in words, before anything is paid."""

from __future__ import annotations

from collections.abc import Iterator

from koderz_core.export.forecasts import between
from koderz_core.export.formats import count, duration, money, numbered, plain
from koderz_core.records import Plan
from koderz_core.records.forecasts import Forecast


def forecast_lines(forecast: Forecast) -> Iterator[str]:
    """What will be taken; nothing where that is not known, or nothing is left to do."""
    if forecast.tells:
        calls = between(forecast.calls, lambda number: count(round(number)))
        yield f"Left to do: {numbered(forecast.experiments, 'experiment')}; calls: {calls}."
        yield f"Price: {between(forecast.cost_usd, money)}. Time: {between(forecast.seconds, duration)}."
        yield f"Estimated from {numbered(forecast.past, 'finished experiment')}; harder or slower problems take more."


def warnings(forecast: Forecast, plan: Plan) -> Iterator[str]:
    """What a person should know of the price before anything is asked."""
    for model in forecast.unpriced:
        yield f"No price is known for {plain(model)}, so its cost is not reported and no budget limits it."
    if forecast.may_exceed(plan.budget.usd):
        usd = money(plan.budget.usd)
        yield f"The budget of {usd} for all of it, what is spent already included, may not be enough."
