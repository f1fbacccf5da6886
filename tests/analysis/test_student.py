"""Student's t."""

from __future__ import annotations

import pytest
from scipy import stats

from koderz_core.analysis.rates import student


@pytest.mark.parametrize("freedom", [1, 1.3, 2, 3, 4.7, 17, 163, 100_000])
@pytest.mark.parametrize("quantile", [0.501, 0.9, 0.975, 0.9977, 0.99999])
def test_the_quantile_is_scipys(freedom: float, quantile: float) -> None:
    assert student(quantile, freedom) == pytest.approx(stats.t.ppf(quantile, freedom), rel=1e-9)
