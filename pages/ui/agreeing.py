"""A launch that may be dear or long is begun only once a person has agreed to what it may cost, and where it runs."""

from __future__ import annotations

import streamlit as st

from koderz_core import Concern
from koderz_core.export.forecasts import between
from koderz_core.export.formats import duration, money, numbered
from koderz_core.records.forecasts import Forecast

KEY = "agreed to"


def agreed(benchmark: str, concern: Concern | None, forecast: Forecast, *, started: bool) -> bool:
    """Whether it may begin: at once where there is nothing to agree to, else after the dialog that ``started`` opens.

    ``benchmark``: the id that is agreed to, and no other.
    """
    if started and concern:
        _ask(benchmark, concern, forecast)
    said_so = st.session_state.pop(KEY, None) == benchmark
    return said_so or (started and concern is None)


@st.dialog("Start this?")
def _ask(benchmark: str, concern: Concern, forecast: Forecast) -> None:
    if st.session_state.get(KEY) == benchmark:
        st.rerun()  # the dialog goes, and the page begins it
    for reason in concern.reasons:
        st.text(f"⚠️ {reason}")
    st.text(f"Left to do: {numbered(forecast.experiments, 'experiment')}.")
    if forecast.tells:
        st.text(f"Price: {between(forecast.cost_usd, money)}.\nTime: {between(forecast.seconds, duration)}.")
    st.text(concern.cap)
    st.text(concern.where)
    st.caption("From when on you are asked, is a setting: `confirm_usd` and `confirm_hours`.")
    with st.container(horizontal=True):
        st.button("Start it", type="primary", icon="🚀", key="agree", on_click=_agree, args=[benchmark])
        if st.button("Not now", key="not now"):
            st.rerun()


def _agree(benchmark: str) -> None:
    st.session_state[KEY] = benchmark
