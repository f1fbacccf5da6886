"""The chart of spending: what was spent, the estimate from where it was made, and the budget."""

from __future__ import annotations

from dataclasses import replace

from test_status import PROGRESS, ROW

from koderz_core.records.progress import Forecast, Range
from koderz_core.report.charts_spending import spending_chart, spending_text

FORECAST = Forecast(6, None, Range(0.6, 0.9), None, 41, (), (), spent_usd=0.1)
RUN = replace(ROW, planned=10, finished=4, cost_usd=0.3, unpriced=0, budget_usd=2.0)


def test_the_estimate_starts_where_its_run_started_and_ends_at_all_experiments() -> None:
    progress = replace(PROGRESS, benchmark=RUN, forecast=FORECAST)
    figure = spending_chart(progress)
    assert figure is not None
    lines = {line.name: (list(line.x), [round(usd, 3) for usd in line.y]) for line in figure.data}
    assert lines == {
        "90th percentile": ([4, 10], [0.1, 1.0]),
        "estimate": ([4, 10], [0.1, 0.7]),
        "budget": ([0, 10], [2.0, 2.0]),
        "spent": ([0, 0], [0.0, 0.3]),
    }
    assert spending_text(progress) == "Estimated total cost: $0.70, 90th percentile: $1.00. Budget: $2.00."


def test_without_an_estimate_of_all_experiments_there_is_only_the_spending() -> None:
    partial = replace(FORECAST, unknown=("conf_1",))
    progress = replace(PROGRESS, benchmark=replace(RUN, budget_usd=None), forecast=partial)
    figure = spending_chart(progress)
    assert figure is not None
    assert [line.name for line in figure.data] == ["spent"]


def test_an_unknown_cost_is_not_drawn_as_zero() -> None:
    progress = replace(PROGRESS, benchmark=replace(RUN, cost_usd=None, unpriced=2))
    assert spending_chart(progress) is None
    assert "2 calls had no known price" in spending_text(progress)
