"""When the parts of experiments went on: nothing twice, nothing of what is still under way."""

from __future__ import annotations

from koderz_core.events import CallFailed, CandidateScored, ExperimentFinished, ExperimentStarted
from koderz_core.records import Verdict
from koderz_core.store import trials
from koderz_core.store.index import Index, Writers


def spans(store, journal):
    store.ingest()
    with store.open() as con:
        return trials.spans(Index(con, Writers(store.journals_dir)), journal.plan.id)


def seconds(found, phase):
    return [round(item.seconds, 6) for item in found if item.phase == phase]


def test_an_experiment_is_told_whole_and_in_parts_and_a_gate_verdict_counts_once(store, journal, plan):
    journal.tell(plan.experiments()[0])
    found = spans(store, journal)
    assert seconds(found, None) == [2.0]
    assert (seconds(found, "calls"), seconds(found, "tests"), seconds(found, "scoring")) == ([1.5], [0.1], [0.0])


def test_what_is_scored_only_afterwards_is_scoring(store, journal, plan):
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    held_out = Verdict("P", (), True, None, "", 0.7, "limited")
    journal.say(CandidateScored(journal.text("def f(): pass"), True, None, held_out), experiment.id)
    journal.say(ExperimentFinished("solved", "gate", "held_out", None, 1.0), experiment.id)
    assert seconds(spans(store, journal), "scoring") == [0.7]


def test_between_two_attempts_of_a_call_is_waiting(store, journal, plan):
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    journal.ask(experiment, 0)
    begun = journal.at
    journal.say(CallFailed("busy", 0.5, True, wait_seconds=9.0), experiment.id, 0)
    journal.at += 6.0
    journal.ask(experiment, 0, attempt=2)
    waited = journal.at - begun - 0.5
    journal.answer(experiment, 0, "def f(): pass")
    journal.say(ExperimentFinished("unsolved", "gate", "oracle", None, 12.0), experiment.id)
    found = spans(store, journal)
    assert seconds(found, "waiting") == [waited]
    assert seconds(found, "calls") == [0.5, 1.5]


def test_the_hours_until_a_failed_call_is_resumed_are_no_waiting(store, journal, plan):
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    for attempt, planned in enumerate((4.0, None), 1):  # stopped while it waits; the last retry fails
        journal.ask(experiment, 0, attempt=attempt)
        journal.say(CallFailed("busy", 0.5, True, wait_seconds=planned), experiment.id, 0)
        journal.at += 86_400.0
    journal.ask(experiment, 0, attempt=3)
    journal.answer(experiment, 0, "def f(): pass")
    journal.say(ExperimentFinished("unsolved", "gate", "oracle", None, 12.0), experiment.id)
    assert seconds(spans(store, journal), "waiting") == [4.0]


def test_an_experiment_that_is_still_under_way_is_left_out(store, journal, plan):
    experiment = plan.experiments()[0]
    journal.say(ExperimentStarted(experiment), experiment.id)
    journal.ask(experiment, 0)
    journal.answer(experiment, 0, "def f(): pass")
    assert spans(store, journal) == []
