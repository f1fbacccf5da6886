"""Variance between problems and between draws, and what further problems or repeats would buy."""

from __future__ import annotations

from itertools import product
from math import prod, sqrt
from statistics import fmean, variance

import numpy as np
import pandas as pd
import pytest
from made_trials import trials
from msgspec.structs import replace
from statsmodels.regression.mixed_linear_model import MixedLM

from koderz_core.analysis.noise import Components, best_design, components, noise_of, uncertainty
from koderz_core.analysis.rates import Interval
from koderz_core.records.trials import Trial

A, B = ("bench", "a"), ("bench", "b")


def made(name: str, marks: list[str], usd: float | None = 0.5) -> list[Trial]:
    return [replace(trial, usd=usd) for trial in trials(name, {f"p/{at}": mark for at, mark in enumerate(marks)})]


def known(data: float, *parts: float) -> Components:
    return Components(60, Interval(data, 0.0, 1.0), Interval(sum(parts), 0.0, 0.5), parts)


@pytest.mark.parametrize("repeats", [2, 5])
def test_components_are_those_of_the_mixed_model_with_the_problem_as_its_random_effect(repeats: int) -> None:
    random = np.random.default_rng(repeats)
    chances = random.beta(1.0, 0.7, 80)
    solved = random.random((80, repeats)) < chances[:, None]
    found = components([{str(at): (int(row.sum()), repeats) for at, row in enumerate(solved)}])
    table = pd.DataFrame({"solved": solved.ravel().astype(float), "problem": np.repeat(np.arange(80), repeats)})
    model = MixedLM.from_formula("solved ~ 1", table, groups="problem").fit(reml=True)
    assert found is not None
    assert found.prediction.value == pytest.approx(model.scale, rel=1e-3)
    assert found.data.value == pytest.approx(float(model.cov_re.iloc[0, 0]), rel=1e-3)
    assert found.error(80, (repeats,)) == pytest.approx(model.bse["Intercept"], rel=1e-3)


@pytest.mark.parametrize("numbers", [[(2,), (2,), (3,)], [(2, 3), (2, 2), (3, 2)]])
def test_estimates_are_unbiased_for_any_numbers_of_repeats(numbers: list[tuple[int, ...]]) -> None:
    chances = [(0.2, 0.6), (0.5, 0.1), (0.9, 0.7)]
    cells = [(chances[row][side], n) for row, of in enumerate(numbers) for side, n in enumerate(of)]
    data = drawn = 0.0
    for solved in product(*(range(n + 1) for _, n in cells)):
        chance = prod(_binomial(n, k, p) for (p, n), k in zip(cells, solved, strict=True))
        results = iter(zip(solved, (n for _, n in cells), strict=True))
        rows = [[next(results) for _ in of] for of in numbers]
        counts = [{str(row): rows[row][side] for row in range(3)} for side in range(len(numbers[0]))]
        found = components(counts)
        assert found is not None
        data, drawn = data + chance * found.data.value, drawn + chance * found.prediction.value
    true = [row[0] - sum(row[1 : len(numbers[0])]) for row in chances]
    assert data == pytest.approx(variance(true))
    assert drawn == pytest.approx(fmean(sum(p * (1 - p) for p in row[: len(numbers[0])]) for row in chances))


def _binomial(n: int, k: int, p: float) -> float:
    return float(np.prod(range(n - k + 1, n + 1)) / np.prod(range(1, k + 1)) * p**k * (1 - p) ** (n - k))


def test_one_result_of_each_problem_separates_nothing() -> None:
    one = noise_of({A: made("a", ["1", "0", "1"])}, (A,), 3)
    assert one is not None
    assert (one.components, one.data_error, one.designs) == (None, None, ())
    assert one.error == pytest.approx(sqrt(1 / 3 / 3))
    assert noise_of({A: made("a", ["1"])}, (A,), 3) is None
    same = noise_of({A: made("a", ["1", "1"])}, (A,), None)
    assert same is not None
    assert same.error is None  # nothing varies, which does not mean that the rate is known


def test_both_parts_of_a_difference_make_up_its_standard_error() -> None:
    found = noise_of({A: made("a", ["11", "10", "00", "11"]), B: made("b", ["00", "11", "00", "10"])}, (A, B), None)
    assert found is not None
    assert found.data_error is not None and found.draw_error is not None and found.error is not None  # noqa: PT018
    assert found.error**2 == pytest.approx(found.data_error.value**2 + found.draw_error.value**2)
    assert found.from_draws == pytest.approx(found.draw_error.value**2 / found.error**2)


def test_more_problems_are_better_than_repeats_until_they_are_exhausted() -> None:
    alone = known(0.05, 0.2)
    free = best_design(alone, (0.1,), 30.0, None)
    used_up = best_design(alone, (0.1,), 30.0, 100)
    assert free is not None and used_up is not None  # noqa: PT018
    assert (free.problems, free.repeats, free.usd) == (300, (1,), pytest.approx(30.0))
    assert (used_up.problems, used_up.repeats) == (100, (3,))
    assert used_up.error == pytest.approx(sqrt((0.05 + 0.2 / 3) / 100))
    assert best_design(alone, (0.1,), 0.15, None) is None


def test_the_cheaper_of_two_is_repeated_before_further_problems() -> None:
    both = best_design(known(0.05, 0.2, 0.2), (0.001, 0.1), 10.0, None)
    assert both is not None
    assert both.repeats[0] > both.repeats[1]
    assert both.error < known(0.05, 0.2, 0.2).error(int(10.0 / 0.101), (1, 1))


def test_more_dollars_never_buy_fewer_problems_if_the_variance_between_problems_is_estimated_as_0() -> None:
    designs = [best_design(known(-0.01, 0.2, 0.2), (0.0025, 0.013), budget, None) for budget in (0.94, 1.88, 3.76)]
    problems = [design.problems for design in designs if design]
    assert problems == sorted(problems)
    assert problems[-1] > 3 * problems[0]


def test_an_estimate_above_the_largest_variance_of_a_draw_is_inside_its_interval() -> None:
    found = components([{str(at): (1, 2) for at in range(15)}])
    assert found is not None
    assert found.prediction == Interval(0.5, pytest.approx(0.39, abs=0.02), 0.5)


def test_designs_start_with_the_benchmark_as_it_was_run_and_need_prices() -> None:
    marks = ["10", "11", "00", "01"]
    found = uncertainty({A: made("a", marks), B: made("b", marks[::-1])}, A, 4)
    pair = found.noise[-1]
    assert pair.keys == (B, A)
    now, *best = pair.designs
    assert (now.times, now.usd, now.error) == (None, 8.0, pair.error)
    assert [(design.times, design.problems) for design in best] == [(1, 4), (2, 4), (4, 4)]
    unpriced = uncertainty({A: made("a", marks, None)}, None, 4)
    assert unpriced.noise[0].designs == ()
