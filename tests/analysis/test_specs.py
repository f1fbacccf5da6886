"""Specs by what came of the experiments built on them."""

from __future__ import annotations

from dataclasses import replace

from koderz_core.analysis.rates import clustered
from koderz_core.analysis.specs import compare_specs, count_empty, spec_results
from koderz_core.records.notes import SpecRow

WRITTEN = SpecRow(
    experiment="exp_1",
    benchmark="bench_1",
    label="supervised",
    strategy="supervised",
    models={"spec": ("a/big",), "coder": ("b/small",)},
    problem="HumanEval/0",
    dataset="humaneval",
    dataset_sha256="a" * 64,
    licence="MIT",
    outcome="solved",
    score_kind="held_out",
    model="a/big",
    prompt="minimal",
    wording="1",
    origin=None,
    at=1.0,
    text="Add both numbers.",
    input_tokens=50,
    output_tokens=10,
    cost_usd=0.5,
    seconds=1.0,
)
REUSED = replace(WRITTEN, experiment="exp_2", origin="exp_1", at=2.0, outcome="unsolved")
OTHER = replace(WRITTEN, experiment="exp_3", problem="HumanEval/1", at=3.0, text="Sort.", output_tokens=4, cost_usd=0.1)


def test_a_reused_spec_is_one_spec_with_all_that_was_built_on_it() -> None:
    unfinished = replace(REUSED, experiment="exp_4", outcome=None)
    (one,) = spec_results([unfinished, REUSED, WRITTEN])
    assert (one.spec, one.solved, one.n) == (WRITTEN, 1, 2)


def test_a_spec_whose_writer_is_not_here_is_told_by_who_reused_it_first() -> None:
    later = replace(REUSED, experiment="exp_4", at=9.0)
    assert [results.spec for results in spec_results([later, REUSED])] == [REUSED]


def test_specs_of_one_model_and_prompt_stand_together_the_newest_first() -> None:
    def at(seconds: float, model: str, prompt: str = "minimal") -> SpecRow:
        return replace(WRITTEN, experiment=f"exp_{seconds}", at=seconds, model=model, prompt=prompt)

    rows = [at(1, "a/big"), at(2, "a/big", "detailed"), at(3, "c/other"), at(4, "a/big")]
    assert [results.spec.at for results in spec_results(rows)] == [4, 1, 3, 2]


def test_each_spec_counts_once_for_its_length_and_cost_and_each_experiment_for_its_success() -> None:
    (one,) = compare_specs([OTHER, REUSED, WRITTEN])
    assert (one.specs, one.words, one.output_tokens, one.cost_usd) == (2, 2.0, 7.0, 0.3)
    assert one.rate == clustered({"0": (1, 2), "1": (1, 1)})


def test_rates_of_another_coder_strategy_model_or_prompt_are_never_mixed() -> None:
    others = [
        replace(OTHER, models={"spec": ("a/big",), "coder": ("b/other",)}),
        replace(OTHER, strategy="direct"),
        replace(OTHER, model="c/other"),
        replace(OTHER, prompt="detailed"),
        replace(OTHER, wording="2"),
    ]
    assert [spec.rate.n for spec in compare_specs([WRITTEN, *others])] == [1] * 6


def test_what_is_not_known_is_not_taken_for_nothing() -> None:
    (one,) = compare_specs([WRITTEN, replace(OTHER, cost_usd=None, output_tokens=None, outcome="error")])
    assert (one.specs, one.cost_usd, one.output_tokens, one.rate.n) == (2, None, None, 1)


def test_a_problem_of_the_same_name_in_another_dataset_is_another_problem() -> None:
    (one,) = compare_specs([WRITTEN, replace(WRITTEN, experiment="exp_5", dataset_sha256="b" * 64)])
    assert one.rate.problems == 2


def test_scores_by_tests_that_were_seen_are_marked() -> None:
    assert [spec.marks.signs for spec in compare_specs([WRITTEN])] == [""]
    assert [spec.marks.signs for spec in compare_specs([WRITTEN, replace(OTHER, score_kind="oracle")])] == ["*(1/2)"]


def test_an_empty_answer_is_no_spec_and_nothing_was_built_on_it() -> None:
    empty = replace(OTHER, text=" \n")
    (one,) = compare_specs([WRITTEN, empty])
    assert (one.specs, one.rate) == (1, clustered({"0": (1, 1)}))
    assert (count_empty([WRITTEN, empty]), compare_specs([empty])) == (1, ())
