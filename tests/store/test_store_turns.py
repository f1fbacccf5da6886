"""Debates and consensuses: each turn is a step with its own call, and every candidate is told with its score."""

from __future__ import annotations

from koderz_core.events import CallStarted, CodeTested, ConsensusReached, Considered, TurnSpoken
from koderz_core.records import Sampling, Verdict
from koderz_core.report.dump import files_of
from koderz_core.report.formats import note_title
from koderz_core.store.results import Results

PASSED = Verdict("PP", (), True, None, "", 0.1, "none")
CONSENSUS = ConsensusReached(
    chosen=2,
    by="codebleu",
    candidates=(
        Considered(0, None, 0, 0, None, "no program"),
        Considered(1, 1, 2, 2, 0.75),
        Considered(1, 2, 2, 2, 0.5),
    ),
    weights=(0.5, 0.5, 0, 0),
)


def details_of(store, plan):
    store.ingest()
    return Results(store, lambda *_: None).experiment(plan.experiments()[0].id)


def call(role, ordinal):
    return CallStarted(role, 0, "ollama/it", f"hash {ordinal}", (), Sampling(), 1, 1)


def test_those_who_spoke_at_the_same_time_have_a_step_each_with_their_own_call(store, journal, plan):
    experiment = plan.experiments()[0].id
    for ordinal in (1, 2):
        journal.say(call("speaker", ordinal), experiment, ordinal)
    for ordinal, speaker in enumerate(("architect", "sql_sage"), 3):
        journal.say(TurnSpoken(speaker, 1, f"{speaker} speaks"), experiment, ordinal)
    journal.say(call("speaker", 5), experiment, 5)
    steps = details_of(store, plan).steps
    assert [(step.kind, step.number, [call.ordinal for call in step.calls]) for step in steps] == [
        ("turn", 1, [1]),
        ("turn", 2, [2]),
        ("turn", 3, [5]),
    ]
    assert [(step.note.speaker, step.note.round) for step in steps if step.note] == [("architect", 1), ("sql_sage", 1)]


def test_a_turn_and_a_consensus_are_worded_and_have_files_of_their_own(store, journal, plan):
    experiment = plan.experiments()[0].id
    journal.say(TurnSpoken("judge", 2, "Use a set."), experiment, 1)
    journal.say(CodeTested(1, "hash", None, "none", PASSED), experiment, 2)
    journal.say(CONSENSUS, experiment, 3)
    details = details_of(store, plan)
    assert [note_title(note, details.notes) for note in details.notes] == [
        "round 2 of the debate: judge",
        "consensus: programs compared by gate tests, then by CodeBLEU",
    ]
    files = {item.name.partition(f"{experiment}_")[2]: item.content.decode() for item in files_of(details, {})}
    assert (files["turn01.txt"], files["consensus01.txt"]) == ("Use a set.", details.notes[1].text)


def test_every_candidate_is_told_with_what_spoke_for_it(store, journal, plan):
    journal.say(CONSENSUS, plan.experiments()[0].id, 1)
    (note,) = details_of(store, plan).notes
    assert note.text.split("\n") == [
        "candidate 1 of coder 1: no program",
        "candidate 2 of coder 2 (submitted): iteration 1 passed 2 of 2 tests, similarity 0.750",
        "candidate 3 of coder 2: iteration 2 passed 2 of 2 tests, similarity 0.500",
        "Weights of CodeBLEU: n-grams 0.5, weighted n-grams 0.5, syntax 0, data flow 0.",
    ]
