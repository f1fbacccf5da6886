"""Problems that carry a comparison, and how well each problem agrees with the others."""

from __future__ import annotations

import numpy as np
import pytest
from made_trials import once, trials
from scipy.stats import pearsonr

from koderz_core.analysis.discrimination import FEWEST, discrimination, item_rest
from koderz_core.records.trials import Trial

Key = tuple[str, str]


def compared(**marks: list[int]) -> dict[Key, list[Trial]]:
    return {("bench", name): once(name, solved) for name, solved in marks.items()}


def test_the_correlation_is_that_of_the_problem_with_the_others_without_itself() -> None:
    random = np.random.default_rng(1)
    solved = (random.random((8, 20)) < np.linspace(0.2, 0.9, 8)[:, None]).astype(int)
    found = discrimination(compared(**{f"c{at}": row.tolist() for at, row in enumerate(solved)}), None)
    for item in found.items:
        at = int(item.problem.removeprefix("p/"))
        rest = np.delete(solved, at, axis=1).mean(axis=1)
        expected = pearsonr(solved[:, at], rest) if len(set(solved[:, at])) > 1 else None
        assert (item.correlation is None) == (expected is None)
        if item.correlation and expected:
            bounds = expected.confidence_interval(0.95)
            assert item.correlation.value == pytest.approx(expected.statistic)
            assert (item.correlation.low, item.correlation.high) == pytest.approx((bounds.low, bounds.high))


def test_few_configurations_get_no_correlation() -> None:
    marks = {f"c{at}": [at % 2, 1, 0, at % 3 == 0] for at in range(FEWEST - 1)}
    assert all(item.correlation is None for item in discrimination(compared(**marks), None).items)
    assert item_rest([1.0, 1.0, 1.0, 1.0], [0.1, 0.2, 0.3, 0.4]) is None


def test_only_discordant_problems_carry_a_comparison() -> None:
    found = discrimination(compared(a=[1, 1, 0, 0, 1], b=[1, 0, 0, 1, 1]), ("bench", "a"))
    (carriers,) = found.carriers
    assert (carriers.problems, carriers.discordant, carriers.needed) == (5, 2, 2)
    parts = {item.problem: item.variance[("bench", "b")] for item in found.items}
    assert parts == {"p/1": 0.5, "p/3": 0.5, "p/0": 0.0, "p/2": 0.0, "p/4": 0.0}
    assert [item.problem for item in found.items[:2]] == ["p/1", "p/3"]


def test_with_repeats_a_problem_holds_the_square_of_its_difference() -> None:
    base, other = trials("a", {"p": "11", "q": "11", "r": "e"}), trials("b", {"p": "00", "q": "10", "r": "0"})
    found = discrimination({("bench", "a"): base, ("bench", "b"): other}, ("bench", "a"))
    assert {item.problem: item.variance for item in found.items} == {
        "p": {("bench", "b"): pytest.approx(0.8)},
        "q": {("bench", "b"): pytest.approx(0.2)},
        "r": {},
    }
    assert (found.carriers[0].discordant, found.carriers[0].needed) == (2, 2)
