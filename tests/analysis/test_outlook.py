"""What a benchmark will take, told from what like it took: the sum, how surely, and when nothing can be told."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from koderz_core.analysis.timing import FEWEST, forecast
from koderz_core.records import Configuration
from koderz_core.records.progress import Past

DIRECT = Configuration("direct", {"coder": ("m",)})
WARM = Configuration("direct", {"coder": ("m",)}, {"temperature": 0.5})
OTHER = Configuration("direct", {"coder": ("n",)})


def past(configuration: Configuration, *costs: float | None, seconds: float = 10.0) -> list[Past]:
    like = configuration.strategy, configuration.models
    return [Past(configuration.id, *like, calls=2, cost_usd=cost, seconds=seconds) for cost in costs]


def test_what_always_took_the_same_takes_that_so_many_times() -> None:
    told = forecast([(DIRECT, 8)], past(DIRECT, 0.5, 0.5, 0.5), at_once=4)
    assert told.cost_usd
    assert told.seconds
    assert told.calls
    assert (told.cost_usd.p50, told.cost_usd.p90) == (4.0, 4.0)
    assert (told.seconds.p50, told.calls.p50) == (20.0, 16.0)
    assert (told.experiments, told.past, told.unknown) == (8, 3, ())


@pytest.mark.parametrize(("number", "seconds"), [(1, 10.0), (4, 10.0), (5, 20.0), (8, 20.0)])
def test_the_time_is_that_of_whole_waves_so_that_one_experiment_is_no_faster_with_many_places(
    number: int, seconds: float
) -> None:
    told = forecast([(DIRECT, number)], past(DIRECT, 1.0, 1.0, 1.0), at_once=4)
    assert told.seconds
    assert told.seconds.p50 == pytest.approx(seconds)


@pytest.mark.parametrize(("spent_usd", "may"), [(0.0, False), (6.5, True)])
def test_a_budget_holds_what_is_spent_already_and_what_is_left(spent_usd: float, may: bool) -> None:
    told = replace(forecast([(DIRECT, 8)], past(DIRECT, 0.5, 0.5, 0.5), at_once=4), spent_usd=spent_usd)
    assert told.may_exceed(10.0) is may
    assert not told.may_exceed(None)


def test_too_few_like_it_tell_nothing() -> None:
    told = forecast([(DIRECT, 8), (OTHER, 8)], past(DIRECT, 1.0, 1.0, 1.0) + past(OTHER, 1.0, 1.0), at_once=1)
    assert (told.cost_usd, told.seconds, told.calls, told.unknown) == (None, None, None, (OTHER.id,))


def test_other_parameters_count_where_there_are_too_few_of_the_same() -> None:
    few, enough = past(DIRECT, 1.0), past(DIRECT, *[1.0] * FEWEST)
    for own, usd in ((few, 2.5), (enough, 1.0)):
        told = forecast([(DIRECT, 1)], own + past(WARM, 3.0, 3.0, 3.0), at_once=1)
        assert told.cost_usd
        assert told.cost_usd.p50 == usd


def test_a_price_that_was_not_known_is_not_forecast_but_the_time_is() -> None:
    told = forecast([(DIRECT, 8)], past(DIRECT, 0.5, 0.5, None), at_once=1)
    assert told.cost_usd is None
    assert told.seconds
    assert told.seconds.p90 == 80.0


def test_where_nothing_is_left_nothing_is_taken() -> None:
    told = forecast([(OTHER, 0)], [], at_once=1)
    assert told.cost_usd
    assert (told.experiments, told.cost_usd.p90, told.unknown) == (0, 0.0, ())


@pytest.mark.parametrize(("seen", "left"), [(5, 20), (20, 5), (50, 164)])
def test_nine_in_ten_stay_below_what_was_told(seen: int, left: int) -> None:
    draw, below, trials = random.Random(7), 0, 2000
    for _ in range(trials):
        told = forecast([(DIRECT, left)], past(DIRECT, *[draw.gauss(10, 3) for _ in range(seen)]), at_once=1)
        assert told.cost_usd
        below += sum(draw.gauss(10, 3) for _ in range(left)) <= told.cost_usd.p90
    assert below / trials == pytest.approx(0.9, abs=0.025)
