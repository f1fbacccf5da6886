"""The chart of what a benchmark has spent, next to its estimate and its budget, while it runs and after its end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import attrgetter

import plotly.graph_objects as go  # type: ignore[import-untyped]  # plotly ships no types

from koderz_core.records.progress import BenchmarkProgress, Forecast
from koderz_core.report.charts import calm, theme_color
from koderz_core.report.formats import money, numbered

HEIGHT = 220
MOST_POINTS = 200
SPENT, ESTIMATE, BUDGET = theme_color(0), theme_color(6), theme_color(1)


def spending_chart(progress: BenchmarkProgress) -> go.Figure | None:
    """Dollars spent by the number of experiments that have ended; None if a call has no known price or none has a cost.

    The estimate starts where the run started for which it was made.
    """
    row, forecast = progress.benchmark, _known(progress.forecast)
    if row.cost_usd is None or not (row.cost_usd or forecast):
        return None
    figure = go.Figure()
    if forecast and forecast.cost_usd:
        start = max(0, row.planned - forecast.experiments), forecast.spent_usd
        most, usual = forecast.cost_usd.p90, forecast.cost_usd.p50
        for name, usd, dash in (("90th percentile", most, "dot"), ("estimate", usual, "dash")):
            _line(figure, name, [start, (row.planned, start[1] + usd)], ESTIMATE, dash)
    if row.budget_usd is not None:
        _line(figure, "budget", [(0, row.budget_usd), (row.planned, row.budget_usd)], BUDGET, "longdash")
    _line(figure, "spent", _spent(progress), SPENT, "solid")
    figure.update_xaxes(title="experiments that have ended", range=[0, row.planned], nticks=5)
    figure.update_yaxes(tickprefix="$", exponentformat="none", nticks=4, rangemode="tozero")
    return calm(figure, HEIGHT)


def spending_alt(progress: BenchmarkProgress) -> str:
    """The chart in words."""
    return f"Spending: {money(progress.benchmark.cost_usd)}. {spending_text(progress)}".strip()


def spending_text(progress: BenchmarkProgress) -> str:
    """The estimate and the budget; empty without either. What is spent changes with each event, so it is elsewhere."""
    row, forecast = progress.benchmark, _known(progress.forecast)
    if row.cost_usd is None:
        return f"The cost is unknown, because {numbered(row.unpriced, 'call')} had no known price."
    parts = []
    if forecast and forecast.cost_usd:
        total = (money(forecast.spent_usd + usd) for usd in (forecast.cost_usd.p50, forecast.cost_usd.p90))
        parts.append("Estimated total cost: {}, 90th percentile: {}.".format(*total))
    if row.budget_usd is not None:
        parts.append(f"Budget: {money(row.budget_usd)}.")
    return " ".join(parts) or ("" if row.cost_usd else "Nothing has been spent.")


def _known(forecast: Forecast | None) -> Forecast | None:
    """The estimate, if it is one of the cost of all experiments."""
    return forecast if forecast and forecast.tells and forecast.cost_usd else None


def _spent(progress: BenchmarkProgress) -> list[tuple[int, float]]:
    """The sum of the costs after each experiment that has ended; last, with the calls of those that run, the total."""
    ended = sorted((row for row in progress.experiments if row.finished_at is not None), key=attrgetter("finished_at"))
    sums = [*accumulate((row.cost_usd or 0.0 for row in ended), initial=0.0)]
    step = -(-len(sums) // MOST_POINTS)
    return [
        *[(done, sums[done]) for done in range(0, len(sums), step)],
        (len(ended), progress.benchmark.cost_usd or 0.0),
    ]


def _line(figure: go.Figure, name: str, points: Sequence[tuple[int, float]], colour: str, dash: str) -> None:
    numbers, dollars = zip(*points, strict=True)
    figure.add_scatter(
        x=numbers,
        y=dollars,
        name=name,
        mode="lines",
        line={"color": colour, "dash": dash, "width": 2.5 if name == "spent" else 1.5},
        text=[money(usd) for usd in dollars],
        hovertemplate="%{text}<extra>" + name + "</extra>",
    )
