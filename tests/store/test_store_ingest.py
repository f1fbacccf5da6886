"""Bringing journals into the store: exactly once, in whatever pieces they are read."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from koderz_core.events import (
    KINDS,
    BenchmarkClosed,
    CallFailed,
    ExperimentFinished,
    ExperimentStarted,
    SpecWritten,
)
from koderz_core.store import refresh
from koderz_core.store.benchmarks import benchmarks
from koderz_core.store.details import calls, text
from koderz_core.store.experiments import experiment as experiment_of
from koderz_core.store.experiments import experiments
from koderz_core.store.index import Index, Writers
from koderz_core.store.ingest import CHANGES
from koderz_core.store.refresh import begin_fold


def test_every_kind_of_event_has_its_rows():
    assert set(CHANGES) == set(KINDS.values())


def test_planned_experiments_are_there_before_they_begin(store, journal, plan):
    assert store.ingest().events == 1
    with store.open() as con:
        found = experiments(Index(con, Writers(store.journals_dir)), plan.id)
    assert {row.id for row in found} == {experiment.id for experiment in plan.experiments()}
    assert {row.state for row in found} == {"planned"}


def test_what_was_read_is_not_read_again(store, journal, plan):
    journal.tell(plan.experiments()[0])
    assert store.ingest().events == 12
    before = store.dump()
    assert store.ingest().events == 0
    assert store.dump() == before


def test_reading_after_every_event_equals_reading_at_once(store, journal, plan, reindexed):
    said = journal.path.read_bytes()
    for number, experiment in enumerate(plan.experiments()):
        journal.tell(experiment, passed=number % 2 == 0)
    lines = journal.path.read_bytes()[len(said) :].splitlines(keepends=True)
    journal.path.write_bytes(said)
    for line in lines[:30]:
        with journal.path.open("ab") as file:
            file.write(line)
        store.ingest()
    assert store.dump() == reindexed()


@pytest.mark.parametrize("name", ["bench_0.jsonl", "zzz.jsonl"])  # before and after the journal
def test_a_copy_of_a_journal_under_another_name_is_a_fault_and_changes_no_row(store, journal, plan, name):
    journal.path.with_name(name).write_bytes(journal.path.read_bytes())
    journal.tell(plan.experiments()[0])
    (fault,) = store.ingest().faults
    assert f"The journal {name} was not read" in fault
    assert f"the same benchmark as {plan.id}.jsonl" in fault
    with store.open() as con:
        assert experiment_of(con, plan.experiments()[0].id).outcome == "solved"


def test_a_journal_that_never_stops_growing_is_read_up_to_where_it_stood(store, journal, plan, monkeypatch):
    def one_more(*rows):
        journal.text(f"at {journal.at}")
        if journal.at > 1_700_000_050:
            pytest.fail("It is read on and on.")
        return begin_fold(*rows)

    store.ingest()
    monkeypatch.setattr(refresh, "begin_fold", one_more)
    journal.text("the last one")
    assert store.ingest().events == 1


def test_a_torn_last_line_is_read_once_it_is_whole(store, journal, plan, reindexed):
    journal.tell(plan.experiments()[0])
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-9])
    assert store.ingest().events == 11
    assert store.ingest().events == 0
    journal.path.write_bytes(whole)
    assert store.ingest().events == 1
    assert store.dump() == reindexed()


def test_an_answer_belongs_to_the_attempt_begun_last(store, journal, plan):
    experiment = plan.experiments()[0]
    journal.ask(experiment, 0, attempt=1)
    journal.say(CallFailed("server is gone", 0.5, True), experiment.id, 0)
    journal.ask(experiment, 0, attempt=2)
    store.ingest()
    journal.ask(experiment, 0, attempt=1)  # the process died; the next one counts from 1 again
    store.ingest()
    journal.answer(experiment, 0, "def f(): ...")
    store.ingest()
    with store.open() as con:
        assert [(row.attempt, row.state) for row in calls(con, experiment.id)] == [
            (1, "finished"),
            (2, "interrupted"),
        ]


def test_a_failed_try_keeps_its_status_and_when_the_next_was_due(store, journal, plan):
    experiment = plan.experiments()[0]
    journal.ask(experiment, 0)
    journal.say(CallFailed("busy", 0.5, True, 429, 7.0, 7.5, arrived=False), experiment.id, 0)
    store.ingest()
    with store.open() as con:
        (call,) = calls(con, experiment.id)
    assert (call.status, call.wait_seconds, call.arrived) == (429, 7.5, False)


def test_a_call_sent_again_forgets_its_failure(store, journal, plan):
    experiment = plan.experiments()[0]
    journal.ask(experiment, 0)
    journal.say(CallFailed("server is gone", 0.5, True), experiment.id, 0)
    journal.ask(experiment, 0)
    store.ingest()
    with store.open() as con:
        (call,) = calls(con, experiment.id)
    assert (call.state, call.message, call.seconds) == ("started", None, None)


def test_a_continued_experiment_keeps_its_old_outcome_until_the_new_one(store, journal, plan):
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    journal.say(ExperimentFinished("error", None, None, None, 1.0, error="disk full"), experiment.id)
    journal.say(ExperimentStarted(experiment), experiment.id)
    store.ingest()
    with store.open() as con:
        again = experiment_of(con, experiment.id)
    assert (again.state, again.outcome, again.error) == ("running", "error", "disk full")
    journal.tell(experiment)
    store.ingest()
    with store.open() as con:
        after = experiment_of(con, experiment.id)
    assert (after.state, after.outcome, after.error) == ("finished", "solved", None)


def test_a_benchmark_is_closed_until_work_begins_again(store, journal, plan):
    journal.say(BenchmarkClosed("stopped"))
    store.ingest()
    with store.open() as con:
        assert benchmarks(Index(con, Writers(store.journals_dir)))[0].closed_reason == "stopped"
    journal.say(ExperimentStarted(plan.experiments()[0]), plan.experiments()[0].id)
    store.ingest()
    with store.open() as con:
        assert benchmarks(Index(con, Writers(store.journals_dir)))[0].closed_reason is None


def test_a_corrupt_journal_is_named_and_does_not_stop_the_others(store, journal, plan, write):
    with journal.path.open("ab") as file:
        file.write(b"{broken\n")
    other = write(replace(plan, seed=1))
    (fault,) = store.ingest().faults
    assert f"Line 2 of the journal {journal.path.name}" in fault
    with store.open() as con:
        assert {row.id for row in benchmarks(Index(con, Writers(store.journals_dir)))} == {plan.id, other.plan.id}


def test_an_answer_without_its_question_is_a_fault_of_the_journal(store, journal, plan):
    journal.answer(plan.experiments()[0], 0, "def f(): ...")
    (fault,) = store.ingest().faults
    assert "no earlier line creates this row" in fault


def test_events_outside_any_experiment_are_a_fault_of_the_journal(store, journal):
    journal.say(SpecWritten("Add the numbers."))
    (fault,) = store.ingest().faults
    assert "notes" in fault


def test_a_number_that_no_table_can_hold_is_a_fault_of_its_journal_alone(store, journal, plan, write):
    other = write(replace(plan, seed=1))
    experiment = plan.experiments()[0]
    journal.tell(experiment)
    absurd = b'"input_tokens":' + str(10**19).encode()
    journal.path.write_bytes(re.sub(rb'"input_tokens":\d+', absurd, journal.path.read_bytes()))
    (fault,) = store.ingest().faults
    assert journal.path.name in fault
    with store.open() as con:
        assert other.plan.id in {row.id for row in benchmarks(Index(con, Writers(store.journals_dir)))}


def test_a_plan_that_grew_keeps_what_was_done(store, journal, plan, write):
    grown = replace(plan, problems=(*plan.problems, "HumanEval/3"), name="study")
    small = write(replace(plan, name="study"))
    small.tell(small.plan.experiments()[0])
    store.ingest()
    write(grown)
    store.ingest()
    with store.open() as con:
        found = experiments(Index(con, Writers(store.journals_dir)), grown.id)
    assert (len(found), [row.outcome for row in found if row.outcome]) == (8, ["solved"])


def test_hostile_text_comes_back_as_it_was(store, journal, plan):
    hostile = "\0'; drop table texts; -- \u202e\x1b[2J <script> 😀" + "x" * 1_000_000
    sha256 = journal.text(hostile)
    store.ingest()
    with store.open() as con:
        assert text(con, sha256) == hostile


def test_rows_that_lines_of_another_journal_made_are_replaced(store, journal, plan, write):
    other = replace(plan, seed=1)
    journal.ask(other.experiments()[0], 0)  # a line that belongs in the journal of the other benchmark
    journal.answer(other.experiments()[0], 0, "def f(): ...", 0.5)
    assert store.ingest().faults == ()
    write(other).tell(other.experiments()[0])
    write(replace(plan, seed=2)).tell(replace(plan, seed=2).experiments()[0])  # all rows of this one are new
    assert store.ingest().faults == ()
    with store.open() as con:
        assert [call.cost_usd for call in calls(con, other.experiments()[0].id)] == [0.25]
        assert experiment_of(con, other.experiments()[0].id).cost_usd == 0.25
