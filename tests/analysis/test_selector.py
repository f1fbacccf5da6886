"""A fitted selector: better where there is signal, nothing to learn without, calibrated, and judged off policy."""

from __future__ import annotations

import sys
from dataclasses import astuple, replace
from random import Random

import numpy as np
import pytest

from koderz_core.analysis.folds import folds_of
from koderz_core.analysis.selector import answer_features, between, probabilities, probability_right, propensities
from koderz_core.analysis.selector_fit import Evidence, fit
from koderz_core.analysis.selector_value import Logged, Table, area, calibration, doubly_robust, judged, verdict
from koderz_core.errors import UsageError
from koderz_core.records import PublicProblem
from koderz_core.records.selectors import Answer, Case, Estimate, Selector

MODELS = ("small", "large")


def world(signal: float, count: int = 120, seed: int = 3) -> Evidence:
    """Results of two models; with ``signal``, the small one solves short problems and the large one long ones."""
    random, cases = Random(seed), []
    for at in range(count):
        place = random.uniform(-1, 1)
        chances = (1 / (1 + np.exp(sign * signal * place)) for sign in (1, -1))
        solved = tuple(float(random.random() < chance) for chance in chances)
        text = "word " * round(10 * 2 ** (2.5 * (place + 1)))
        cases.append(Case(PublicProblem(f"P/{at}", text, f"f{at}"), "made", at, solved, (0.001, 0.002)))
    answers = [_answer(random, at) for at in range(count)]
    return Evidence(MODELS, tuple(cases), tuple(answers), "examples")


def _answer(random: Random, at: int) -> Answer:
    passed = random.randint(0, 4)
    right = random.random() < 0.9 * passed / 4
    return Answer(answer_features((passed, 4), "" if passed == 4 else "assertion", 100, 1, 1.0), right, at)


@pytest.fixture(scope="module")
def learned() -> Selector:
    return fit("made", world(6))


def test_it_beats_the_best_single_model_where_there_is_signal(learned: Selector) -> None:
    assert learned.card.verdict == "better"
    rows = {row.rule: row for row in learned.card.judged}
    assert set(rows) == {"best single", "random", "oracle", "selector", "length only"}  # never without its baselines
    assert rows["selector"].gain.low > 0
    assert rows["selector"].area > rows["best single"].area
    short, long = (PublicProblem("x", "word " * words, "g") for words in (12, 300))
    assert probabilities(learned.before, [short, long], ["made"] * 2, 2).argmax(axis=1).tolist() == [0, 1]


def test_without_signal_there_is_nothing_to_learn() -> None:
    assert fit("made", world(0, seed=1)).card.verdict == "nothing to learn"
    assert verdict(0.05, Estimate(0.04, -0.05, 0.12), 0.1) == "nothing to learn"  # little headroom
    assert verdict(0.3, Estimate(0.1, -0.02, 0.22), 0.1) == "undecided"


def test_a_passed_gate_makes_an_answer_more_probably_right(learned: Selector) -> None:
    assert learned.card.after is not None
    assert learned.card.after.ece < 0.15
    assert learned.after is not None
    p = [share for _, share in learned.after.points]
    assert p == sorted(p)
    assert 0 < p[0] < 0.2
    assert 0.7 < p[-1] < 1


def test_an_unknown_number_of_tokens_counts_as_an_average_one(learned: Selector) -> None:
    assert learned.after is not None
    after = replace(learned.after, centre=(*learned.after.centre[:4], np.log1p(50), *learned.after.centre[5:]))
    unknown, average = (answer_features((2, 4), "assertion", tokens, 1, 1.0) for tokens in (None, 50))
    assert probability_right(after, unknown) == pytest.approx(probability_right(after, average))


def test_propensities_are_shares_of_the_posterior_that_replay_exactly(learned: Selector) -> None:
    problem = PublicProblem("x", "word " * 57, "g")
    shares = propensities(learned, problem, "made", ((0, 1), 0.0, 7))
    assert shares == propensities(learned, problem, "made", ((0, 1), 0.0, 7))
    assert sum(shares) == pytest.approx(1)
    assert all(0.001 < share < 0.999 for share in shares)
    certain = PublicProblem("y", "word " * 300, "g")
    assert 0.98 < propensities(learned, certain, "made", ((0, 1), 0.0, 7))[1] < 1


def test_a_group_of_twins_is_never_in_both_parts_of_a_fold() -> None:
    groups = [at // 3 for at in range(30)]
    for fold in folds_of(groups, 5):
        assert len(fold.held) == 6
        assert not {groups[at] for at in fold.others} & {groups[at] for at in fold.held}
        assert sorted([*fold.others, *fold.held]) == list(range(30))


def test_the_off_policy_value_corrects_for_the_choices_even_if_the_predictions_are_wrong() -> None:
    random, logged = Random(1), []
    for at in range(4000):
        model = int(random.random() < 0.2)
        right = float(random.random() < (0.3, 0.8)[model])
        logged.append(Logged(f"p{at}", (0.8, 0.2), model, right, (0.5, 0.5), (0.0, 1.0)))
    found = doubly_robust(logged)
    assert found.solved.low < 0.8 < found.solved.high
    assert found.effective == pytest.approx(sum(entry.chosen for entry in logged))


def test_repeats_of_a_problem_do_not_make_the_off_policy_interval_narrower() -> None:
    once = [Logged(f"p{at}", (0.5, 0.5), at % 2, float(at % 3 > 0), (0.5, 0.5), (0.5, 0.5)) for at in range(30)]
    alone, repeated = doubly_robust(once), doubly_robust(once * 4)
    assert astuple(repeated.solved) == pytest.approx(astuple(alone.solved))
    assert (repeated.choices, repeated.problems) == (120, 30)


def test_the_area_lies_between_the_cheapest_and_the_best_mixture() -> None:
    solved = np.array([[0.0, 1.0], [1.0, 1.0]] * 2)
    table = Table(solved, np.tile([1.0, 3.0], (4, 1)), [1] * 4)
    assert area(table, solved) == pytest.approx(0.875, abs=0.001)  # from 0.5 at $1 to 1.0 at $2, then 1.0
    assert area(table, np.tile([0.5, 1.0], (4, 1))) == pytest.approx(0.75, abs=0.001)  # a line from 0.5 to 1.0
    assert area(Table(solved, np.full((4, 2), np.nan), [1] * 4), solved) is None
    assert {row.rule: row.usd for row in judged(table, {"selector": solved})}["selector"] == 2.0


def test_calibration_compares_predictions_with_shares() -> None:
    found = calibration([0.2] * 10 + [0.8] * 10, [0.0] * 8 + [1.0] * 2 + [0.0] * 2 + [1.0] * 8)
    assert (found.predictions, found.auc) == (20, pytest.approx(0.8))
    assert between(((0.0, 0.1), (2.0, 0.5)), 1.0) == pytest.approx(0.3)


def test_a_fit_without_the_extra_or_with_one_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"at least two models on at least 20 common problems\. Found: 1 models"):
        fit("made", Evidence(("small",), ()))
    alike = tuple(replace(case, group=0) for case in world(0, 20).cases)
    with pytest.raises(UsageError, match=r"20 common problems \(1 if near-duplicates count once\)"):
        fit("made", Evidence(MODELS, alike))
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(UsageError, match=r"pip install 'koderz\[learn\]'"):
        fit("made", world(0))
