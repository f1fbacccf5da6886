"""What is asked for every second: read again only where a journal says more, and the same as if it were all read."""

from __future__ import annotations

from dataclasses import replace

import pytest
from doings import ENERGY

from koderz_core.analysis.timing import seconds_left
from koderz_core.events import AllowanceSet, ExperimentFinished, ExperimentStarted
from koderz_core.records import Allowance
from koderz_core.store.results import Results
from koderz_core.store.store import Store


@pytest.fixture
def results(store) -> Results:
    return Results(store, seconds_left)


def test_followed_experiments_are_those_that_reading_all_gives(results, store, journal, plan):
    for number, experiment in enumerate(plan.experiments()):
        results.progress(plan.id)
        journal.say(ExperimentStarted(experiment), experiment.id)
        assert results.progress(plan.id).experiments == Results(store, seconds_left).progress(plan.id).experiments
        journal.tell(experiment, passed=number % 2 == 0)
    assert results.progress(plan.id).experiments == Results(store, seconds_left).progress(plan.id).experiments
    assert [row.problem for row in results.progress(plan.id).experiments][::2] == list(plan.problems)


def test_a_followed_benchmark_that_grew_has_its_new_experiments_in_their_place(results, plan, write):
    small = write(replace(plan, name="study", problems=plan.problems[:1]))
    small.tell(small.plan.experiments()[0])
    assert len(results.progress(small.plan.id).experiments) == 2
    write(replace(plan, name="study"))
    assert [row.problem for row in results.progress(small.plan.id).experiments][::2] == list(plan.problems)


def test_a_followed_experiment_has_the_cost_of_its_call_that_a_crash_ended_once_another_process_goes_on(
    results, store, journal, plan
):
    journal = type(journal)(journal.path.parent, plan, ENERGY)  # a second header, with rates
    interrupted, other, *_ = plan.experiments()
    journal.say(ExperimentStarted(interrupted), interrupted.id)
    journal.ask(interrupted, 0, reserved_usd=1.0)
    journal.tell(other)
    before = {row.id: row.cost_usd for row in results.progress(plan.id).experiments}
    journal.say(AllowanceSet(Allowance(None, 1), 7))
    found = results.progress(plan.id).experiments
    assert found == Results(store, seconds_left).progress(plan.id).experiments
    assert {row.id for row in found if row.cost_usd != before[row.id]} == {interrupted.id}


def test_followed_experiments_are_read_again_after_the_index_was_rebuilt(results, store, journal, plan):
    lost, *others = plan.experiments()
    header = journal.path.read_bytes()
    journal.tell(lost)
    results.progress(plan.id)
    journal.path.write_bytes(header)  # as after a repair
    for experiment in others:
        journal.tell(experiment)
    found = results.progress(plan.id).experiments
    assert [row.id for row in found if row.state == "planned"] == [lost.id]
    assert found == Results(store, seconds_left).progress(plan.id).experiments


def test_benchmarks_are_counted_again_only_when_a_journal_says_more(results, journal, plan, monkeypatch):
    before = results.benchmarks()
    with monkeypatch.context() as patch:
        patch.setattr(Store, "latest", lambda _store: pytest.fail("The store was asked."))
        assert results.benchmarks() == before
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    journal.say(ExperimentFinished("solved", "gate", "oracle", None, 1.0), experiment.id)
    assert [row.solved for row in results.benchmarks()] == [1]


def test_a_store_that_was_taken_away_is_built_again_though_no_journal_says_more(results, store, journal, plan):
    before = results.benchmarks()
    store.path.unlink()
    assert results.benchmarks() == before
    assert store.path.is_file()


def test_an_experiment_is_read_again_only_when_a_journal_says_more(results, journal, plan, monkeypatch):
    experiment = plan.experiments()[0]
    before = results.experiment(experiment.id)
    with monkeypatch.context() as patch:
        patch.setattr(Store, "latest", lambda _store: pytest.fail("The store was asked."))
        assert results.experiment(experiment.id) == before
    journal.tell(experiment, passed=True)
    assert results.experiment(experiment.id).experiment.outcome == "solved"


def test_what_is_watched_is_what_asking_for_it_gives_read_at_once_and_only_when_a_journal_says_more(
    store, journal, plan, write, monkeypatch
):
    clock = iter(range(1_700_000_000, 1_800_000_000))
    results = Results(store, seconds_left, lambda: float(next(clock)))
    other = write(replace(plan, name="later")).plan
    journal.tell(plan.experiments()[0])
    rows, soon = results.benchmarks(), float(2**40)  # later than any answer: none that somebody else got will do
    assert [results.snapshot(item, soon).progress.benchmark.id for item in (plan.id, other.id, "")] == [
        plan.id,
        other.id,
        rows[0].id,
    ]
    with monkeypatch.context() as patch:
        patch.setattr(Store, "latest", lambda _store: pytest.fail("The store was asked."))
        seen = results.snapshot(plan.id, soon).progress
    assert replace(seen, at=0) == replace(results.progress(plan.id), at=0)
    journal.tell(plan.experiments()[1])
    assert results.snapshot(plan.id, soon).progress.benchmark.finished == 2
    assert results.snapshot("bench_0", soon).progress is None
