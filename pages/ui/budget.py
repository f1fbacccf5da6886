"""Money: what may be spent, what will probably be, and what it came to."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from koderz_core.export.forecasts import LAST_RUN, receipt
from koderz_core.export.formats import count, duration, money, numbered
from koderz_core.records import Budget
from koderz_core.records.forecasts import Forecast, Range, Receipt


def choose_budget(usual: Budget, of: str) -> Budget:
    """What a person allows to be spent; what is left empty has no limit. It is ``usual`` until it is changed.

    ``of``: sets widgets apart from those of another launch.
    """
    with st.container(horizontal=True):
        usd = st.number_input(
            "Budget ($)",
            0.0,
            value=usual.usd,
            key=f"budget{of}",
            help="For the whole benchmark. Experiments that it does not cover have no result and can be resumed.",
        )
        each = st.number_input(
            "Per experiment ($)",
            0.0,
            value=usual.per_experiment_usd,
            key=f"budget each{of}",
            help="An experiment that uses it up counts as unsolved.",
        )
    allow_unpriced = st.checkbox(
        "Allow unpriced models",
        usual.allow_unpriced,
        key=f"allow unpriced{of}",
        help="They count as $0.",
        disabled=usd is None and each is None,
    )
    return Budget(usd, each, allow_unpriced)


def show_forecast(forecast: Forecast, budget: Budget) -> None:
    """What is left to do will probably cost and take that, and in nine of ten cases at most so much."""
    if forecast.unknown:
        st.caption("No estimate yet: there are no comparable finished experiments.")
    elif forecast.experiments:
        with st.container(horizontal=True):
            _told("calls, about", forecast.calls, lambda number: count(round(number)))
            _told("price, about", forecast.cost_usd, money)
            _told("time, about", forecast.seconds, duration)
        st.caption(f"Estimated from {numbered(forecast.past, 'finished experiment')}.")
    for model in forecast.unpriced:
        st.text(f"No price is known for {model}.")
    if forecast.may_exceed(budget.usd):
        st.text(f"{money(budget.usd)} for all of it, what is spent already included, may not be enough.")


def _told(label: str, expected: Range | None, shown: Callable[[float], str]) -> None:
    """Nothing where it is not known."""
    if expected:
        most = f"9 in 10: at most {shown(expected.p90)}"
        about = "In half of the cases it is less."
        st.metric(label, shown(expected.p50), most, delta_color="off", delta_arrow="off", help=about)


def show_receipt(came_to: Receipt | None) -> None:
    """What the last run of a benchmark that has come to its end cost and took, beside what was foretold."""
    if came_to:
        st.text(receipt(came_to, LAST_RUN))
