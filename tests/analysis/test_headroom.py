"""Headroom: the oracle, the best single configuration without hindsight, and verdicts on worlds that are known."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from made_trials import once, trials
from numpy.typing import NDArray

import koderz_core
from koderz_core.analysis.choices import by_length, divided, single, union_of_pairs
from koderz_core.analysis.difficulty import Key
from koderz_core.analysis.headroom import Headroom, headroom
from koderz_core.records.trials import Trial


def of(draws: NDArray[np.bool_]) -> dict[Key, list[Trial]]:
    """``draws``: by configuration, problem and repeat."""
    return {
        ("bench", f"c{row}"): trials(
            f"c{row}", {f"p/{at}": "".join(map(str, marks)) for at, marks in enumerate(problems.astype(int).tolist())}
        )
        for row, problems in enumerate(draws)
    }


def gain(found: Headroom, kind: str) -> float:
    choice = next(choice for choice in found.choices if choice.kind == kind)
    assert choice.difference is not None
    return choice.difference.value


def test_two_models_are_counted_as_by_hand() -> None:
    """5 problems only by a, 11 only by b, 27 by both, 17 by neither: the models of the study."""
    a, b = [1] * 5 + [0] * 11 + [1] * 27 + [0] * 17, [0] * 5 + [1] * 11 + [1] * 27 + [0] * 17
    found = headroom({("bench", "a"): once("a", a), ("bench", "b"): once("b", b)})
    solved = {choice.kind: choice.share.value * 60 for choice in found.choices}
    assert solved == pytest.approx({"oracle": 43, "best": 38, "random": 35})
    assert [[round(60 * share) for share in row] for row in found.matrix] == [[0, 5], [11, 0]]
    assert (found.best.key, found.bias) == (("bench", "b"), 0)
    assert found.verdict == "nothing"  # 8 points, and 60 problems show 13 of a choice that loses none


def test_the_figures_of_the_study_come_out_of_its_journal(tmp_path: Path) -> None:
    """Of 60 problems, the better of both models solves 43, the recorded escalation 42, the best single model 38."""
    (tmp_path / "journals").mkdir()
    packed = Path(__file__).parents[2] / "docs/study/journals/bench_20a02f27b685.jsonl.gz"
    (tmp_path / "journals" / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    with koderz_core.open_workspace(home=tmp_path) as opened:
        rows = opened.comparisons.named(["study60"])
        found = opened.uncertainty.headroom([row for row in rows if row.strategy == "direct"])
        ladder = next(row for row in rows if row.label.startswith("escalation"))
    oracle, best = found.of("oracle"), found.of("best")
    assert oracle is not None
    assert best is not None
    solved = [round(60 * choice.share.value, 6) for choice in (oracle, best)]
    assert (found.problems, *solved, ladder.solved) == (60, 43, 38, 42)
    assert found.verdict == "nothing"


def test_the_best_of_equal_configurations_looks_better_in_hindsight_than_it_is() -> None:
    random = np.random.default_rng(1)
    worlds = [(random.random((8, 40)) < 0.5).astype(float) for _ in range(60)]
    assert np.mean([shares.mean(axis=1).max() for shares in worlds]) > 0.59
    assert np.mean([single(shares, divided(40)).solved.mean() for shares in worlds]) == pytest.approx(0.5, abs=0.04)


def test_without_anything_to_learn_repeats_show_that_the_gain_is_luck_and_with_it_they_do_not() -> None:
    random = np.random.default_rng(2)
    luck = headroom(of(random.random((2, 120, 3)) < 0.5))
    assert gain(luck, "oracle") > 0.15
    assert luck.verdict == "luck"
    chances = np.where(np.arange(120) % 2, [[0.9], [0.1]], [[0.1], [0.9]])
    real = headroom(of(random.random((2, 120, 3)) < chances[:, :, None]))
    assert real.verdict == "some"
    assert 0.2 < gain(real, "repeated") < gain(real, "oracle")


def test_repeats_of_greedy_answers_do_not_show_that_a_gain_is_more_than_luck() -> None:
    random = np.random.default_rng(2)
    greedy, drawn = random.random((2, 120, 1)) < 0.5, random.random((1, 120, 3)) < 0.5
    both = headroom(of(np.repeat(greedy, 3, axis=2)))
    assert (both.repeats, both.of("repeated"), both.verdict) == (1, None, "some")  # as of single answers
    assert headroom(of(np.concatenate([np.repeat(greedy[:1], 3, axis=2), drawn]))).of("repeated") is None


def test_intervals_hold_the_truth_though_folds_choose_differently() -> None:
    random, held = np.random.default_rng(6), 0
    for _ in range(40):
        choice = headroom(of(random.random((2, 60, 1)) < 0.4)).of("random")
        assert choice is not None
        assert choice.difference is not None
        held += (choice.difference.low or -1) <= 0 <= (choice.difference.high or 1)
    assert held >= 36  # of 40 at 95 %: fewer in 1 of 20 runs; 33 if the choice is not counted


def test_equal_results_leave_nothing_to_learn() -> None:
    same = [at % 3 for at in range(30)]
    assert headroom({("bench", name): once(name, same) for name in "ab"}).verdict == "nothing"


def test_a_choice_by_length_is_judged_on_other_folds() -> None:
    random = np.random.default_rng(3)
    lengths = random.permutation(200).astype(float)
    by_size = np.where(lengths < 100, [[0.9], [0.3]], [[0.3], [0.9]])
    folds = divided(200)
    shares = (random.random((2, 200)) < by_size).astype(float)
    assert by_length(shares, lengths, folds).solved.mean() - single(shares, folds).solved.mean() > 0.15
    noise = [(random.random((2, 200)) < 0.5).astype(float) for _ in range(10)]
    assert np.mean([by_length(each, lengths, folds).solved.mean() for each in noise]) == pytest.approx(0.5, abs=0.03)


def test_the_best_pair_is_chosen_on_other_folds() -> None:
    random = np.random.default_rng(4)
    worlds = [(random.random((10, 40)) < 0.5).astype(float) for _ in range(20)]
    honest = [union_of_pairs(shares, divided(40)).solved.mean() for shares in worlds]
    assert np.mean(honest) == pytest.approx(0.75, abs=0.03)


def test_problems_without_a_result_of_each_are_left_out_and_few_are_refused() -> None:
    marks = {f"p/{at}": "1" for at in range(12)}
    partly: Mapping[Key, list[Trial]] = {
        ("bench", "a"): trials("a", marks),
        ("bench", "b"): trials("b", {**marks, "p/0": "e"}),
    }
    assert (headroom(partly).problems, headroom(partly).omitted) == (11, 1)
    few = {key: found[:5] for key, found in partly.items()}
    assert headroom(few).why == "few problems"


def test_published_results_of_49_models_give_the_figures_of_the_guide(test_data: Path) -> None:
    with gzip.open(test_data / "eval-arena-humaneval+.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    passed: dict[str, dict[str, str]] = {}
    for row in rows:
        passed.setdefault(row["model"], {})[row["example_id"]] = str(int(row["pass1"]))
    found = headroom({("bench", model): trials(model, marks) for model, marks in passed.items()})
    solved = {choice.kind: round(choice.share.value * 164, 1) for choice in found.choices}
    assert solved == {"oracle": 157.0, "pair": 141.0, "best": 123.6, "random": 93.0}
    assert found.pair is not None
    assert {key[1] for key in found.pair.keys} == {"mixtral-8x22b-instruct-v0.1", "opencodeinterpreter-ds-33b"}
    assert round(found.pair.share * 164) == 143
