"""The cumulative incidence in every resample is what its plain definition gives, trial by trial and step by step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_courses import course

from koderz_core.analysis.bootstrap import weights
from koderz_core.analysis.incidence import CENSORED, at_the_end, courses, gaps, incidence, steps

ENDS = st.sampled_from("sfxce")
MADE = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5), ENDS), min_size=1, max_size=30)
COLUMNS = 7


def made_courses(made):
    """Some of five problems, each tried as often as it comes."""
    trials = [course(f"p/{n}", "x" * before + end, repeat=place) for place, (n, before, end) in enumerate(made)]
    problems = sorted({trial.problem for trial in trials})
    return courses(trials, "attempts", problems)


def plainly(held, weights, end):
    """Satten and Datta's definition: each success stands for those like it that were censored before."""
    weighted = weights[held.problem] * held.share
    happened = 0.0
    for row in np.flatnonzero((held.events == 1) & (held.ends <= end)):
        watched = 1.0
        for time in np.unique(held.ends[(held.events == CENSORED) & (held.ends < held.ends[row])]):
            lost = weighted[(held.events == CENSORED) & (held.ends == time)].sum()
            at_risk = weighted[(held.ends > time)].sum() + lost
            watched *= 1 - lost / at_risk if at_risk else 1.0
        happened += weighted[row] / max(watched, 1e-9)
    return happened / sum(weights[problem] for problem in set(held.problem[held.share > 0]))


@settings(max_examples=60)
@given(MADE, st.integers(0, 2**32 - 1))
def test_it_is_the_plain_definition_also_with_repeats_and_censored_trials(made, seed):
    held = made_courses(made)
    drawn = np.random.default_rng(seed).integers(0, 3, (held.problems, COLUMNS)) + 0.5
    expected = [[plainly(held, drawn[:, column], end) for column in range(COLUMNS)] for end in steps(held)]
    assert incidence(held, drawn) == pytest.approx(np.array(expected).reshape(-1, COLUMNS), abs=1e-12)


@settings(max_examples=60)
@given(MADE, st.integers(0, 2**32 - 1))
def test_the_end_of_a_curve_is_its_last_step(made, seed):
    held = made_courses(made)
    drawn = np.random.default_rng(seed).integers(1, 4, (held.problems, COLUMNS)).astype(float)
    shares = incidence(held, drawn)
    assert at_the_end(held, drawn) == pytest.approx(shares[-1] if len(shares) else np.zeros(COLUMNS))


@settings(max_examples=60)
@given(MADE)
def test_the_gap_to_a_baseline_is_that_of_the_curve_and_its_variance_that_of_the_problems(made):
    held = made_courses(made)
    solved = np.linspace(0, 1, held.problems)
    mean, variance = gaps(held, solved, 0)
    assert mean == pytest.approx(incidence(held, np.ones((held.problems, 1)))[:, 0] - solved.mean())
    resampled = incidence(held, weights(held.problems)) - solved @ weights(held.problems) / held.problems
    assert variance == pytest.approx(resampled.var(axis=1), rel=0.25, abs=1e-3)
