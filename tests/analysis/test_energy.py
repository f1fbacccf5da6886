"""The price of electricity at which a ranking flips."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koderz_core.analysis.energy import Bill, break_even_usd_per_kwh

BILLS = st.builds(Bill, st.floats(0, 100), st.floats(0, 100))


def test_a_local_model_loses_to_a_rented_one_above_a_price_of_electricity() -> None:
    local, rented = Bill(usd_without_energy=0.10, kwh=2.0), Bill(usd_without_energy=0.70, kwh=0.0)
    assert break_even_usd_per_kwh(local, rented) == pytest.approx(0.30)
    assert local.usd(0.29) < rented.usd(0.29)
    assert local.usd(0.31) > rented.usd(0.31)


@pytest.mark.parametrize("other", [Bill(0.1, 2.0), Bill(0.7, 2.0), Bill(0.05, 1.0), Bill(0.7, 2.5)])
def test_where_the_same_is_cheaper_at_any_price_nothing_flips(other: Bill) -> None:
    assert break_even_usd_per_kwh(Bill(0.1, 2.0), other) is None


@given(BILLS, BILLS)
def test_at_the_break_even_both_cost_the_same_whichever_is_named_first(one: Bill, other: Bill) -> None:
    price = break_even_usd_per_kwh(one, other)
    assert price == break_even_usd_per_kwh(other, one)
    if price is not None and price < 1e9:
        assert one.usd(price) == pytest.approx(other.usd(price), rel=1e-6, abs=1e-6)
