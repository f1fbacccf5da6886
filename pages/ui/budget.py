"""Money: what may be spent, what will probably be, and what it came to."""

from __future__ import annotations

import streamlit as st

from koderz_core.export.forecasts import receipt
from koderz_core.export.formats import count, duration, money
from koderz_core.records import Budget
from koderz_core.records.forecasts import Forecast, Receipt


def choose_budget() -> Budget:
    """What a person allows to be spent; what is left empty has no limit."""
    with st.container(horizontal=True):
        usd = st.number_input(
            "Budget ($)", 0.0, value=None, key="budget", help="Of all. What is left then has no result and can go on."
        )
        each = st.number_input(
            "Per experiment ($)",
            0.0,
            value=None,
            key="budget each",
            help="An experiment that has used it up is unsolved.",
        )
    allow_unpriced = st.checkbox(
        "Models without a price too",
        key="allow unpriced",
        help="They count as $0.",
        disabled=usd is None and each is None,
    )
    return Budget(usd, each, allow_unpriced)


def show_forecast(forecast: Forecast, budget: Budget) -> None:
    """What is left to do will probably cost and take that, and in nine of ten cases at most so much."""
    if forecast.unknown:
        st.caption("Price and time are not known: too little like it has ended so far.")
    elif forecast.experiments:
        with st.container(horizontal=True):
            if forecast.cost_usd:
                st.metric("price, about", money(forecast.cost_usd.p50), help="In half of the cases it is less.")
                st.metric("at most, 9 in 10", money(forecast.cost_usd.p90))
            if forecast.seconds:
                st.metric("time, about", duration(forecast.seconds.p50), help="In half of the cases it is less.")
                st.metric("at most, 9 in 10", duration(forecast.seconds.p90))
        st.caption(f"Told from {count(forecast.past)} experiments that have ended.")
    for model in forecast.unpriced:
        st.text(f"No price is known of {model}.")
    if forecast.may_exceed(budget.usd):
        st.text(f"{money(budget.usd)} for all of it, what is spent already included, may not be enough.")


def show_receipt(came_to: Receipt | None) -> None:
    """What a benchmark that has come to its end cost and took, beside what was foretold."""
    if came_to:
        st.text(receipt(came_to))
