"""How far benchmarks are, who writes them, and what is new in them."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from koderz_core import open_workspace
from koderz_core.analysis.timing import seconds_left
from koderz_core.errors import UnknownNameError, UsageError
from koderz_core.events import (
    BenchmarkClosed,
    CallFailed,
    CodeTested,
    ControlObeyed,
    Entry,
    ExperimentFinished,
    ExperimentStarted,
    ForecastMade,
)
from koderz_core.journal import Journal
from koderz_core.records import Verdict
from koderz_core.records.plans import scripted
from koderz_core.records.progress import Forecast, Range
from koderz_core.store.benchmarks import NEWEST
from koderz_core.store.results import Results


@pytest.fixture
def results(store) -> Results:
    return Results(store, seconds_left, clock=lambda: 1_700_000_100.0)


@contextmanager
def written(path) -> Iterator[Journal]:
    journal = Journal(path)
    try:
        yield journal
    finally:
        journal.close()


@pytest.mark.parametrize(("reason", "state"), [("finished", "finished"), ("stopped", "stopped"), (None, "interrupted")])
def test_a_benchmark_that_nobody_writes_is_what_it_was_closed_as(results, journal, reason, state):
    if reason:
        journal.say(BenchmarkClosed(reason))
    (row,) = results.benchmarks()
    assert (row.state, row.holder) == (state, None)


@pytest.mark.parametrize("reason", ["finished", "stopped"])
def test_a_benchmark_whose_journal_is_being_written_is_under_way_whatever_it_says(results, journal, reason):
    journal.say(BenchmarkClosed(reason))
    with written(journal.path):
        row = results.benchmark(journal.plan.id)
        assert (row.state, row.holder) == ("queued", os.getpid())
    assert results.benchmark(journal.plan.id).state == reason


def test_a_benchmark_that_ends_while_it_is_asked_for_never_looks_interrupted(results, journal):
    """Its writer closes it and lets go just after the journals were read."""
    at_work = Journal(journal.path)
    latest = results.store.latest

    @contextmanager
    def ending() -> Iterator[object]:
        with latest() as read:
            at_work.append(Entry(journal.at, BenchmarkClosed("finished")))
            at_work.close()
            yield read

    results.store.latest = ending
    assert results.benchmarks()[0].state == "queued"


def test_a_benchmark_that_begins_while_it_is_asked_for_never_looks_interrupted(results, journal):
    latest = results.store.latest

    @contextmanager
    def beginning() -> Iterator[object]:
        with written(journal.path), latest() as read:
            yield read

    results.store.latest = beginning
    assert results.benchmarks()[0].state == "queued"


def test_a_benchmark_adds_up_its_experiments(results, journal, plan):
    first, second, third, fourth, fifth, _ = plan.experiments()
    journal.tell(first)
    journal.tell(second, passed=False)
    for experiment, outcome in ((third, "cancelled"), (fourth, "error")):
        journal.say(ExperimentFinished(outcome, None, None, None, 1.0), experiment.id)
    journal.say(ExperimentStarted(fifth), fifth.id)
    with written(journal.path):
        row = results.benchmark(plan.id)
    assert (row.solved, row.unsolved, row.cancelled, row.errors, row.running, row.finished) == (1, 1, 1, 1, 1, 4)
    assert (row.iterations, row.calls, row.cost_usd, row.unpriced, row.seconds) == (2, 2, 0.5, 0, 6.0)


@pytest.fixture
def resumed(journal, plan):
    """All six ended with an error, and the first was begun again."""
    for experiment in plan.experiments():
        journal.say(ExperimentStarted(experiment), experiment.id)
        journal.say(ExperimentFinished("error", None, None, None, 1.0, error="disk full"), experiment.id)
    again = plan.experiments()[0]
    journal.say(ExperimentStarted(again), again.id)
    return again


def test_what_runs_again_after_an_error_has_not_ended(results, journal, resumed):
    with written(journal.path):
        told = results.progress(journal.plan.id)
        summary, _ = results.summaries(journal.plan.id)
    assert (told.benchmark.finished, told.benchmark.running, told.benchmark.errors) == (5, 1, 5)
    assert (summary.running, summary.errors, summary.seconds) == (1, 2, 2.0)
    assert told.seconds_left is None


def test_what_was_begun_again_and_left_is_interrupted_and_nowhere_called_running(results, journal, resumed):
    frame = results.frame("experiments").set_index("id")["state"]
    assert (frame[resumed.id], results.experiment(resumed.id).experiment.state) == ("interrupted", "interrupted")
    assert set(frame) == {"interrupted", "finished"}
    assert [row.running for row in (results.benchmark(journal.plan.id), *results.summaries())] == [0, 0, 0]
    with written(journal.path):
        assert "running" in set(results.frame("experiments")["state"])


def test_summaries_of_several_benchmarks_are_in_the_order_asked_for(results, write, plan):
    first, second, _ = (write(replace(plan, seed=seed)).plan.id for seed in (1, 2, 3))
    assert [row.benchmark for row in results.summaries([first, second])] == [first, first, second, second]
    assert [row.benchmark for row in results.summaries([second, first])] == [second, second, first, first]
    assert results.summaries([]) == []


def test_a_lock_without_a_journal_disturbs_no_question(results, journal):
    journal.path.with_name("stray.lock").mkdir()
    assert [row.id for row in results.benchmarks()] == [journal.plan.id]
    assert results.faults == ()


def test_a_lock_that_cannot_be_asked_is_a_fault_of_its_journal_alone(results, journal, write, plan):
    other = write(replace(plan, seed=1)).path
    journal.path.with_suffix(".lock").mkdir()
    with written(other):
        states = {row.id: row.state for row in results.benchmarks()}
    assert states == {journal.plan.id: "interrupted", other.stem: "queued"}
    (fault,) = results.faults
    assert f"koderz cannot determine which process writes the journal {journal.path.name}" in fault


def test_a_benchmark_with_a_call_of_unknown_price_has_no_cost(results, journal, plan):
    journal.tell(plan.experiments()[0], usd=None)
    row = results.benchmark(plan.id)
    assert (row.cost_usd, row.unpriced) == (None, 1)


def test_an_estimate_knows_the_cost_of_all_priced_calls_also_beside_a_call_of_unknown_price(journal, plan, tmp_path):
    mixed, known = plan.experiments()[:2]
    journal.tell(mixed, usd=None)
    journal.ask(mixed, 2)
    journal.answer(mixed, 2, "Think again.", 2.0)
    journal.tell(known)
    with open_workspace(home=tmp_path) as workspace:
        assert workspace.costs.forecast(plan).spent_usd == 2.25


def test_a_benchmark_names_its_models_and_says_whether_one_is_scripted(results, write, plan):
    direct = replace(plan.configurations[0], models={"coder": ("scripted/weak", "ollama/b")})
    mock = write(replace(plan, configurations=(direct,))).plan
    real = write(plan).plan
    rows = {row.id: row for row in results.benchmarks()}
    assert (rows[mock.id].models, rows[mock.id].scripted) == (("ollama/b", "scripted/weak"), True)
    assert (rows[real.id].models, rows[real.id].scripted) == (real.models(), False)


def test_a_benchmark_says_how_many_of_its_results_and_failures_are_of_scripted_models(results, write, plan):
    models = ({"coder": ("ollama/b",)}, {"coder": ("ollama/b",), "reviewer": ("scripted/weak",)})
    journal = write(
        replace(plan, configurations=tuple(replace(plan.configurations[0], models=model) for model in models))
    )
    failed, *others = journal.plan.experiments()[::-1]
    for experiment in others:
        journal.tell(experiment)
    journal.say(ExperimentStarted(failed), failed.id)
    journal.say(ExperimentFinished("error", None, None, None, 1.0, error="down"), failed.id)
    (row,) = results.benchmarks()
    half = len(journal.plan.experiments()) // 2
    assert (row.solved, row.errors, row.scripted_results, row.scripted_failures) == (2 * half - 1, 1, half - 1, 1)


@pytest.mark.parametrize(
    "models", [{"a": ["scripted/x"]}, {"a": ["x/scripted/y"]}, {"a": [], "b": ["o/m", "scripted/"]}]
)
def test_the_store_and_the_records_agree_on_which_models_are_scripted(store, models):
    with store.open() as con:
        (found,) = con.execute("select is_scripted(?::json)", [json.dumps(models)]).fetchone()
    assert found == scripted(name for names in models.values() for name in names)


def test_an_unknown_benchmark_is_told_with_what_there_is(results, journal):
    for ask in (results.benchmark, results.progress):
        with pytest.raises(UnknownNameError, match=journal.plan.id):
            ask("bench_0")


def test_progress_shows_every_experiment_in_natural_order(results, write, plan):
    problems = tuple(f"HumanEval/{number}" for number in (10, 9, 2))
    plan = write(replace(plan, problems=problems, repeats=2)).plan
    rows = results.progress(plan.id).experiments
    assert [row.problem for row in rows[::4]] == ["HumanEval/2", "HumanEval/9", "HumanEval/10"]
    assert [(row.label.split()[0], row.repeat) for row in rows[:4]] == [
        ("direct", 0),
        ("direct", 1),
        ("supervised", 0),
        ("supervised", 1),
    ]


def test_progress_shows_what_a_running_experiment_has_cost_so_far(results, journal, plan):
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    journal.ask(experiment, 0)
    journal.answer(experiment, 0, "def f(): pass")
    wrong = Verdict("F", (), True, "assertion", "", 0.1, "limited")
    journal.say(CodeTested(1, "hash", None, "none", wrong), experiment.id, 1)
    with written(journal.path):
        row = next(row for row in results.progress(plan.id).experiments if row.id == experiment.id)
    assert (row.state, row.iterations, row.calls, row.cost_usd, row.outcome) == ("running", 1, 1, 0.25, None)


def test_an_experiment_that_nobody_is_at_any_more_is_interrupted(results, journal, plan):
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    states = {
        next(row.state for row in results.progress(plan.id).experiments if row.id == experiment.id),
        results.experiment(experiment.id).experiment.state,
        results.experiments(plan.id)[0].state,
    }
    assert states == {"interrupted"}


def test_progress_shows_the_newest_iterations_first_with_messages_cut(results, journal, plan):
    experiment = plan.experiments()[0]
    wrong = Verdict("PF", (), True, "assertion", "x" * 1000, 0.1, "limited")
    for number in range(1, 21):
        journal.say(CodeTested(number, "hash", None, "fence", wrong), experiment.id, number)
    newest = results.progress(plan.id).newest
    assert [item.iteration for item in newest] == list(range(20, 5, -1))
    assert (len(newest[0].message), newest[0].problem, newest[0].tests_passed) == (200, "HumanEval/0", 1)


@pytest.mark.parametrize("begun", [NEWEST - 1, NEWEST, NEWEST + 1, 2 * NEWEST])
def test_the_newest_iterations_are_of_all_experiments_however_they_alternate(results, write, plan, begun):
    journal, wrong = write(replace(plan, repeats=5)), Verdict("PF", (), True, "assertion", "", 0.1, "limited")
    experiments, rng, said = journal.plan.experiments()[:begun], random.Random(begun), []
    for number in range(1, 4):
        for experiment in rng.sample(experiments, begun):
            journal.say(CodeTested(number, "hash", None, "fence", wrong), experiment.id, number)
            said.append((experiment.id, number))
    newest = results.progress(journal.plan.id).newest
    assert [(item.experiment, item.iteration) for item in newest] == said[: -NEWEST - 1 : -1]


def test_progress_tells_the_time_left_only_while_somebody_is_at_work(results, journal, plan):
    journal.tell(plan.experiments()[0])
    assert results.progress(plan.id).seconds_left is None
    with written(journal.path):
        assert results.progress(plan.id).seconds_left == 5 * 2.0


def test_answers_follow_a_journal_that_grows_meanwhile(results, journal, plan):
    seen = []
    for experiment in plan.experiments():
        journal.tell(experiment)
        progress = results.progress(plan.id)
        seen.append((progress.benchmark.finished, sum(row.outcome == "solved" for row in progress.experiments)))
    assert seen == [(number, number) for number in range(1, 7)]


def test_neighbours_are_those_in_the_order_of_progress(results, journal, plan):
    ids = [row.id for row in results.progress(plan.id).experiments]
    first, middle, last = (results.neighbours(ids[place]) for place in (0, 2, -1))
    assert (first.previous, first.next) == (None, ids[1])
    assert (middle.previous, middle.next) == (ids[1], ids[3])
    assert (last.previous, last.next) == (ids[-2], None)


def test_an_unknown_experiment_has_no_neighbours(results, journal):
    with pytest.raises(UnknownNameError, match="exp_0"):
        results.neighbours("exp_0")


def test_what_is_known_of_a_models_trouble_does_not_depend_on_how_often_the_journal_was_read(store, journal, plan):
    first, second, *_ = plan.experiments()
    results = Results(store, seconds_left, clock=lambda: journal.at)
    for experiment in (first, second):
        journal.ask(experiment, 0)
        journal.say(CallFailed("down", 0.5, True, 503, None, 1.5, retries=7, closed_seconds=15.0), experiment.id, 0)
        (seen,) = results.progress(journal.plan.id).troubles
    assert (seen.failures, seen.waiting, seen.closed_until) == (2, 2, journal.at + 15.0)
    results.reindex()
    assert results.progress(journal.plan.id).troubles == (seen,)


def test_an_id_means_what_has_it_even_if_another_benchmark_bears_it_as_a_name(results, journal, write, plan):
    for id_ in (plan.id, plan.experiments()[0].id):
        assert write(replace(plan, name=id_)).plan.id != plan.id
        assert results.find(id_) == id_


def test_a_benchmark_is_found_by_its_name_before_anything_by_the_beginning_of_its_id(results, journal, write, plan):
    named = write(replace(plan, name="0"))
    assert results.find("0") == named.plan.id
    write(replace(plan, name="0", seed=1))
    with pytest.raises(UsageError, match="name of several benchmarks"):
        results.find("0")


@pytest.mark.parametrize("rested", [False, True])
def test_a_receipt_counts_what_was_paid_since_the_forecast_and_no_time_that_was_not_worked(
    results, journal, plan, rested
):
    first, *others = plan.experiments()
    journal.tell(first, usd=5.0)
    forecast, made_at = Forecast(len(others), Range(5, 5), Range(1.0, 2.0), Range(9.0, 9.5), 3, (), ()), journal.at + 1
    journal.say(ForecastMade(forecast))
    journal.at -= 10  # the clock is set back
    for experiment in others:
        journal.tell(experiment, usd=0.5)
        if rested and experiment is others[0]:
            journal.say(ControlObeyed("resume", None, 1))
    finished_at = journal.at
    assert results.receipt(plan.id) is None
    journal.say(BenchmarkClosed("finished"))
    receipt = results.receipt(plan.id)
    assert (receipt.forecast, receipt.cost_usd) == (forecast, 0.5 * len(others))
    assert receipt.seconds == (None if rested else finished_at - made_at)


def test_well_formed_replies_and_first_programs_that_solve_are_counted(results, journal, plan):
    first, second, *_ = (it for it in plan.experiments() if it.configuration == plan.configurations[0].id)
    wrong = Verdict("PF", (), True, "assertion", "", 0.1, "limited")
    journal.tell(first)
    journal.say(ExperimentStarted(second), second.id)
    journal.say(CodeTested(1, "r", None, "none", wrong), second.id, 1)
    journal.say(CodeTested(2, "r", journal.text("a"), "joined", wrong), second.id, 2)
    journal.say(CodeTested(3, "r", journal.text("b"), "fence-last", wrong), second.id, 3)
    journal.say(ExperimentFinished("solved", "gate", "oracle", journal.text("b"), 2.0), second.id)
    summary, other = results.summaries(journal.plan.id)
    assert (summary.replies, summary.well_formed, summary.solved, summary.solved_first) == (4, 2, 2, 1)
    assert (other.replies, other.well_formed, other.solved_first) == (0, 0, 0)
    assert (summary.share_first, other.share_first) == (0.5, None)
