"""Questions to the store."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from koderz_core.analysis.comparison import compare
from koderz_core.analysis.configurations import figures_of
from koderz_core.errors import DataError, UnknownNameError, UsageError
from koderz_core.events import (
    CallFailed,
    CallFinished,
    CheckpointReviewed,
    CodeTested,
    ExperimentFinished,
    ExperimentStarted,
    SpecWritten,
)
from koderz_core.records import Cost, Sampling, TestFailure, Usage, Verdict
from koderz_core.records.progress import RoleCost, TierCost
from koderz_core.report.spending import role_parts
from koderz_core.store.benchmarks import benchmarks
from koderz_core.store.configurations import role_costs, summaries
from koderz_core.store.details import calls, iterations, notes, scores, text
from koderz_core.store.experiments import experiment as experiment_of
from koderz_core.store.experiments import experiments
from koderz_core.store.frames import Part, Tables
from koderz_core.store.index import Index, Writers
from koderz_core.store.lookup import find, find_problem
from koderz_core.store.trials import trials

FRONTIER = "anthropic/claude-opus-4-5"


def summary(store, number=0):
    store.ingest()
    with store.open() as con:
        return summaries(Index(con, Writers(store.journals_dir)))[number]


def test_a_summary_counts_each_outcome_once(store, journal, plan):
    first, second, third = (
        experiment for experiment in plan.experiments() if experiment.configuration == plan.configurations[0].id
    )
    journal.tell(first)
    journal.tell(second, passed=False)
    journal.say(ExperimentStarted(third), third.id)
    row = summary(store)
    assert (row.planned, row.solved, row.unsolved, row.cancelled, row.errors) == (3, 1, 1, 0, 0)


def test_the_share_solved_gives_every_problem_the_same_weight_whatever_its_missing_repeats(store, write, plan):
    again = replace(plan, repeats=2)
    journal = write(again)
    of_one = [experiment for experiment in again.experiments() if experiment.configuration == plan.configurations[0].id]
    for experiment in of_one:
        if experiment.problem == "HumanEval/0":
            journal.tell(experiment)
    journal.tell(next(experiment for experiment in of_one if experiment.problem == "HumanEval/1"), passed=False)
    row = summary(store)
    assert (row.solved, row.unsolved, row.share, row.share_first) == (2, 1, 0.5, 0.5)
    assert figures_of(row, 0).share == 0.5


def test_cancelled_and_broken_experiments_are_counted_apart(store, journal, plan):
    first, second, _ = (item for item in plan.experiments() if item.configuration == plan.configurations[0].id)
    for experiment, outcome in ((first, "cancelled"), (second, "error")):
        journal.say(ExperimentStarted(experiment), experiment.id)
        journal.say(ExperimentFinished(outcome, None, None, None, 1.0), experiment.id)
    row = summary(store)
    assert (row.solved, row.unsolved, row.cancelled, row.errors, row.mean_iterations) == (0, 0, 1, 1, None)


def test_a_summary_adds_up_tokens_seconds_and_dollars(store, journal, plan):
    for experiment in plan.experiments():
        journal.tell(experiment)
    row = summary(store)
    assert (row.input_tokens, row.output_tokens, row.seconds, row.cost_usd) == (300, 60, 6.0, 0.75)
    assert (row.mean_iterations, row.score_kind, row.unpriced) == (1.0, "oracle", 0)


def test_one_call_without_a_price_makes_the_cost_unknown(store, journal, plan):
    first, second, _ = (
        experiment for experiment in plan.experiments() if experiment.configuration == plan.configurations[0].id
    )
    journal.tell(first)
    journal.tell(second, usd=None)
    row = summary(store)
    assert (row.cost_usd, row.unpriced) == (None, 1)
    assert row.tiers == (TierCost("local", 2, 1, None, tokens=240),)


def test_cost_is_told_by_tier(store, journal, plan):
    supervised = next(
        experiment for experiment in plan.experiments() if experiment.configuration == plan.configurations[1].id
    )
    journal.tell(supervised)
    journal.ask(supervised, 2, FRONTIER)
    journal.answer(supervised, 2, "Think again.", 2.0)
    row = summary(store, 1)
    assert row.tiers == (TierCost("frontier", 1, 0, 2.0, tokens=120), TierCost("local", 1, 0, 0.25, tokens=120))
    assert row.cost_usd == 2.25


def costs_by_role(store, plan):
    store.ingest()
    with store.open() as con:
        return role_costs(Index(con, Writers(store.journals_dir)), [plan.id])


def test_cost_is_told_by_role_and_model_and_only_of_experiments_with_a_result(store, journal, plan):
    direct, supervised = (
        [experiment for experiment in plan.experiments() if experiment.configuration == it.id]
        for it in plan.configurations
    )
    journal.tell(supervised[0])
    journal.ask(supervised[0], 2, FRONTIER)
    journal.answer(supervised[0], 2, "Think again.", 2.0)
    journal.tell(supervised[1], passed=False)
    journal.ask(supervised[2], 0)
    journal.answer(supervised[2], 0, "not ended", 100.0)
    journal.tell(direct[0], usd=None)
    name, local = supervised[0].configuration, "ollama/qwen2.5-coder:0.5b"
    assert [cost for cost in costs_by_role(store, plan) if cost.configuration == name] == [
        RoleCost(plan.id, name, "coder", local, "local", 2, 0, 240, 0.5, 0.25),
        RoleCost(plan.id, name, "coder", FRONTIER, "frontier", 1, 0, 120, 2.0, 1.0),
    ]
    (unknown,) = (cost for cost in costs_by_role(store, plan) if cost.configuration != name)
    assert (unknown.calls, unknown.unpriced, unknown.cost_usd, unknown.usd_per_problem) == (1, 1, None, None)


def test_the_costs_of_roles_add_up_to_those_of_tiers_and_to_the_cost_per_solved_problem(store, write, plan):
    again = replace(plan, repeats=2)
    journal = write(again)
    supervised = [item for item in again.experiments() if item.configuration == plan.configurations[1].id]
    for place, experiment in enumerate(supervised[:-1]):  # one problem has one repeat with a result
        journal.tell(experiment, place % 3 > 0, usd=0.1 + place)
        for ordinal, model in ((2, FRONTIER), (3, "anthropic/claude-haiku-4-5")):
            journal.ask(experiment, ordinal, model)
            journal.answer(experiment, ordinal, "Think again.", place / ordinal)
    store.ingest()
    with store.open() as con:
        index = Index(con, Writers(store.journals_dir))
        found = compare(summaries(index, again.id), trials(index, [again.id]))
        parts = role_parts(replace(found, roles=tuple(role_costs(index, [again.id]))))
    measured = found.measured[again.id, supervised[0].configuration]
    by_tier = {part.of.tier: part.usd_per_solved for part in parts}
    assert by_tier == pytest.approx(dict(measured.parts), abs=1e-9)
    assert sum(by_tier.values()) == pytest.approx(measured.price.value, abs=1e-9)


def test_the_cost_of_a_role_gives_every_problem_the_same_weight_whatever_its_repeats(store, write, plan):
    again = replace(plan, repeats=2)
    journal = write(again)
    of_one = [experiment for experiment in again.experiments() if experiment.configuration == plan.configurations[0].id]
    first, second = (item for item in of_one if item.problem == "HumanEval/0")
    other = next(item for item in of_one if item.problem == "HumanEval/1")
    journal.tell(first, usd=1.0)
    journal.tell(second, usd=3.0)
    journal.tell(other, usd=6.0)
    (cost,) = costs_by_role(store, again)
    assert (cost.cost_usd, cost.usd_per_problem) == (10.0, 4.0)


def test_the_energy_of_local_calls_and_what_they_cost_rented_are_added_up_by_tier(store, journal, plan):
    one = next(experiment for experiment in plan.experiments() if experiment.configuration == plan.configurations[0].id)
    journal.say(ExperimentStarted(one), one.id)
    for ordinal in (0, 1):
        journal.ask(one, ordinal)
        usage, cost = Usage(100, 20, None, None, None, 1.2, 90.0), Cost(0.5, "energy", 0.25, 0.125, 0.0625)
        said = CallFinished(journal.text("x"), "stop", usage, cost, 1.5, None, Sampling(seed=7))
        journal.say(said, one.id, ordinal)
    assert summary(store).tiers == (TierCost("local", 2, 0, 1.0, 0.5, 0.25, 0.125, 240),)
    with store.open() as con:
        call = calls(con, one.id)[0]
    assert (call.kwh, call.machine_seconds, call.gpu_joules, call.honoured) == (0.25, 1.2, 90.0, Sampling(seed=7))


def test_before_anything_happened_the_cost_is_zero_and_the_iterations_are_unknown(store, journal):
    row = summary(store)
    assert (row.cost_usd, row.input_tokens, row.mean_iterations, row.tiers) == (0.0, 0, None, ())


def test_summaries_and_experiments_keep_to_the_benchmark_asked_for(store, journal, plan, write):
    other = write(replace(plan, seed=1)).plan
    store.ingest()
    writers = Writers(store.journals_dir)
    with store.open() as con:
        index = Index(con, writers)
        assert {row.benchmark for row in summaries(index, [plan.id])} == {plan.id}
        assert {row.benchmark for row in summaries(index)} == {plan.id, other.id}
        assert len(experiments(index, other.id)) == 6


def test_a_summary_of_some_problems_counts_nothing_of_the_others(store, journal, plan):
    first, second, _ = (
        experiment for experiment in plan.experiments() if experiment.configuration == plan.configurations[0].id
    )
    journal.tell(first, passed=False)
    journal.tell(second, usd=None)
    store.ingest()
    with store.open() as con:
        row, other = summaries(Index(con, Writers(store.journals_dir)), [plan.id], [first.problem])
        whole = summaries(Index(con, Writers(store.journals_dir)), [plan.id])[0]
        assert summaries(Index(con, Writers(store.journals_dir)), [plan.id], ["elsewhere/0"]) == []
    assert (row.planned, row.problems, row.solved, row.unsolved, row.unpriced) == (1, 1, 0, 1, 0)
    assert (row.cost_usd, row.ended_cost_usd, row.tiers) == (0.25, 0.25, (TierCost("local", 1, 0, 0.25, tokens=120),))
    assert (row.only, whole.only) == ((first.problem,), None)
    assert row.problem_set == other.problem_set != whole.problem_set


def test_experiments_are_chosen_by_problem_and_outcome(store, journal, plan):
    solved, unsolved = plan.experiments()[:2]
    journal.tell(solved)
    journal.tell(unsolved, passed=False)
    store.ingest()
    with store.open() as con:
        (found,) = experiments(Index(con, Writers(store.journals_dir)), problem="HumanEval/0", outcome="unsolved")
        assert [row.id for row in experiments(Index(con, Writers(store.journals_dir)), limit=1)] == [unsolved.id]
    assert (found.id, found.gate_tests_passed, found.gate_tests_total, found.held_out_passed) == (
        unsolved.id,
        1,
        2,
        None,
    )


def test_a_benchmark_tells_how_far_it_is(store, journal, plan):
    journal.tell(plan.experiments()[0])
    store.ingest()
    with store.open() as con:
        (row,) = benchmarks(Index(con, Writers(store.journals_dir)))
    assert (row.id, row.planned, row.finished, row.configurations) == (plan.id, 6, 1, 2)


def test_a_unique_prefix_finds_benchmarks_and_experiments(store, journal, plan):
    experiment = plan.experiments()[0].id
    store.ingest()
    with store.open() as con:
        assert find(Index(con, Writers(store.journals_dir)), plan.id[:12]) == plan.id
        assert find(Index(con, Writers(store.journals_dir)), experiment) == experiment
        assert find(Index(con, Writers(store.journals_dir)), experiment.removeprefix("exp_")[:10]) == experiment


def test_a_prefix_of_several_lists_them(store, journal, plan):
    store.ingest()
    with store.open() as con, pytest.raises(UsageError, match=min(experiment.id for experiment in plan.experiments())):
        find(Index(con, Writers(store.journals_dir)), "exp_")


@pytest.mark.parametrize("prefix", ["exp_nothing", "", "%"])
def test_an_unknown_prefix_is_told_with_what_there_is(store, journal, plan, prefix):
    store.ingest()
    with store.open() as con, pytest.raises(UnknownNameError, match=plan.id):
        find(Index(con, Writers(store.journals_dir)), prefix)


def test_a_short_problem_name_is_that_of_the_benchmark_and_otherwise_unambiguous(store, journal, plan, write):
    other = write(replace(plan, problems=("Ahead/0", "Ahead/9"))).plan
    store.ingest()
    with store.open() as con:
        index = Index(con, Writers(store.journals_dir))
        assert find_problem(index, "0", plan.id) == find_problem(index, "HumanEval/0") == "HumanEval/0"
        assert find_problem(index, "0", other.id) == "Ahead/0"
        assert find_problem(index, "9") == "Ahead/9"
        with pytest.raises(UsageError, match=r"'0' is short for several problems: Ahead/0, HumanEval/0\."):
            find_problem(index, "0")
        with pytest.raises(UnknownNameError, match=f"no experiment of {plan.id} uses it"):
            find_problem(index, "9", plan.id)


def test_an_unknown_experiment_or_text_is_told(store, journal):
    store.ingest()
    with store.open() as con:
        with pytest.raises(UnknownNameError, match="exp_0"):
            experiment_of(con, "exp_0")
        with pytest.raises(DataError, match="abc"):
            text(con, "abc")


def test_an_iteration_shows_its_failures(store, journal, plan):
    failure = TestFailure(1, "assert f() == 2", "2", "3")
    verdict = Verdict("PF", (failure,), True, "assertion", "wrong", 0.2, "limited")
    journal.say(CodeTested(1, "hash", None, "none", verdict), plan.experiments()[0].id, 4)
    store.ingest()
    with store.open() as con:
        (row,) = iterations(con, plan.experiments()[0].id)
    assert (row.failures, row.tests_passed, row.passed, row.code, row.ordinal) == ((failure,), 1, False, None, 4)


def test_a_call_shows_messages_and_answer(store, journal, plan):
    journal.tell(plan.experiments()[0])
    store.ingest()
    with store.open() as con:
        (row,) = calls(con, plan.experiments()[0].id)
        assert text(con, row.messages[0].text) == "Write HumanEval/0"
        assert text(con, row.text).startswith("def f()")
    assert (row.tier, row.input_tokens, row.cache_read_tokens, row.cost_usd) == ("local", 100, None, 0.25)


def test_a_failed_call_costs_nothing_and_says_why(store, journal, plan):
    journal.ask(plan.experiments()[0], 0)
    journal.say(CallFailed("no such model", 0.5, False), plan.experiments()[0].id, 0)
    store.ingest()
    with store.open() as con:
        (row,) = calls(con, plan.experiments()[0].id)
    assert (row.state, row.message, row.cost_usd) == ("failed", "no such model", None)


def test_notes_and_scores_are_told_in_order(store, journal, plan):
    experiment = plan.experiments()[0]
    journal.say(SpecWritten("Add."), experiment.id, 1)
    journal.say(CheckpointReviewed(1, 3, "Use sets."), experiment.id, 2)
    journal.tell(experiment)
    store.ingest()
    with store.open() as con:
        assert [(row.iteration, row.text) for row in notes(con, experiment.id)] == [
            (None, "Add."),
            (3, "Use sets."),
        ]
        (score,) = scores(con, experiment.id)
    assert (score.returned, score.gate.passed, score.held_out) == (True, True, None)


@pytest.mark.parametrize(("name", "rows"), [("experiments", 6), ("iterations", 2), ("calls", 2)])
def test_frames_hold_one_benchmark_with_its_labels(store, journal, plan, write, name, rows):
    other = write(replace(plan, seed=1))
    other.tell(other.plan.experiments()[0])
    for experiment in plan.experiments()[:2]:
        journal.tell(experiment)
    store.ingest()
    with store.open() as con:
        found = frame(con, Writers(store.journals_dir), name, plan.id)
        everything = frame(con, Writers(store.journals_dir), name)
    assert len(found) == rows < len(everything)
    assert set(found["benchmark"]) == {plan.id}
    assert "direct qwen2.5-coder:0.5b" in set(found["label"])


def test_a_frame_of_experiments_names_strategy_and_models(store, journal):
    store.ingest()
    with store.open() as con:
        found = (
            frame(con, Writers(store.journals_dir), "experiments")
            .drop_duplicates("configuration")
            .set_index("strategy")["models"]
        )
    assert found["supervised"] == f"coder: ollama/qwen2.5-coder:0.5b; reviewer: {FRONTIER}"


def test_a_frame_of_iterations_holds_the_programs(store, journal, plan):
    experiment = plan.experiments()[0]
    journal.tell(experiment)
    wrong = Verdict("", (), True, "extraction", "", 0.0, "limited")
    journal.say(CodeTested(2, "hash", None, "none", wrong), experiment.id, 3)
    store.ingest()
    with store.open() as con:
        first, second = frame(con, Writers(store.journals_dir), "iterations")["program"]
    assert first.startswith("def f()")
    assert pd.isna(second)


def test_summaries_tell_the_same_problems_from_others(store, write, plan):
    write(plan), write(replace(plan, seed=1, problems=plan.problems[::-1])), write(replace(plan, problems=("x/0",)))
    store.ingest()
    with store.open() as con:
        found = [row.problem_set for row in summaries(Index(con, Writers(store.journals_dir)))]
    assert sorted(found.count(item) for item in set(found)) == [2, 4]


def test_what_ended_experiments_cost_leaves_out_those_under_way(store, journal, plan):
    first, second, _ = (
        experiment for experiment in plan.experiments() if experiment.configuration == plan.configurations[0].id
    )
    journal.tell(first)
    journal.ask(second, 0)
    journal.answer(second, 0, "x", usd=None)
    row = summary(store)
    assert (row.cost_usd, row.ended_cost_usd) == (None, 0.25)


def frame(con, writers, table, benchmark=None):
    return Tables(con, writers).frame(Part(table, benchmark and [benchmark]))


def test_an_unknown_frame_lists_the_known_ones(store, journal):
    with store.open() as con, pytest.raises(UnknownNameError, match="iterations"):
        frame(con, Writers(store.journals_dir), "iteration; drop table texts")
